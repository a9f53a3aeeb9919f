import { and, eq, sql } from 'drizzle-orm';
import { frameworkVersions, mappingFacts } from '../../db/control-tables.ts';
import type { Database } from '../../db/database.ts';
import { cciRevisions, versionKey, withoutEndingZeros } from '../controls/frameworks.ts';
import { createMappingDecisions } from './decisions.ts';
import { createFacts, isEnd, isStatedFor } from './facts.ts';
import { type Graph, type GraphNode, type MappingStatus, statuses } from './graph.ts';
import type { Evidence } from './schema.ts';

/** A first edge that a version pin admits; `id` is missing where the neighbor is no node of the unpinned graph. */
export interface FirstStep {
  node: GraphNode;
  id: number | undefined;
  status: MappingStatus;
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

  return {
    isKnown,

    firstSteps(graph: Graph, framework: string, identifier: string, label: string): FirstStep[] {
      const control = { framework, identifier };
      if (!isKnown(framework, label) || !facts.control(control)) return [];
      const source = graph.idOf(framework, identifier);
      const steps = new Map<string, FirstStep>();
      for (const { node, status } of source === undefined ? [] : graph.neighbors[source]!) {
        const name = graph.nodes[node]!;
        if (facts.evidence(control, name).some((pair) => isStatedFor(pair, control, label))) {
          steps.set(`${name.framework}:${name.identifier}`, {
            node: name,
            id: node,
            status: statuses[status]!,
          });
        }
      }
      if (isNewestVersion(framework, label)) return [...steps.values()];
      // An older pin also admits what that revision states and the unpinned graph lacks, as `auto`.
      for (const pair of facts.stated(control)) {
        if (!isStatedFor(pair, control, label) || !isUsable(pair, framework)) continue;
        const { version: _, ...node } = isEnd(pair.from, control) ? pair.to : pair.from;
        const name = `${node.framework}:${node.identifier}`;
        if (steps.has(name) || !facts.control(node)) continue;
        const id = graph.idOf(node.framework, node.identifier);
        const edge =
          source === undefined ? undefined : graph.neighbors[source]!.find((each) => each.node === id);
        const decided = edge ? null : decisions.of(control, node);
        const status = edge ? statuses[edge.status]! : (decided?.status ?? 'auto');
        steps.set(name, { node, id, status });
      }
      return [...steps.values()];
    },
  };

  function isNewestVersion(framework: string, label: string): boolean {
    const newest = newestVersion(framework) ?? '';
    return framework === 'nist-800-171' || versionKey(framework, newest) === versionKey(framework, label);
  }

  /** A list of CCIs that is not the newest speaks only under a pin of its own; Rev 3, and what comes after Rev 5, never. */
  function isUsable({ from, to }: Evidence, framework: string): boolean {
    if (from.framework !== 'cci') return true;
    if (facts.control(from)?.status === 'withdrawn') return false;
    const revision = Number(versionKey(to.framework, to.version));
    if (to.framework === 'nist-800-53' && revision > cciRevisions.verified) return false;
    if (framework === 'cci') return revision >= cciRevisions.carriedOver;
    return from.version === known().newestCciList;
  }
}

function numbers(label: string): string {
  return withoutEndingZeros((label.match(/\d+/g) ?? [label.trim().toLowerCase()]).join('.'));
}
