import { statedMappings } from '../../importers/guidance/roles/derive-mappings.ts';
import { precedence } from '../../importers/guidance/statements.ts';
import { createSearchIndex } from '../../importers/stigs/search-index.ts';
import { attachCatalog, connect, connectReadOnly, createDatabaseFile } from '../db/connect.ts';
import { digestOf } from '../db/digest.ts';
import { lastName } from './sources.ts';

type Connection = ReturnType<typeof connect>;

/** Tables whose ids follow the order of import, with a query that orders them by content. */
const numbered = {
  source: 'SELECT id FROM catalog.sources ORDER BY sha256',
  // Releases of one STIG are almost equal: side by side they compress best.
  release: `SELECT r.id FROM catalog.stig_printings AS r JOIN catalog.stigs AS g ON g.id = r.stig_id
              JOIN catalog.sources AS s ON s.id = r.source_id ORDER BY g.slug, r.release_order DESC, s.sha256`,
  finding: `SELECT f.id FROM new_release AS r CROSS JOIN catalog.findings AS f ON f.release_id = r.old
             ORDER BY r.new, f.ordinal`,
};
type Number = keyof typeof numbered;

/** The tables with such an `id`. */
const owners: Record<string, Number> = { sources: 'source', stig_printings: 'release', findings: 'finding' };
/** The columns that refer to such an id. */
const references: Record<string, Number> = {
  source_id: 'source',
  release_id: 'release',
  superseded_by: 'release',
  current_release_id: 'release',
};
/** Tables that are history, or that the full-text index fills itself. */
const leftOut = ['catalog', 'import_runs', 'import_ledger', 'searched_releases', 'rule_ccis'];

/**
 * Writes a catalog to a new file in a form that depends only on what its sources state: rows in the order of their
 * natural keys, new ids, one run in the ledger, no folders, `time` in place of all times. Two catalogs with one digest,
 * from files of the same names, give the same bytes. Gives the digest. Throws `CommandError`.
 */
export function writeCanonical(catalog: string, file: string, time: string): string {
  connectReadOnly(catalog, 'catalog', { checkUnclean: true }).close();
  createDatabaseFile(file, 'catalog');
  using sqlite = connect(file, 'catalog');
  // The file is incomplete until the end anyway, so journal and syncs are useless.
  for (const pragma of ['journal_mode = OFF', 'synchronous = OFF', 'foreign_keys = OFF'])
    sqlite.pragma(pragma);
  attachCatalog(sqlite, catalog, { asItIs: true });
  sqlite.exec('BEGIN');
  copyRows(sqlite);
  replaceTimes(sqlite, Date.parse(time));
  writeLedger(sqlite);
  const index = createSearchIndex({ sqlite });
  index.reconcile();
  index.mergeAll();
  const digest = digestOf(sqlite);
  sqlite.prepare('UPDATE main.catalog SET digest = ?').run(digest);
  sqlite.exec('COMMIT');
  sqlite.exec('DETACH catalog');
  sqlite.exec('VACUUM');
  sqlite.pragma('journal_mode = DELETE');
  return digest;
}

/** Copies the rows of all tables from the attached catalog, inside a transaction. */
function copyRows(sqlite: Connection): void {
  for (const [number, query] of Object.entries(numbered)) {
    sqlite.exec(`CREATE TEMP TABLE new_${number} (new INTEGER PRIMARY KEY, old INTEGER NOT NULL UNIQUE)`);
    sqlite.exec(`INSERT INTO new_${number} (old) ${query}`);
  }
  sqlite.function('name_of', (source) => lastName(source as string));
  for (const table of tablesOf(sqlite)) sqlite.exec(copyOf(sqlite, table));
}

/** Replaces all times by one, except that sources which state the same stay in order: a later import needs that. */
function replaceTimes(sqlite: Connection, time: number): void {
  const rankOf = precedence(statedMappings({ sqlite }));
  const timeOf = (rank: number) => new Date(time + rank).toISOString();
  sqlite.prepare('UPDATE main.sources SET imported_at = ?').run(timeOf(0));
  const update = sqlite.prepare('UPDATE main.sources SET imported_at = ? WHERE id = ?');
  for (const [id, rank] of rankOf) update.run(timeOf(rank), id);
  sqlite.prepare('UPDATE main.catalog SET generation = 1, changed_at = ?').run(timeOf(0));
}

/** Writes the ledger of one run with a line for each source. */
function writeLedger(sqlite: Connection): void {
  const sources = sqlite.prepare<[], number>('SELECT count(*) FROM main.sources').pluck().get()!;
  const others = { unchanged: 0, superseded: 0, skipped: 0, rejected: 0, warnings: 0, ms: 0, phases: {} };
  const summary = JSON.stringify({ sources, imported: sources, ...others });
  sqlite
    .prepare('INSERT INTO main.import_runs SELECT 1, changed_at, changed_at, 1, ? FROM main.catalog')
    .run(summary);
  sqlite.exec(
    `INSERT INTO main.import_ledger
     SELECT 1, s.id, s.source, s.kind, s.sha256, 'imported', NULL, '[]', s.target,
            iif(r.id IS NULL, '{}', json_object('rules', r.finding_count, 'high', r.high, 'medium', r.medium, 'low', r.low,
                                                'profiles', r.profile_count)), 0
       FROM main.sources AS s LEFT JOIN main.stig_printings AS r ON r.source_id = s.id ORDER BY s.id`,
  );
}

function tablesOf(sqlite: Connection): string[] {
  return sqlite
    .prepare<[], string>(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .pluck()
    .all()
    .filter((name) => !leftOut.includes(name));
}

/** The statement that copies a table in the order of its key. */
function copyOf(sqlite: Connection, table: string): string {
  const columns = sqlite.pragma(`main.table_info(${table})`) as { name: string; pk: number }[];
  const own = owners[table];
  const valueIn = (name: string): string => {
    if (own !== undefined && name === 'id') return 'm.new';
    if (table === 'sources' && name === 'source') return 'name_of(t.source)';
    const number = references[name];
    return number === undefined ? `t."${name}"` : `(SELECT new FROM new_${number} WHERE old = t."${name}")`;
  };
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  const values = columns.map(({ name }) => valueIn(name)).join(', ');
  const from =
    own === undefined
      ? `catalog.${table} AS t ORDER BY ${keyOf(columns, valueIn)}`
      : `new_${own} AS m CROSS JOIN catalog.${table} AS t ON t.id = m.old ORDER BY m.new`;
  return `INSERT INTO main.${table} (${names}) SELECT ${values} FROM ${from}`;
}

function keyOf(columns: { name: string; pk: number }[], valueIn: (name: string) => string): string {
  const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  return key.map(({ name }) => valueIn(name)).join(', ');
}
