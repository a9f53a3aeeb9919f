import type { Database } from '../../db/database.ts';
import { perCatalogVersion } from '../../db/per-catalog-version.ts';
import { cciRevisions, versionKey, withoutEndingZeros } from '../controls/frameworks.ts';
import { createMappingDecisions } from './decisions.ts';
import { createFacts, isEnd, isStatedFor } from './facts.ts';
import { compareNodes, type Graph, type GraphNode, type LinkedNode, type Neighbor, nameOf } from './graph.ts';
import type { Evidence } from './schema.ts';

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
    versionKey(framework, facts.newest(framework)) === versionKey(framework, label);

  /** An older list of CCIs counts only under a pin of its own; 800-53 Rev 3, and what comes after Rev 5, never. */
  function isUsable({ from, to }: Evidence, { framework }: GraphNode): boolean {
    if (from.framework !== 'cci') return true;
    const revision = Number(versionKey(to.framework, to.version));
    if (to.framework === 'nist-800-53' && revision > cciRevisions.verified) return false;
    const isCounted =
      framework === 'cci' ? revision >= cciRevisions.carriedOver : from.version === facts.newest('cci');
    return isCounted && facts.control(from)?.status !== 'withdrawn';
  }

  return {
    isKnown,

    /** The first edges of a node that a version pin admits, in order. None for an unknown control or version. */
    firstSteps(graph: Graph, control: LinkedNode, label: string): Neighbor[] {
      const { framework, neighbors } = control;
      if (!isKnown(framework, label) || !facts.control(control)) return [];
      const isStated = (pair: Evidence) => isStatedFor(pair, control, label);
      const steps = neighbors.filter(({ node }) => facts.evidence(control, node).some(isStated));
      if (isNewest(framework, label)) return steps;
      // An older pin also admits what that revision states and the unpinned graph lacks, as `auto`.
      const admitted = new Map(steps.map((step) => [nameOf(step.node), step]));
      for (const pair of facts.stated(control).filter(isStated)) {
        const node = graph.nodeOf(isEnd(pair.from, control) ? pair.to : pair.from);
        if (admitted.has(nameOf(node)) || !isUsable(pair, control) || !facts.control(node)) continue;
        const edge = neighbors.find((each) => each.node === node);
        const status = decisions.of(control, node)?.status ?? 'auto';
        admitted.set(nameOf(node), edge ?? { node, status });
      }
      return [...admitted.values()].sort((one, other) => compareNodes(one.node, other.node));
    },
  };
}

function numbers(label: string): string {
  return withoutEndingZeros((label.match(/\d+/g) ?? [label.trim().toLowerCase()]).join('.'));
}
