import { createHash } from 'node:crypto';
import type { Database } from '../../src/db/database.ts';

/** The tables about controls without internal ids, times and paths, each row as one text. */
const queries: Record<string, string> = {
  sources: `SELECT sha256, kind, target FROM sources ORDER BY sha256`,
  control_facts: `SELECT s.sha256, f.framework, f.version, f.edition, f.identifier, f.record
    FROM control_facts AS f JOIN sources AS s ON s.id = f.source_id ORDER BY 1, 2, 3, 5`,
  baseline_facts: `SELECT s.sha256, f.framework, f.version, f.edition, f.baseline, f.title, f.identifier
    FROM baseline_facts AS f JOIN sources AS s ON s.id = f.source_id ORDER BY 1, 5, 7`,
  baselines: `SELECT b.framework, b.version, b.ordinal, b.name, b.title, b.controls, s.sha256
    FROM baselines AS b JOIN sources AS s ON s.id = b.source_id ORDER BY 1, 2, 3`,
  mapping_facts: `SELECT s.sha256, f.ordinal, f.edition, f.from_framework, f.from_version, f.from_identifier,
    f.to_framework, f.to_version, f.to_identifier, f.reference
    FROM mapping_facts AS f JOIN sources AS s ON s.id = f.source_id ORDER BY 1, 2`,
  framework_versions: 'SELECT * FROM framework_versions ORDER BY 1, 2',
  controls: 'SELECT * FROM controls ORDER BY framework, version, ordinal',
  control_keys: 'SELECT * FROM control_keys ORDER BY id',
  crosswalk_nodes: 'SELECT * FROM crosswalk_nodes ORDER BY id',
  crosswalk_edges: 'SELECT * FROM crosswalk_edges ORDER BY a, b',
  crosswalk_evidence: `SELECT e.a, e.b, s.sha256, e.ordinal
    FROM crosswalk_evidence AS e JOIN sources AS s ON s.id = e.source_id ORDER BY 1, 2, 3, 4`,
  crosswalk_paths: 'SELECT * FROM crosswalk_paths ORDER BY source, target, ordinal',
};

/** What is computed from the nodes and the edges alone: the largest table by far. */
const closure = 'crosswalk_paths';

/** Everything that the catalog holds about controls, a count and a digest a table: equal when the content is. */
export function dumpControls(
  db: Database,
  options: { without?: string[]; only?: string[] } = {},
): Record<string, string> {
  const tables = options.only ?? Object.keys(queries).filter((name) => !options.without?.includes(name));
  return Object.fromEntries(
    tables.map((name) => {
      const hash = createHash('sha256');
      let rows = 0;
      for (const row of db.sqlite.prepare(queries[name]!).raw().iterate()) {
        hash.update(`${JSON.stringify(row)}\n`);
        rows++;
      }
      return [name, `${rows} rows ${hash.digest('hex')}`];
    }),
  );
}

/** `dumpControls` but for the closure, for comparing many large catalogs. */
export function dumpFacts(db: Database): Record<string, string> {
  return dumpControls(db, { without: [closure] });
}

/** The crosswalk alone, whatever sources it rests on. */
export function dumpGraph(db: Database): Record<string, string> {
  return dumpControls(db, { only: ['crosswalk_nodes', 'crosswalk_edges', closure] });
}
