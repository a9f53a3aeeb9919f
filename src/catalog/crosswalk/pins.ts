import { and, eq, sql } from 'drizzle-orm';
import { frameworkVersions, mappingFacts } from '../../db/control-tables.ts';
import type { Database } from '../../db/database.ts';
import { cciRevisions, versionKey, withoutEndingZeros } from '../controls/frameworks.ts';
import { createMappingDecisions } from './decisions.ts';
import { createFacts, isEnd, isStatedFor, type Stated } from './facts.ts';
import { type Graph, type GraphNode, type MappingStatus, nameOf, nameOfEdge, statuses } from './graph.ts';

/** A first edge that a version pin admits; `id` is missing where the neighbor is no node of the unpinned graph. */
export interface FirstStep {
  node: GraphNode;
  id: number | undefined;
  status: MappingStatus;
}

/** What is known of one control and of a pair, or of many read together. */
interface LookUps {
  control(node: GraphNode): { status: 'active' | 'withdrawn' } | undefined;
  stated(control: GraphNode): Stated[];
  evidence(one: GraphNode, other: GraphNode): Stated[];
  decision(one: GraphNode, other: GraphNode): { status: MappingStatus } | null;
}

/** Finds the first edges of a pinned source in the stated pairs (rule D7.4). */
export function createPins(db: Database) {
  const { orm } = db;
  const { framework, version, isNewest } = frameworkVersions;
  const wanted = sql.placeholder('framework');
  const { fromFramework, fromVersion, toFramework, toVersion } = mappingFacts;
  const versions = orm
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
  const facts = createFacts(db);
  const decisions = createMappingDecisions(db);
  let cached: {
    generation: number;
    versions: Map<string, string[]>;
    newestCciList: string | undefined;
  } | null = null;

  /** What the sources know of versions, read once for each generation of the catalog. */
  function known(): NonNullable<typeof cached> {
    const generation = db.generation();
    if (cached?.generation !== generation) {
      cached = { generation, versions: new Map(), newestCciList: newestVersion('cci') };
    }
    return cached;
  }

  function versionsOf(framework: string): string[] {
    const { versions: lists } = known();
    const imported = () => versions.all({ framework }).map((row) => row.version);
    const list = lists.get(framework) ?? imported().filter((each) => each !== '');
    // Only frameworks that exist are remembered: a caller could name any number of others.
    if (list.length > 0) lists.set(framework, list);
    return list;
  }

  /** Whether a label names a version of the framework that some source knows. */
  function isKnown(framework: string, label: string): boolean {
    const labels = versionsOf(framework);
    const exact = labels.some((each) => numbers(each) === numbers(label));
    return (
      exact ||
      (!/\d\.\d/.test(label) &&
        labels.some((each) => versionKey(framework, each) === versionKey(framework, label)))
    );
  }

  /** The first edges of a control that a pin admits, by what is known of it. */
  function stepsOf(graph: Graph, control: GraphNode, label: string, look: LookUps): FirstStep[] {
    const { framework, identifier } = control;
    const source = graph.idOf(framework, identifier);
    const steps = new Map<string, FirstStep>();
    for (const { node, status } of source === undefined ? [] : graph.neighbors[source]!) {
      const neighbor = graph.nodes[node]!;
      if (look.evidence(control, neighbor).some((pair) => isStatedFor(pair, control, label)))
        steps.set(nameOf(neighbor), { node: neighbor, id: node, status: statuses[status]! });
    }
    if (isNewestVersion(framework, label)) return [...steps.values()];
    // An older pin also admits what that revision states and the unpinned graph lacks, as `auto`.
    for (const pair of look.stated(control)) {
      if (!isStatedFor(pair, control, label)) continue;
      const { version: _, ...node } = isEnd(pair.from, control) ? pair.to : pair.from;
      if (steps.has(nameOf(node)) || !isUsable(pair, framework, look) || !look.control(node)) continue;
      const id = graph.idOf(node.framework, node.identifier);
      const edge =
        source === undefined ? undefined : graph.neighbors[source]!.find((each) => each.node === id);
      const decided = edge ? null : look.decision(control, node);
      const status = edge ? statuses[edge.status]! : (decided?.status ?? 'auto');
      steps.set(nameOf(node), { node, id, status });
    }
    return [...steps.values()];
  }

  return {
    isKnown,

    firstSteps(graph: Graph, framework: string, identifier: string, label: string): FirstStep[] {
      const control = { framework, identifier };
      if (!isKnown(framework, label) || !facts.control(control)) return [];
      return stepsOf(graph, control, label, { ...facts, decision: decisions.of });
    },

    /** The same for any control of an imported version, as far as it leads to one other framework: by a few queries in all. */
    firstStepsTo(graph: Graph, framework: string, to: string, label: string) {
      const key = versionKey(framework, label);
      const labels = versionsOf(framework).filter((each) => versionKey(framework, each) === key);
      const decided = new Map(
        decisions.all().map(({ ends: [a, b], ...each }) => [nameOfEdge({ a, b }), each]),
      );
      const look: LookUps = {
        ...facts.statedBetween(framework, labels, to),
        decision: (a, b) => decided.get(nameOfEdge({ a, b })) ?? null,
      };
      return (identifier: string) => stepsOf(graph, { framework, identifier }, label, look);
    },
  };

  function isNewestVersion(framework: string, label: string): boolean {
    const newest = newestVersion(framework) ?? '';
    return framework === 'nist-800-171' || versionKey(framework, newest) === versionKey(framework, label);
  }

  /** A list of CCIs that is not the newest speaks only under a pin of its own; Rev 3, and what comes after Rev 5, never. */
  function isUsable({ from, to }: Stated, framework: string, look: LookUps): boolean {
    if (from.framework !== 'cci') return true;
    const revision = Number(versionKey(to.framework, to.version));
    if (to.framework === 'nist-800-53' && revision > cciRevisions.verified) return false;
    const speaks =
      framework === 'cci' ? revision >= cciRevisions.carriedOver : from.version === known().newestCciList;
    return speaks && look.control(from)?.status !== 'withdrawn';
  }
}

function numbers(label: string): string {
  return withoutEndingZeros((label.match(/\d+/g) ?? [label.trim().toLowerCase()]).join('.'));
}
