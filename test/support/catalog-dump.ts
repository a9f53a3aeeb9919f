import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type ImportOptions, type ImportResult, runImport } from '../../importers/run.ts';
import { sha256 } from '../../src/base/ids.ts';
import type { Database } from '../../src/db/database.ts';
import { put, scratchFolder } from './scratch.ts';

const later = new Set(['import_runs', 'import_ledger', 'rule_search']);

/** Every table of the catalog with all its columns, one SHA-256 each; the ledger of runs is left out. */
export function tableDigests(db: Database): Record<string, string> {
  const names = db.sqlite
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .pluck()
    .all() as string[];
  const digests: Record<string, string> = {};
  for (const name of names.filter((each) => !later.has(each))) {
    const rows = db.sqlite.prepare(`SELECT * FROM "${name}"`).raw().all();
    const hash = createHash('sha256');
    for (const row of rows) hash.update(`${JSON.stringify(row)}\n`);
    digests[name] = `${rows.length} rows ${hash.digest('hex')}`;
  }
  return digests;
}

const inIndex = `JOIN findings AS f ON f.id = finding_id
  JOIN stig_releases AS r ON r.id = f.release_id JOIN stigs AS s ON s.id = r.stig_id`;
/** Rows that belong to no release. */
const strays = `findings stig_profiles stig_evidence rule_marks rule_ids`
  .split(' ')
  .map((name) => `(SELECT count(*) FROM ${name} WHERE release_id NOT IN (SELECT id FROM stig_printings))`);

/** What a dump holds in full. */
const rows = {
  stigs: `SELECT s.id, s.slug, s.kind, s.title, s.title_fold, r.version AS current
    FROM stigs AS s LEFT JOIN stig_releases AS r ON r.id = s.current_release_id ORDER BY s.slug`,
  aliases:
    'SELECT a.alias, s.slug FROM stig_aliases AS a JOIN stigs AS s ON s.id = a.stig_id ORDER BY a.alias',
  overrides: 'SELECT * FROM stig_overrides ORDER BY benchmark_id',
  releases: `SELECT s.slug, src.sha256, src.kind AS sourceKind, src.importer_version AS importerVersion, src.target, r.*
    FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id
    JOIN sources AS src ON src.id = r.source_id ORDER BY s.slug, r.release_order`,
  superseded: `SELECT src.sha256, s.slug, p.finding_count,
      (SELECT count(*) FROM findings WHERE release_id = p.id), k.release_order
    FROM stig_printings AS p JOIN stigs AS s ON s.id = p.stig_id JOIN sources AS src ON src.id = p.source_id
    JOIN stig_printings AS k ON k.id = p.superseded_by ORDER BY src.sha256`,
  sources: 'SELECT sha256, kind, target FROM sources ORDER BY sha256',
  strays: `SELECT ${strays.join(' + ')} + (SELECT count(*) FROM stig_printings WHERE stig_id IS NULL)
    + (SELECT count(*) FROM rule_search_docsize WHERE id NOT IN (SELECT id FROM findings))
    + (SELECT count(*) FROM rule_ccis WHERE finding_id NOT IN (SELECT id FROM findings)) AS count`,
};

/** What full-text search holds; its own tables are left out, as their segments depend on the order of writing. */
const searched = {
  releases: `SELECT s.slug || ' ' || r.version FROM searched_releases AS i
    JOIN stig_releases AS r ON r.id = i.release_id JOIN stigs AS s ON s.id = r.stig_id ORDER BY 1`,
  words: `SELECT s.slug, f.ordinal, hex(sz)
    FROM (SELECT id AS finding_id, sz FROM rule_search_docsize) ${inIndex} ORDER BY 1, 2`,
  ccis: `SELECT s.slug, f.ordinal, cci FROM rule_ccis ${inIndex} ORDER BY 1, 2, 3`,
  ...Object.fromEntries(
    ['the', 'must', 'setting', 'on', 'cci', 'v', 'sv', '1'].map((word) => [
      word,
      `SELECT s.slug, f.ordinal, relevance FROM (SELECT rowid AS finding_id, bm25(rule_search) AS relevance
         FROM rule_search WHERE rule_search MATCH '${word}') ${inIndex} ORDER BY 1, 2`,
    ]),
  ),
};

/** The STIG part of the catalog without internal ids, times and source paths: equal when the content is. */
export function dumpCatalog({ sqlite }: Database) {
  const all = (query: string, ...values: unknown[]) =>
    // biome-ignore lint/suspicious/noExplicitAny: rows of every shape
    sqlite.prepare(query).all(...values) as any[];
  const digest = (query: string, ...values: unknown[]) => sha256(JSON.stringify(all(query, ...values)));
  const columns = (table: string, but: string[]) =>
    all(`SELECT name FROM pragma_table_info('${table}')`)
      .map(({ name }) => name as string)
      .filter((name) => !but.includes(name));
  const texts = columns('findings', ['id', 'release_id']).join(', ');
  const profiles = columns('stig_profiles', ['release_id']).join(', ');
  const inOrder = 'WHERE release_id = ? ORDER BY ordinal';
  const [{ count }] = all(rows.strays) as [{ count: number }];
  return {
    ...{ stigs: all(rows.stigs), aliases: all(rows.aliases), overrides: all(rows.overrides) },
    ...{ superseded: all(rows.superseded).map(Object.values), sources: all(rows.sources), strays: count },
    releases: all(rows.releases).map(({ id, stig_id: _stig, source_id: _source, ...release }) => ({
      ...release,
      findings: digest(`SELECT ${texts} FROM findings ${inOrder}`, id),
      profiles: digest(`SELECT ${profiles} FROM stig_profiles ${inOrder}`, id),
    })),
    search: Object.fromEntries(Object.entries(searched).map(([name, query]) => [name, digest(query)])),
  };
}

/** Writes each text or buffer to a file of its own and imports them in the order given. */
export async function importTexts(
  db: Database,
  texts: (string | Uint8Array)[],
  options: ImportOptions = {},
): Promise<ImportResult> {
  const folder = scratchFolder();
  const paths = texts.map((text, index) => put(folder, `${String(index + 1).padStart(3, '0')}.xml`, text));
  try {
    return await runImport(db, paths, options);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
