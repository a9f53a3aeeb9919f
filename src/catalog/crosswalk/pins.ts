import type { Database } from '../../db/database.ts';
import { cciRevisions, versionKey, withoutEndingZeros } from '../controls/frameworks.ts';
import { createMappingDecisions } from './decisions.ts';
import { type Graph, type GraphNode, type MappingStatus, statuses } from './graph.ts';

/** A first edge that a version pin admits; `id` is missing where the neighbor is no node of the unpinned graph. */
export interface FirstStep {
  node: GraphNode;
  id: number | undefined;
  status: MappingStatus;
}

interface FactRow {
  from_framework: string;
  from_version: string;
  from_identifier: string;
  to_framework: string;
  to_version: string;
  to_identifier: string;
}

/** Finds the first edges of a pinned source in the stated pairs (rule D7.4). */
export function createPins(db: Database) {
  const factColumns =
    'f.from_framework, f.from_version, f.from_identifier, f.to_framework, f.to_version, f.to_identifier';
  const stated = db.sqlite.prepare<[string, string, string, string], FactRow>(
    `SELECT ${factColumns} FROM mapping_facts AS f WHERE f.from_framework = ? AND f.from_identifier = ?
      UNION SELECT ${factColumns} FROM mapping_facts AS f WHERE f.to_framework = ? AND f.to_identifier = ?`,
  );
  const evidence = db.sqlite.prepare<[number, number], FactRow>(
    `SELECT ${factColumns} FROM crosswalk_evidence AS e
       JOIN mapping_facts AS f ON f.source_id = e.source_id AND f.ordinal = e.ordinal WHERE e.a = ? AND e.b = ?`,
  );
  const versions = db.sqlite
    .prepare<[string, string, string], string>(
      `SELECT version FROM framework_versions WHERE framework = ? UNION SELECT from_version FROM mapping_facts
        WHERE from_framework = ? UNION SELECT to_version FROM mapping_facts WHERE to_framework = ?`,
    )
    .pluck();
  const newestVersion = db.sqlite
    .prepare<[string], string>('SELECT version FROM framework_versions WHERE framework = ? AND is_newest = 1')
    .pluck();
  const controlStatus = db.sqlite
    .prepare<[string, string], string>(
      `SELECT c.status FROM control_keys AS k JOIN controls AS c ON c.control_id = k.id
        WHERE k.framework = ? AND k.identifier = ? ORDER BY c.version DESC`,
    )
    .pluck();
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
      cached = { generation, versions: new Map(), newestCciList: newestVersion.get('cci') };
    }
    return cached;
  }

  function versionsOf(framework: string): string[] {
    const { versions: lists } = known();
    const list =
      lists.get(framework) ?? versions.all(framework, framework, framework).filter((each) => each !== '');
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
      if (!isKnown(framework, label) || controlStatus.get(framework, identifier) === undefined) return [];
      const key = versionKey(framework, label);
      const fits = (fact: FactRow) =>
        (fact.from_framework === framework &&
          fact.from_identifier === identifier &&
          versionKey(framework, fact.from_version) === key) ||
        (fact.to_framework === framework &&
          fact.to_identifier === identifier &&
          versionKey(framework, fact.to_version) === key);
      const source = graph.idOf(framework, identifier);
      const steps = new Map<string, FirstStep>();
      for (const { node, status } of source === undefined ? [] : graph.neighbors[source]!) {
        const [a, b] = node < source! ? [node, source!] : [source!, node];
        const name = graph.nodes[node]!;
        if (evidence.all(a, b).some(fits)) {
          steps.set(`${name.framework}:${name.identifier}`, {
            node: name,
            id: node,
            status: statuses[status]!,
          });
        }
      }
      if (isNewest(framework, key)) return [...steps.values()];
      // An older pin also admits what that revision states and the unpinned graph lacks, as `auto`.
      for (const fact of stated.all(framework, identifier, framework, identifier)) {
        if (!fits(fact) || !isUsable(fact, framework)) continue;
        const outward = fact.from_framework === framework && fact.from_identifier === identifier;
        const node = outward
          ? { framework: fact.to_framework, identifier: fact.to_identifier }
          : { framework: fact.from_framework, identifier: fact.from_identifier };
        const name = `${node.framework}:${node.identifier}`;
        if (steps.has(name) || controlStatus.get(node.framework, node.identifier) === undefined) continue;
        const id = graph.idOf(node.framework, node.identifier);
        const edge =
          source === undefined ? undefined : graph.neighbors[source]!.find((each) => each.node === id);
        const decided = edge ? null : decisions.of({ framework, identifier }, node);
        const status = edge ? statuses[edge.status]! : (decided?.status ?? 'auto');
        steps.set(name, { node, id, status });
      }
      return [...steps.values()];
    },
  };

  function isNewest(framework: string, key: string): boolean {
    const newest = newestVersion.get(framework) ?? '';
    return framework === 'nist-800-171' || versionKey(framework, newest) === key;
  }

  /** A list of CCIs that is not the newest speaks only under a pin of its own; Rev 3, and what comes after Rev 5, never. */
  function isUsable(fact: FactRow, framework: string): boolean {
    if (fact.from_framework !== 'cci') return true;
    if (controlStatus.get('cci', fact.from_identifier) === 'withdrawn') return false;
    const revision = Number(versionKey(fact.to_framework, fact.to_version));
    if (fact.to_framework === 'nist-800-53' && revision > cciRevisions.verified) return false;
    if (framework === 'cci') return revision >= cciRevisions.carriedOver;
    return fact.from_version === known().newestCciList;
  }
}

function numbers(label: string): string {
  return withoutEndingZeros((label.match(/\d+/g) ?? [label.trim().toLowerCase()]).join('.'));
}
