import { compareCodePoints } from '../../src/base/text.ts';
import { compareFrameworks, compareVersions, versionKey } from '../../src/catalog/controls/frameworks.ts';
import { sortKey } from '../../src/catalog/controls/identifier.ts';
import { createGraph, type Graph, type GraphNode } from '../../src/catalog/crosswalk/graph.ts';
import {
  controls as controlTable,
  crosswalkEdges,
  crosswalkNodes,
  frameworkVersions,
} from '../../src/db/control-tables.ts';
import type { Database } from '../../src/db/database.ts';
import { prepareInsert } from '../../src/db/insert.ts';
import { writeClosure } from '../crosswalk/closure.ts';
import { applyDecisions } from '../crosswalk/decisions.ts';
import { type CatalogView, type DerivedEdge, deriveEdges, type MappingFact } from '../crosswalk/edges.ts';
import type { Kind } from '../ledger.ts';
import { type BaselineLayer, baselinesOf, type CatalogLayer, mergeLayers } from './merge.ts';
import type { ControlRecord } from './record.ts';
import { serveControl } from './serve.ts';

/** A merged version of a framework. */
interface Catalog {
  framework: string;
  version: string;
  controls: ControlRecord[];
}

/** Something about a source that only shows when all sources are read: a warning for its ledger line. */
export interface SourceProblem {
  sourceId: number;
  message: string;
}

/**
 * Rebuilds everything that is derived from the facts about controls: the served catalogs, the graph, the closure.
 * Runs inside the transaction that changed a fact or a decision. `timedClosure` is given the building of the closure.
 */
export function deriveControls(
  db: Database,
  timedClosure: (work: () => void) => void = (work) => work(),
): SourceProblem[] {
  const catalogs = readCatalogs(db);
  const baselines = readBaselines(db);
  writeCatalogs(db, catalogs, baselines);
  const { view, edges, problems } = crosswalkOf(db, catalogs);
  const graph = writeGraph(db, edges);
  timedClosure(() => void writeClosure(db.sqlite, graph));
  return [...problems, ...unknownMembers(baselines, view)];
}

/** The edges that follow from what is stated and decided, and what could not be used. Writes nothing. */
export function crosswalkOf(db: Database, catalogs: Catalog[] = readCatalogs(db)) {
  const view = catalogView(catalogs);
  const { edges, problems } = deriveEdges(readMappings(db), view);
  return { view, edges: applyDecisions(db, edges, view), problems };
}

interface FactRow {
  framework: string;
  version: string;
  edition: string;
  source_id: number;
  kind: Kind;
  sha256: string;
  record: string;
}

function readCatalogs(db: Database): Catalog[] {
  const rows = db.sqlite
    .prepare<[], FactRow>(
      `SELECT f.framework, f.version, f.edition, f.source_id, s.kind, s.sha256, f.record
         FROM control_facts AS f JOIN sources AS s ON s.id = f.source_id`,
    )
    .iterate();
  const versions = new Map<
    string,
    { framework: string; version: string; layers: Map<string, CatalogLayer> }
  >();
  for (const row of rows) {
    const key = JSON.stringify([row.framework, row.version]);
    if (!versions.has(key))
      versions.set(key, { framework: row.framework, version: row.version, layers: new Map() });
    const { layers } = versions.get(key)!;
    const layerKey = `${row.source_id} ${row.edition}`;
    if (!layers.has(layerKey))
      layers.set(layerKey, { kind: row.kind, edition: row.edition, sha256: row.sha256, controls: [] });
    layers.get(layerKey)!.controls.push(JSON.parse(row.record) as ControlRecord);
  }
  return [...versions.values()].map(({ framework, version, layers }) => {
    const keyed = mergeLayers([...layers.values()]).map((control) => ({
      control,
      key: sortKey(framework, control.identifier),
    }));
    keyed.sort((a, b) => compareCodePoints(a.key, b.key));
    return { framework, version, controls: keyed.map(({ control }) => control) };
  });
}

interface SourcedBaseline extends BaselineLayer {
  sourceId: number;
}

function readBaselines(db: Database): SourcedBaseline[] {
  const rows = db.sqlite
    .prepare<
      [],
      {
        source_id: number;
        version: string;
        edition: string;
        baseline: string;
        identifiers: string;
        sha256: string;
      }
    >(
      `SELECT f.source_id, f.version, f.edition, f.baseline, s.sha256, json_group_array(f.identifier) AS identifiers
         FROM baseline_facts AS f JOIN sources AS s ON s.id = f.source_id
        GROUP BY f.source_id, f.version, f.edition, f.baseline`,
    )
    .all();
  return rows.map((row) => ({
    sourceId: row.source_id,
    version: row.version,
    edition: row.edition,
    baseline: row.baseline,
    sha256: row.sha256,
    identifiers: new Set(JSON.parse(row.identifiers) as string[]),
  }));
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

/** The version that is served when none is asked for: the newest; of 800-171, Rev 2 where it is there (D6.2). */
function defaultVersion(framework: string, versions: string[]): string {
  const rev2 =
    framework === 'nist-800-171'
      ? versions.find((version) => versionKey(framework, version) === '2')
      : undefined;
  return rev2 ?? newestOf(versions);
}

function newestOf(versions: string[]): string {
  return versions.reduce((newest, version) => (compareVersions(version, newest) > 0 ? version : newest));
}

function writeCatalogs(db: Database, catalogs: Catalog[], baselines: BaselineLayer[]): void {
  const { sqlite } = db;
  sqlite.exec('DELETE FROM controls; DELETE FROM framework_versions;');
  const insertVersion = prepareInsert(db, frameworkVersions);
  const insertControl = prepareInsert(db, controlTable);
  const insertKey = sqlite.prepare(
    `INSERT INTO control_keys VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET title = excluded.title, family = excluded.family
        WHERE title <> excluded.title OR family <> excluded.family`,
  );
  const oldestFirst = [...catalogs].sort((a, b) => compareVersions(a.version, b.version));
  for (const { framework, version, controls } of oldestFirst) {
    const versions = catalogs.filter((each) => each.framework === framework).map((each) => each.version);
    const isDefault = Number(version === defaultVersion(framework, versions));
    insertVersion.run({ framework, version, isDefault, isNewest: Number(version === newestOf(versions)) });
    const membership = baselinesOf(version, framework === 'nist-800-53' ? baselines : []);
    for (const [index, control] of controls.entries()) {
      const served = serveControl(framework, version, control, membership(control));
      const { controlId, identifier, title, family } = served;
      insertKey.run(controlId, framework, identifier, sortKey(framework, identifier), title, family);
      insertControl.run({ framework, version, ordinal: index + 1, ...served });
    }
  }
}

/**
 * The catalogs as the crosswalk sees them: a control has the status of the newest version that names it, but one that
 * the newest version of its framework no longer names is withdrawn. The revisions of 800-171 name different controls.
 */
function catalogView(catalogs: Catalog[]): CatalogView {
  interface Seen {
    controls: Map<string, ControlRecord>;
    /** What the newest version names; of 800-171, what any does. */
    newest: Set<string>;
    /** Oldest first. */
    versions: string[];
  }
  const frameworks = new Map<string, Seen>();
  for (const { framework, version, controls } of [...catalogs].sort((a, b) =>
    compareVersions(a.version, b.version),
  )) {
    const entry: Seen = frameworks.get(framework) ?? { controls: new Map(), newest: new Set(), versions: [] };
    frameworks.set(framework, entry);
    entry.versions.push(version);
    if (framework !== 'nist-800-171') entry.newest = new Set();
    for (const control of controls) {
      entry.controls.set(control.identifier, control);
      entry.newest.add(control.identifier);
    }
  }
  return {
    has: (framework) => frameworks.has(framework),
    status(framework, identifier) {
      const entry = frameworks.get(framework);
      const control = entry?.controls.get(identifier);
      if (!entry || !control) return 'unknown';
      return entry.newest.has(identifier) ? control.status : 'withdrawn';
    },
    isOutdated(framework, version) {
      const versions = frameworks.get(framework)?.versions ?? [];
      return !framework.startsWith('nist-') && versions.includes(version) && version !== versions.at(-1);
    },
    hasVersion: (framework, version) =>
      (frameworks.get(framework)?.versions ?? []).some(
        (each) => versionKey(framework, each) === versionKey(framework, version),
      ),
    withdrawnInto: (framework, identifier) =>
      frameworks.get(framework)?.controls.get(identifier)?.withdrawnInto ?? [],
  };
}

function unknownMembers(baselines: SourcedBaseline[], view: CatalogView): SourceProblem[] {
  if (!view.has('nist-800-53')) return [];
  return baselines.flatMap(({ sourceId, baseline, identifiers }) => {
    const unknown = [...identifiers].filter(
      (identifier) => view.status('nist-800-53', identifier) === 'unknown',
    );
    if (unknown.length === 0) return [];
    const message = `the ${baseline} baseline names ${unknown.length} unknown controls: ${unknown.slice(0, 5).join(', ')}`;
    return [{ sourceId, message }];
  });
}

function writeGraph(db: Database, edges: DerivedEdge[]): Graph {
  const { sqlite } = db;
  sqlite.exec(`DELETE FROM crosswalk_paths; DELETE FROM crosswalk_evidence; DELETE FROM crosswalk_edges;
               DELETE FROM crosswalk_nodes;`);
  const names = new Map<string, GraphNode & { key: string }>();
  const nameOf = ({ framework, identifier }: GraphNode) => `${framework}:${identifier}`;
  for (const { a, b } of edges) {
    for (const end of [a, b]) {
      if (!names.has(nameOf(end)))
        names.set(nameOf(end), { ...end, key: sortKey(end.framework, end.identifier) });
    }
  }
  const nodes = [...names.values()].sort(
    (a, b) => compareFrameworks(a.framework, b.framework) || compareCodePoints(a.key, b.key),
  );
  const ids = new Map(nodes.map((node, id) => [nameOf(node), id]));
  const insertNode = prepareInsert(db, crosswalkNodes);
  for (const [id, { framework, identifier }] of nodes.entries())
    insertNode.run({ id, framework, identifier });
  const insertEdge = prepareInsert(db, crosswalkEdges);
  const insertEvidence = sqlite.prepare('INSERT OR IGNORE INTO crosswalk_evidence VALUES (?, ?, ?, ?)');
  const numbered = edges.map((edge) => {
    const [a, b] = [ids.get(nameOf(edge.a))!, ids.get(nameOf(edge.b))!].sort(
      (left, right) => left - right,
    ) as [number, number];
    insertEdge.run({ a, b, status: edge.status });
    for (const fact of edge.evidence) insertEvidence.run(a, b, fact.sourceId, fact.ordinal);
    return { a, b, status: edge.status };
  });
  return createGraph(nodes, numbered);
}
