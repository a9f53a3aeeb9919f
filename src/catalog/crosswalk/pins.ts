import { and, eq, sql } from 'drizzle-orm';
import { frameworkVersions, mappingFacts } from '../../db/control-tables.ts';
import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';
import { cciRevisions, versionKey, withoutEndingZeros } from '../controls/frameworks.ts';
import { createMappingDecisions } from './decisions.ts';
import { createFacts, createStatedBetween, isEnd, isStatedFor, type Stated } from './facts.ts';
import { type Graph, type GraphNode, type MappingStatus, nameOf, nameOfEdge, statuses } from './graph.ts';

/** A first edge that a version pin admits; `id` is missing where the neighbor is no node of the unpinned graph. */
export interface FirstStep {
  node: GraphNode;
  id: number | undefined;
  status: MappingStatus;
}

/** Reads controls, stated pairs and decisions: one by one, or from rows that were read together. */
interface LookUps {
  control(node: GraphNode): { status: 'active' | 'withdrawn' } | undefined;
  stated(control: GraphNode): Stated[];
  evidence(one: GraphNode, other: GraphNode): Stated[];
  decision(one: GraphNode, other: GraphNode): { status: MappingStatus } | null;
}

export type Pins = ReturnType<typeof createPins>;

/** Finds the first edges of a pinned source in the stated pairs (rule D7.4). */
export function createPins(db: Database) {
  const facts = createFacts(db);
  const statedBetween = createStatedBetween(db);
  const decisions = createMappingDecisions(db);
  const versions = createVersionLabels(db);

  return {
    isKnown: versions.isKnown,

    /** The first edges of a control. None for an unknown control or version. */
    firstSteps(graph: Graph, framework: string, identifier: string, label: string): FirstStep[] {
      const control = { framework, identifier };
      if (!versions.isKnown(framework, label) || !facts.control(control)) return [];
      return firstSteps(graph, versions, control, label, { ...facts, decision: decisions.of });
    },

    /** The same for every control of an imported version, with the edges to one other framework: a few queries in all. */
    firstStepsTo(graph: Graph, framework: string, to: string, label: string) {
      const decided = new Map(
        decisions.all().map(({ ends: [a, b], ...each }) => [nameOfEdge({ a, b }), each]),
      );
      const look: LookUps = {
        ...statedBetween(framework, versions.sameAs(framework, label), to),
        decision: (a, b) => decided.get(nameOfEdge({ a, b })) ?? null,
      };
      return (identifier: string) => firstSteps(graph, versions, { framework, identifier }, label, look);
    },
  };
}

/** The first edges of a control that a pin admits. */
function firstSteps(
  graph: Graph,
  versions: VersionLabels,
  control: GraphNode,
  label: string,
  look: LookUps,
): FirstStep[] {
  const { framework, identifier } = control;
  const source = graph.idOf(framework, identifier);
  const neighbors = source === undefined ? [] : graph.neighbors[source]!;
  const steps = new Map<string, FirstStep>();
  for (const { node, status } of neighbors) {
    const neighbor = graph.nodes[node]!;
    if (look.evidence(control, neighbor).some((pair) => isStatedFor(pair, control, label)))
      steps.set(nameOf(neighbor), { node: neighbor, id: node, status: statuses[status]! });
  }
  if (versions.isNewest(framework, label)) return [...steps.values()];
  // An older pin also admits what that revision states and the unpinned graph lacks, as `auto`.
  for (const pair of look.stated(control)) {
    if (!isStatedFor(pair, control, label)) continue;
    const { version: _, ...node } = isEnd(pair.from, control) ? pair.to : pair.from;
    if (steps.has(nameOf(node)) || !isUsable(pair) || !look.control(node)) continue;
    const id = graph.idOf(node.framework, node.identifier);
    const edge = neighbors.find((each) => each.node === id);
    const decided = edge ? null : look.decision(control, node);
    const status = edge ? statuses[edge.status]! : (decided?.status ?? 'auto');
    steps.set(nameOf(node), { node, id, status });
  }
  return [...steps.values()];

  /** An older list of CCIs counts only under a pin of its own; 800-53 Rev 3, and what comes after Rev 5, never. */
  function isUsable({ from, to }: Stated): boolean {
    if (from.framework !== 'cci') return true;
    const revision = Number(versionKey(to.framework, to.version));
    if (to.framework === 'nist-800-53' && revision > cciRevisions.verified) return false;
    const isCounted =
      framework === 'cci' ? revision >= cciRevisions.carriedOver : from.version === versions.newestCciList();
    return isCounted && look.control(from)?.status !== 'withdrawn';
  }
}

type VersionLabels = ReturnType<typeof createVersionLabels>;

/** The labels of versions in catalogs and mappings. */
function createVersionLabels(db: Database) {
  const { orm } = db;
  const { framework, version, isNewest } = frameworkVersions;
  const wanted = sql.placeholder('framework');
  const { fromFramework, fromVersion, toFramework, toVersion } = mappingFacts;
  const everyVersion = orm
    .select({ version })
    .from(frameworkVersions)
    .where(eq(framework, wanted))
    .union(orm.select({ version: fromVersion }).from(mappingFacts).where(eq(fromFramework, wanted)))
    .union(orm.select({ version: toVersion }).from(mappingFacts).where(eq(toFramework, wanted)))
    .prepare();
  const newest = orm
    .select({ version })
    .from(frameworkVersions)
    .where(and(eq(framework, wanted), eq(isNewest, 1)))
    .prepare();
  const newestVersion = (framework: string) => newest.get({ framework })?.version;
  const lists = perGeneration(db, () => new Map<string, string[]>());

  function versionsOf(framework: string): string[] {
    const read = () => everyVersion.all({ framework }).map((row) => row.version);
    const list = lists().get(framework) ?? read().filter((each) => each !== '');
    // Cache only frameworks that exist: a caller could name any number of others.
    if (list.length > 0) lists().set(framework, list);
    return list;
  }

  /** The versions of a framework that a label can mean. */
  function sameAs(framework: string, label: string): string[] {
    const key = versionKey(framework, label);
    return versionsOf(framework).filter((each) => versionKey(framework, each) === key);
  }

  return {
    sameAs,
    newestCciList: perGeneration(db, () => newestVersion('cci')),

    /** Whether a label names a version of the framework that some source has. */
    isKnown: (framework: string, label: string): boolean =>
      versionsOf(framework).some((each) => numbers(each) === numbers(label)) ||
      (!/\d\.\d/.test(label) && sameAs(framework, label).length > 0),

    isNewest: (framework: string, label: string): boolean =>
      framework === 'nist-800-171' ||
      versionKey(framework, newestVersion(framework) ?? '') === versionKey(framework, label),
  };
}

function numbers(label: string): string {
  return withoutEndingZeros((label.match(/\d+/g) ?? [label.trim().toLowerCase()]).join('.'));
}
