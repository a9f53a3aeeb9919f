import { createHash } from 'node:crypto';
import type Sqlite from 'better-sqlite3';
import { atOnce } from '../base/slices.ts';
import type { Database } from './database.ts';

/** How the rows of one table enter the digest; `t` is the table. */
interface DigestedTable {
  /** Columns that depend on the machine, the time or the import order: ids, times, paths. */
  without?: string[];
  /** Natural keys in place of the omitted ids. */
  instead?: string[];
  /** The joined tables of the natural keys, outermost first so that the order needs no sort. */
  from?: string;
  order: string;
  /** Left out while it has no rows, so that its migration leaves the digest of a catalog as it was (rule D44.1). */
  added?: true;
}

/** A table with rows of a source, which its hash identifies. */
const ofSource = (order: string): DigestedTable => ({
  without: ['source_id'],
  instead: ['s.sha256'],
  from: 'sources AS s CROSS JOIN $ AS t ON t.source_id = s.id',
  order: `s.sha256, ${order}`,
});

/** A table with rows of a printing, served or not, which the hash of its source identifies. */
const ofPrinting: DigestedTable = {
  without: ['id', 'release_id'],
  instead: ['s.sha256'],
  from: `sources AS s CROSS JOIN stig_printings AS r ON r.source_id = s.id CROSS JOIN $ AS t ON t.release_id = r.id`,
  order: 's.sha256, t.ordinal',
};

/** Every table of the catalog with statements of sources, or data derived from them alone. */
const parts: Record<string, DigestedTable> = {
  sources: { without: ['id', 'importer_version', 'source', 'imported_at'], order: 't.sha256' },
  // The join leaves out STIGs without a printing: no source states them any more.
  stigs: {
    without: ['id', 'current_release_id'],
    instead: ['r.version'],
    from: '$ AS t JOIN stig_printings AS r ON r.id = t.current_release_id',
    order: 't.slug',
  },
  stig_aliases: {
    without: ['stig_id'],
    instead: ['(SELECT s.slug FROM stigs AS s WHERE s.id = t.stig_id)'],
    order: 't.alias',
  },
  stig_overrides: { order: 't.benchmark_id' },
  stig_printings: {
    without: ['id', 'stig_id', 'source_id', 'superseded_by'],
    instead: ['s.slug', 'p.sha256', '(SELECT release_order FROM stig_printings WHERE id = t.superseded_by)'],
    from: '$ AS t JOIN sources AS p ON p.id = t.source_id JOIN stigs AS s ON s.id = t.stig_id',
    order: 'p.sha256',
  },
  stig_profiles: ofPrinting,
  findings: ofPrinting,
  // The rest of the full-text index follows from the findings of these releases.
  searched_releases: {
    without: ['release_id'],
    instead: ['s.slug', 'r.version'],
    from: '$ AS t JOIN stig_releases AS r ON r.id = t.release_id JOIN stigs AS s ON s.id = r.stig_id',
    order: 's.slug',
  },
  rule_ccis: {
    without: ['finding_id'],
    instead: ['s.slug', 'f.ordinal'],
    from: `$ AS t JOIN findings AS f ON f.id = t.finding_id JOIN stig_releases AS r ON r.id = f.release_id
      JOIN stigs AS s ON s.id = r.stig_id`,
    order: 't.cci, s.slug, f.ordinal',
  },
  control_facts: ofSource('t.framework, t.version, t.identifier'),
  baseline_facts: ofSource('t.baseline, t.identifier'),
  baselines: {
    without: ['source_id'],
    instead: ['(SELECT sha256 FROM sources WHERE id = t.source_id)'],
    order: 't.framework, t.version, t.ordinal',
  },
  mapping_facts: ofSource('t.ordinal'),
  framework_versions: { order: 't.framework, t.version' },
  controls: { order: 't.framework, t.version, t.ordinal' },
  crosswalk_nodes: { order: 't.id' },
  crosswalk_edges: { order: 't.a, t.b' },
  crosswalk_evidence: {
    without: ['source_id', 'a', 'b'],
    instead: ['a.framework', 'a.identifier', 'b.framework', 'b.identifier', 's.sha256'],
    from: `$ AS t JOIN sources AS s ON s.id = t.source_id
      JOIN crosswalk_nodes AS a ON a.id = t.a JOIN crosswalk_nodes AS b ON b.id = t.b`,
    order: 'a.framework, a.identifier, b.framework, b.identifier, s.sha256, t.ordinal',
  },
  role_releases: ofSource('t.family'),
  occupation_facts: ofSource('t.occupation_code'),
  work_role_facts: ofSource('t.work_role_id'),
  curated_mapping_facts: ofSource('t.stig_slug, t.occupation_code'),
  document_facts: ofSource('t.document_id'),
  synonym_groups: ofSource('t.row'),
  mapping_details: { ...ofSource('t.ordinal'), added: true },
  parameter_value_facts: { ...ofSource('t.baseline, t.parameter'), added: true },
  profile_facts: { ...ofSource('t.record'), added: true },
  framework_titles: { ...ofSource('t.framework'), added: true },
  scap_facts: { ...ofSource('t.ordinal'), added: true },
  scap_contents: {
    without: ['source_id', 'stig_id'],
    instead: ['s.sha256', '(SELECT slug FROM stigs WHERE id = t.stig_id)'],
    from: '$ AS t JOIN sources AS s ON s.id = t.source_id',
    order: 's.sha256, t.ordinal',
    added: true,
  },
  occupations: { order: 't.occupation_code' },
  work_roles: { order: 't.work_role_id' },
  role_mappings: {
    without: ['stig_id'],
    instead: ['(SELECT slug FROM stigs WHERE id = t.stig_id)'],
    order: 't.id',
  },
  mapping_products: { order: 't.name' },
  mapping_candidates: { order: 't.occupation_code' },
  documents: { order: 't.document_id' },
};

/** The tables of the digest: no users' data, decisions, ledger or times (rule D23.1), nor traces of removed data. */
export const digestedTables = Object.keys(parts);

export interface TableDigest {
  rows: number;
  sha256: string;
}

/**
 * SHA-256 (hex) over the whole catalog in one state. It is equal on every machine where the same version of Gapstone
 * imported the same files with the same overrides; runs, order, paths and times do not matter (rule D24.1).
 */
export function catalogDigest(db: Database): string {
  return db.read(() => digestOf(db.sqlite));
}

/** The digest of the catalog on a connection, which no one may change meanwhile. */
export function digestOf(sqlite: Sqlite.Database): string {
  return atOnce(digesting(sqlite));
}

/** The digest that the last change stored in the catalog; null where it stored none. `check` compares the two. */
export function storedDigest(sqlite: Sqlite.Database): string | null {
  return sqlite.prepare<[], string | null>('SELECT digest FROM catalog').pluck().get() ?? null;
}

/** The digest of each table, to show where two catalogs differ. */
export function catalogDigests({ sqlite, read }: Database): Record<string, TableDigest> {
  return read(() => {
    const columns = columnsOf(sqlite);
    const digests = Object.entries(parts).map(([table, part]) => [
      table,
      atOnce(digestingTable(sqlite, table, columns.get(table)!, part)),
    ]);
    return Object.fromEntries(digests);
  });
}

/** The columns of each table, in their order: asked for all at once, as a small catalog is digested after each import. */
function columnsOf(sqlite: Sqlite.Database): Map<string, string[]> {
  const rows = sqlite
    .prepare<[], [string, string]>(
      `SELECT t.name, json_group_array(c.name ORDER BY c.cid)
         FROM (SELECT DISTINCT name FROM pragma_table_list) AS t JOIN pragma_table_info(t.name) AS c GROUP BY t.name`,
    )
    .raw()
    .all();
  return new Map(rows.map(([table, columns]) => [table, JSON.parse(columns)]));
}

/** Computes the digest in steps, yielding after each, so that the caller can do other work in between. */
export function* digesting(sqlite: Sqlite.Database): Generator<void, string> {
  const hash = createHash('sha256');
  const columns = columnsOf(sqlite);
  for (const [table, part] of Object.entries(parts)) {
    const { rows, sha256 } = yield* digestingTable(sqlite, table, columns.get(table)!, part);
    if (rows > 0 || !part.added) hash.update(`${table} ${rows} ${sha256}\n`);
  }
  return hash.digest('hex');
}

function* digestingTable(
  sqlite: Sqlite.Database,
  table: string,
  columns: string[],
  part: DigestedTable,
): Generator<void, TableDigest> {
  const { without = [], instead = [], from = '$ AS t', order } = part;
  const own = columns.filter((name) => !without.includes(name)).map((name) => `t."${name}"`);
  const values = [...instead, ...own].join(', ');
  // SQLite appends the line end: joining here would copy each text again.
  const rows = sqlite
    .prepare<[], string>(
      `SELECT json_array(${values}) || char(10) FROM ${from.replace('$', () => table)} ORDER BY ${order}`,
    )
    .pluck()
    .iterate();
  const hash = createHash('sha256');
  let count = 0;
  let pending = 0;
  for (const row of rows) {
    count++;
    hash.update(row);
    pending += row.length;
    if (pending < 65_536) continue;
    pending = 0;
    yield;
  }
  return { rows: count, sha256: hash.digest('hex') };
}
