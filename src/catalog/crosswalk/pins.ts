import type { Database } from '../../db/database.ts';
import { perCatalogVersion } from '../../db/per-catalog-version.ts';
import { cciRevisions, versionKey, withoutEndingZeros } from '../controls/frameworks.ts';
import { createMappingDecisions } from './decisions.ts';
import { createFacts, isEnd, isStatedFor } from './facts.ts';
import { type Graph, type GraphNode, type MappingStatus, nameOf, statuses } from './graph.ts';
import type { Evidence } from './schema.ts';

/** A first edge that a version pin admits; `id` is missing where the neighbor is no node of the unpinned graph. */
export interface FirstStep {
  node: GraphNode;
  id: number | undefined;
  status: MappingStatus;
}

/** Finds the first edges of a pinned source in the stated pairs (rule D7.4). */
export function createPins(db: Database) {
  const facts = createFacts(db);
  const decisions = createMappingDecisions(db);
  const everyVersion = db.sqlite
    .prepare<[], [framework: string, versions: string]>(
      `SELECT framework, json_group_array(version)
         FROM (SELECT framework, version FROM framework_versions
                UNION SELECT from_framework, from_version FROM mapping_facts
                UNION SELECT to_framework, to_version FROM mapping_facts)
        WHERE version <> '' GROUP BY framework`,
    )
    .raw();
  const newest = db.sqlite
    .prepare<[string], string>('SELECT version FROM framework_versions WHERE framework = ? AND is_newest = 1')
    .pluck();
  const versions = perCatalogVersion(
    db,
    () => new Map(everyVersion.all().map(([framework, list]) => [framework, JSON.parse(list) as string[]])),
  );

  /** Whether a label names a version of the framework that some source has. */
  const isKnown = (framework: string, label: string): boolean =>
    (versions().get(framework) ?? []).some(
      (each) =>
        numbers(each) === numbers(label) ||
        (!/\d\.\d/.test(label) && versionKey(framework, each) === versionKey(framework, label)),
    );

  const isNewest = (framework: string, label: string): boolean =>
    framework === 'nist-800-171' ||
    versionKey(framework, newest.get(framework) ?? '') === versionKey(framework, label);

  /** An older list of CCIs counts only under a pin of its own; 800-53 Rev 3, and what comes after Rev 5, never. */
  function isUsable({ from, to }: Evidence, { framework }: GraphNode): boolean {
    if (from.framework !== 'cci') return true;
    const revision = Number(versionKey(to.framework, to.version));
    if (to.framework === 'nist-800-53' && revision > cciRevisions.verified) return false;
    const isCounted =
      framework === 'cci' ? revision >= cciRevisions.carriedOver : from.version === newest.get('cci');
    return isCounted && facts.control(from)?.status !== 'withdrawn';
  }

  return {
    isKnown,

    /** The first edges of a control. None for an unknown control or version. */
    firstSteps(graph: Graph, control: GraphNode, label: string): FirstStep[] {
      const { framework, identifier } = control;
      if (!isKnown(framework, label) || !facts.control(control)) return [];
      const source = graph.idOf(framework, identifier);
      const neighbors = source === undefined ? [] : graph.neighbors[source]!;
      const steps = new Map<string, FirstStep>();
      for (const { node: id, status } of neighbors) {
        const node = graph.nodes[id]!;
        if (facts.evidence(control, node).some((pair) => isStatedFor(pair, control, label)))
          steps.set(nameOf(node), { node, id, status: statuses[status]! });
      }
      if (isNewest(framework, label)) return [...steps.values()];
      // An older pin also admits what that revision states and the unpinned graph lacks, as `auto`.
      for (const pair of facts.stated(control)) {
        const { version: _, ...node } = isEnd(pair.from, control) ? pair.to : pair.from;
        const isNew = isStatedFor(pair, control, label) && !steps.has(nameOf(node));
        if (!isNew || !isUsable(pair, control) || !facts.control(node)) continue;
        const id = graph.idOf(node.framework, node.identifier);
        const edge = neighbors.find((each) => each.node === id);
        const decided = edge ? null : decisions.of(control, node);
        const status = edge ? statuses[edge.status]! : (decided?.status ?? 'auto');
        steps.set(nameOf(node), { node, id, status });
      }
      return [...steps.values()];
    },
  };
}

function numbers(label: string): string {
  return withoutEndingZeros((label.match(/\d+/g) ?? [label.trim().toLowerCase()]).join('.'));
}
