import { createGraph, type Graph, inOrder, nameOf } from '../../src/catalog/crosswalk/graph.ts';
import { closureDepth } from '../../src/catalog/crosswalk/queries.ts';
import type { Database } from '../../src/db/database.ts';
import { prepareInsert } from '../../src/db/insert.ts';
import type { SourceProblem } from '../../src/read/import-error.ts';
import { deriveBaselines, writeCatalogs } from '../controls/derive-catalogs.ts';
import { type BaselineLayer, type MergedCatalog, readCatalogs } from '../controls/merge.ts';
import { type CatalogFinder, createCatalogFinder } from '../controls/named-catalog.ts';
import type { Removed } from '../controls/parts.ts';
import { firstOf } from '../read/source-text.ts';
import { mostPaths, writeClosure } from './closure.ts';
import {
  type DerivedEdge,
  deriveEdges,
  type KnownControls,
  knownControls,
  type MappingFact,
} from './edges.ts';

/**
 * Rebuilds catalogs, graph and closure in the transaction that changes a fact; `timedClosure` runs the last. Null where
 * the closure would be too large.
 */
export function deriveControls(
  db: Database,
  timedClosure: (work: () => boolean) => boolean = (work) => work(),
): SourceProblem[] | null {
  const catalogs = readCatalogs(db);
  const { baselines, problems: unresolved } = deriveBaselines(
    db,
    catalogs,
    createCatalogFinder(db, catalogs),
  );
  writeCatalogs(db, catalogs, baselines);
  const { known, fromOscal, edges, problems } = crosswalkOf(db, catalogs);
  writeFoundEnds(db, fromOscal);
  const graph = writeGraph(db, edges);
  if (!timedClosure(() => writeClosure(db.sqlite, graph))) return null;
  return [...problems, ...unresolved, ...unknownMembers(baselines, known)];
}

/**
 * Removes one of some sources, with which the closure would be too large, and says so: the one with most pairs, then
 * with most controls.
 */
export function removeLargest({ sqlite }: Database, sourceIds: Iterable<number>): Removed {
  const largest = sqlite
    .prepare<[string], Omit<Removed, 'reason'>>(
      `SELECT id AS sourceId, source FROM sources WHERE id IN (SELECT value FROM json_each(?))
        ORDER BY (SELECT count(*) FROM mapping_facts WHERE source_id = id) DESC,
                 (SELECT count(*) FROM control_facts WHERE source_id = id) DESC, sha256 LIMIT 1`,
    )
    .get(JSON.stringify([...sourceIds]));
  if (largest === undefined) throw new Error('the closure of a catalog without new sources is too large');
  sqlite.prepare('DELETE FROM sources WHERE id = ?').run(largest.sourceId);
  const reason = `with it the crosswalk would have more than ${mostPaths} paths of up to ${closureDepth} hops`;
  return { ...largest, reason };
}

/** Derives the edges, and what gives none although it should. Writes nothing. */
export function crosswalkOf(db: Database, catalogs: MergedCatalog[] = readCatalogs(db)) {
  const known = knownControls(catalogs);
  const facts = readMappings(db);
  const fromOscal = facts.filter(({ stated }) => stated !== null);
  findEnds(fromOscal, createCatalogFinder(db, catalogs));
  return { known, fromOscal, ...deriveEdges(facts, known) };
}

/** A pair with its ends as an OSCAL document names them: JSON, null for any other source. */
type StatedFact = MappingFact & { stated: string | null };

function readMappings(db: Database): StatedFact[] {
  return db.sqlite
    .prepare<[], StatedFact>(
      `SELECT f.source_id AS sourceId, f.ordinal, from_framework AS fromFramework, from_version AS fromVersion,
              from_identifier AS fromIdentifier, to_framework AS toFramework, to_version AS toVersion,
              to_identifier AS toIdentifier, row, d.is_verified AS isVerified, d.stated
         FROM mapping_facts AS f
         LEFT JOIN mapping_details AS d ON d.source_id = f.source_id AND d.ordinal = f.ordinal
        ORDER BY f.source_id, f.ordinal`,
    )
    .all();
}

/** Sets the ends of pairs from OSCAL to the controls that have their ids, of each mapping and name together. */
function findEnds(facts: StatedFact[], finder: CatalogFinder): void {
  for (const [at, side] of (['from', 'to'] as const).entries()) {
    const ends = facts.map((fact) => {
      const stated = JSON.parse(fact.stated!);
      const [framework, version, id] = stated.slice(3 * at) as [string, string, string];
      const { mapping, files } = (stated[6] ?? {}) as { mapping?: number; files?: string[][] };
      return { fact, id, mapping, named: { framework, version, files: files?.[at] ?? [] } };
    });
    const groups = Map.groupBy(ends, ({ fact, named, mapping }) =>
      JSON.stringify([fact.sourceId, named, mapping]),
    );
    for (const group of groups.values()) {
      const { named } = group[0]!;
      const found = finder.find([...new Set(group.map(({ id }) => id))], named);
      const { framework, version } = found ?? named;
      for (const { fact, id } of group)
        Object.assign(fact, {
          [`${side}Framework`]: framework,
          [`${side}Version`]: version,
          [`${side}Identifier`]: found?.identifierOf(id) ?? id,
        });
    }
  }
}

/** The questions of the crosswalk read the ends in `mapping_facts`. */
function writeFoundEnds({ sqlite }: Database, facts: StatedFact[]): void {
  const update = sqlite.prepare(
    `UPDATE mapping_facts SET from_framework = @fromFramework, from_version = @fromVersion,
            from_identifier = @fromIdentifier, to_framework = @toFramework, to_version = @toVersion,
            to_identifier = @toIdentifier
      WHERE source_id = @sourceId AND ordinal = @ordinal`,
  );
  for (const fact of facts) update.run(fact);
}

function unknownMembers(baselines: BaselineLayer[], { controls, versions }: KnownControls): SourceProblem[] {
  return baselines.flatMap(({ sourceId, framework, baseline, identifiers }) => {
    if (framework === '')
      return [{ sourceId, message: `no imported catalog has the controls of the ${baseline} baseline` }];
    const unknown = [...identifiers].filter((identifier) => !controls.has(nameOf({ framework, identifier })));
    if (unknown.length === 0 || !versions.has(framework)) return [];
    const message = `the ${baseline} baseline names ${unknown.length} unknown controls: ${firstOf(unknown, 50)}`;
    return [{ sourceId, message }];
  });
}

function writeGraph(db: Database, edges: DerivedEdge[]): Graph {
  const { sqlite } = db;
  sqlite.exec(`DELETE FROM crosswalk_paths; DELETE FROM crosswalk_evidence; DELETE FROM crosswalk_edges;
               DELETE FROM crosswalk_nodes;`);
  const graph = createGraph(edges);
  const insertNode = prepareInsert(db, 'crosswalk_nodes');
  for (const { id, framework, identifier } of graph.nodes) insertNode({ id, framework, identifier });
  const insertEdge = prepareInsert(db, 'crosswalk_edges');
  const insertEvidence = sqlite.prepare('INSERT OR IGNORE INTO crosswalk_evidence VALUES (?, ?, ?, ?)');
  for (const { a: one, b: other, status, evidence } of edges) {
    const [a, b] = inOrder(one, other).map((end) => graph.nodeOf(end).id) as [number, number];
    insertEdge({ a, b, status });
    for (const fact of evidence) insertEvidence.run(a, b, fact.sourceId, fact.ordinal);
  }
  return graph;
}
