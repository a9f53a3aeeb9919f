import { createGraph, type Graph, numberEdges } from '../../src/catalog/crosswalk/graph.ts';
import { crosswalkEdges, crosswalkNodes } from '../../src/db/control-tables.ts';
import type { Database } from '../../src/db/database.ts';
import { prepareInsert } from '../../src/db/insert.ts';
import type { SourceProblem } from '../../src/read/import-error.ts';
import { readBaselines, readCatalogs, writeCatalogs } from '../controls/derive-catalogs.ts';
import type { BaselineLayer, MergedCatalog } from '../controls/merge.ts';
import { firstOf } from '../read/source-text.ts';
import { type CatalogView, catalogView } from './catalog-view.ts';
import { writeClosure } from './closure.ts';
import { type DerivedEdge, deriveEdges, type MappingFact } from './edges.ts';

/** Rebuilds catalogs, graph and closure in the transaction that changes a fact; `timedClosure` runs the last. */
export function deriveControls(
  db: Database,
  timedClosure: (work: () => void) => void = (work) => work(),
): SourceProblem[] {
  const catalogs = readCatalogs(db);
  const baselines = readBaselines(db);
  writeCatalogs(db, catalogs, baselines);
  const { view, edges, problems } = crosswalkOf(db, catalogs);
  const graph = writeGraph(db, edges);
  timedClosure(() => writeClosure(db.sqlite, graph));
  return [...problems, ...unknownMembers(baselines, view)];
}

/** Derives the edges, and what gives none although it should. Writes nothing. */
export function crosswalkOf(db: Database, catalogs: MergedCatalog[] = readCatalogs(db)) {
  const view = catalogView(catalogs);
  return { view, ...deriveEdges(readMappings(db), view) };
}

function readMappings(db: Database): MappingFact[] {
  return db.sqlite
    .prepare<[], MappingFact>(
      `SELECT source_id AS sourceId, ordinal, from_framework AS fromFramework, from_version AS fromVersion,
              from_identifier AS fromIdentifier, to_framework AS toFramework, to_version AS toVersion,
              to_identifier AS toIdentifier, row
         FROM mapping_facts ORDER BY source_id, ordinal`,
    )
    .all();
}

function unknownMembers(baselines: BaselineLayer[], view: CatalogView): SourceProblem[] {
  if (!view.has('nist-800-53')) return [];
  return baselines.flatMap(({ sourceId, baseline, identifiers }) => {
    const unknown = [...identifiers].filter(
      (identifier) => view.status('nist-800-53', identifier) === 'unknown',
    );
    if (unknown.length === 0) return [];
    const message = `the ${baseline} baseline names ${unknown.length} unknown controls: ${firstOf(unknown, 50)}`;
    return [{ sourceId, message }];
  });
}

function writeGraph(db: Database, edges: DerivedEdge[]): Graph {
  const { sqlite } = db;
  sqlite.exec(`DELETE FROM crosswalk_paths; DELETE FROM crosswalk_evidence; DELETE FROM crosswalk_edges;
               DELETE FROM crosswalk_nodes;`);
  const { nodes, edges: numbered } = numberEdges(edges);
  const insertNode = prepareInsert(db, crosswalkNodes);
  for (const [id, { framework, identifier }] of nodes.entries())
    insertNode.run({ id, framework, identifier });
  const insertEdge = prepareInsert(db, crosswalkEdges);
  const insertEvidence = sqlite.prepare('INSERT OR IGNORE INTO crosswalk_evidence VALUES (?, ?, ?, ?)');
  for (const { a, b, status, evidence } of numbered) {
    insertEdge.run({ a, b, status });
    for (const fact of evidence) insertEvidence.run(a, b, fact.sourceId, fact.ordinal);
  }
  return createGraph(nodes, numbered);
}
