import { createHash } from 'node:crypto';
import type Sqlite from 'better-sqlite3';
import type { Database } from './database.ts';

/** How the rows of one table enter the digest; `t` is the table. */
interface DigestedTable {
  table: string;
  /** Columns that depend on the machine, the time or the import order: ids, times, paths. */
  without?: string[];
  /** Natural keys in place of the omitted ids. */
  instead?: string[];
  /** The table with those of the natural keys, outermost first so that the order needs no sort. */
  from?: string;
  order: string;
  /** Left out while it has no rows, so that its migration leaves the digest of a catalog as it was (rule D44.1). */
  added?: true;
}

/** A table with rows of a source, which its hash identifies. */
const ofSource = (table: string, order: string): DigestedTable => ({
  table,
  without: ['source_id'],
  instead: ['s.sha256'],
  from: `sources AS s CROSS JOIN ${table} AS t ON t.source_id = s.id`,
  order: `s.sha256, ${order}`,
});

/** A table with rows of a printing, served or not, which the hash of its source identifies. */
const ofPrinting = (table: string): DigestedTable => ({
  table,
  without: ['id', 'release_id'],
  instead: ['s.sha256'],
  from: `sources AS s CROSS JOIN stig_printings AS r ON r.source_id = s.id
         CROSS JOIN ${table} AS t ON t.release_id = r.id`,
  order: 's.sha256, t.ordinal',
});

/** Every table of the catalog with statements of sources, or data derived from them alone. */
const digested: DigestedTable[] = [
  { table: 'sources', without: ['id', 'importer_version', 'source', 'imported_at'], order: 't.sha256' },
  // The join leaves out STIGs without a printing: no source states them any more.
  {
    table: 'stigs',
    without: ['id', 'current_release_id'],
    instead: ['r.version'],
    from: 'stigs AS t JOIN stig_printings AS r ON r.id = t.current_release_id',
    order: 't.slug',
  },
  {
    table: 'stig_aliases',
    without: ['stig_id'],
    instead: ['(SELECT s.slug FROM stigs AS s WHERE s.id = t.stig_id)'],
    order: 't.alias',
  },
  { table: 'stig_overrides', order: 't.benchmark_id' },
  {
    table: 'stig_printings',
    without: ['id', 'stig_id', 'source_id', 'superseded_by'],
    instead: ['s.slug', 'p.sha256', '(SELECT release_order FROM stig_printings WHERE id = t.superseded_by)'],
    from: 'stig_printings AS t JOIN sources AS p ON p.id = t.source_id JOIN stigs AS s ON s.id = t.stig_id',
    order: 'p.sha256',
  },
  ofPrinting('stig_profiles'),
  ofPrinting('findings'),
  // The rest of the full-text index follows from the findings of these releases.
  {
    table: 'searched_releases',
    without: ['release_id'],
    instead: ['s.slug', 'r.version'],
    from: 'searched_releases AS t JOIN stig_releases AS r ON r.id = t.release_id JOIN stigs AS s ON s.id = r.stig_id',
    order: 's.slug',
  },
  {
    table: 'rule_ccis',
    without: ['finding_id'],
    instead: ['s.slug', 'f.ordinal'],
    from: `rule_ccis AS t JOIN findings AS f ON f.id = t.finding_id JOIN stig_releases AS r ON r.id = f.release_id
      JOIN stigs AS s ON s.id = r.stig_id`,
    order: 't.cci, s.slug, f.ordinal',
  },
  ofSource('control_facts', 't.framework, t.version, t.identifier'),
  ofSource('baseline_facts', 't.baseline, t.identifier'),
  {
    table: 'baselines',
    without: ['source_id'],
    instead: ['(SELECT sha256 FROM sources WHERE id = t.source_id)'],
    order: 't.framework, t.version, t.ordinal',
  },
  ofSource('mapping_facts', 't.ordinal'),
  { table: 'framework_versions', order: 't.framework, t.version' },
  { table: 'controls', order: 't.framework, t.version, t.ordinal' },
  { table: 'crosswalk_nodes', order: 't.id' },
  { table: 'crosswalk_edges', order: 't.a, t.b' },
  {
    table: 'crosswalk_evidence',
    without: ['source_id', 'a', 'b'],
    instead: ['a.framework', 'a.identifier', 'b.framework', 'b.identifier', 's.sha256'],
    from: `crosswalk_evidence AS t JOIN sources AS s ON s.id = t.source_id
      JOIN crosswalk_nodes AS a ON a.id = t.a JOIN crosswalk_nodes AS b ON b.id = t.b`,
    order: 'a.framework, a.identifier, b.framework, b.identifier, s.sha256, t.ordinal',
  },
  ofSource('role_releases', 't.family'),
  ofSource('occupation_facts', 't.occupation_code'),
  ofSource('work_role_facts', 't.work_role_id'),
  ofSource('curated_mapping_facts', 't.stig_slug, t.occupation_code'),
  ofSource('document_facts', 't.document_id'),
  ofSource('synonym_groups', 't.row'),
  { ...ofSource('mapping_details', 't.ordinal'), added: true },
  { ...ofSource('parameter_value_facts', 't.baseline, t.parameter'), added: true },
  { ...ofSource('profile_facts', 't.record'), added: true },
  { ...ofSource('framework_titles', 't.framework'), added: true },
  { ...ofSource('scap_facts', 't.ordinal'), added: true },
  {
    table: 'scap_contents',
    without: ['source_id', 'stig_id'],
    instead: ['s.sha256', '(SELECT slug FROM stigs WHERE id = t.stig_id)'],
    from: 'scap_contents AS t JOIN sources AS s ON s.id = t.source_id',
    order: 's.sha256, t.ordinal',
    added: true,
  },
  { table: 'occupations', order: 't.occupation_code' },
  { table: 'work_roles', order: 't.work_role_id' },
  {
    table: 'role_mappings',
    without: ['stig_id'],
    instead: ['(SELECT slug FROM stigs WHERE id = t.stig_id)'],
    order: 't.id',
  },
  { table: 'mapping_products', order: 't.name' },
  { table: 'mapping_candidates', order: 't.occupation_code' },
  { table: 'documents', order: 't.document_id' },
];

/**
 * SHA-256 (hex) over the whole catalog in one state. It is equal on every machine where the same version of Gapstone
 * imported the same files with the same overrides; runs, order, paths and times do not matter (rule D24.1).
 */
export function catalogDigest(db: Database): string {
  return db.read(() => digestOf(db.sqlite));
}

/** The digest of the catalog on a connection, which no one may change meanwhile. */
export function digestOf(sqlite: Sqlite.Database): string {
  const hash = createHash('sha256');
  for (const { table, rows, sha256, added } of tableDigests(sqlite))
    if (rows > 0 || !added) hash.update(`${table} ${rows} ${sha256}\n`);
  return hash.digest('hex');
}

/** The digest that the last change stored in the catalog; null where it stored none. `check` compares the two. */
export function storedDigest(sqlite: Sqlite.Database): string | null {
  return sqlite.prepare<[], string | null>('SELECT digest FROM catalog').pluck().get() ?? null;
}

/**
 * The digest of each table that enters the catalog's: no users' data, decisions, ledger or times (rule D23.1), nor traces
 * of removed data.
 */
export const tableDigests = (sqlite: Sqlite.Database) =>
  digested.map(({ table, without = [], instead = [], from = `${table} AS t`, order, added }) => {
    const columns = (sqlite.pragma(`table_info(${table})`) as { name: string }[])
      .filter(({ name }) => !without.includes(name))
      .map(({ name }) => `t."${name}"`);
    const hash = createHash('sha256');
    let rows = 0;
    // SQLite appends the line end: joining here would copy each text again.
    const query = `SELECT json_array(${[...instead, ...columns].join(', ')}) || char(10) FROM ${from} ORDER BY ${order}`;
    for (const row of sqlite.prepare<[], string>(query).pluck().iterate()) {
      rows++;
      hash.update(row);
    }
    return { table, rows, sha256: hash.digest('hex'), added };
  });
