import Sqlite from 'better-sqlite3';
import { CommandError } from '../base/errors.ts';
import { storageFault } from '../base/faults.ts';
import { printable } from '../base/text.ts';
import { type Kind, kindOf, migrate, refuseSchema, schemaVersion } from './schema.ts';

/** The faults that a check finds in a file, by its name on the connection, one line each; none for a healthy database. */
export function damageOf(sqlite: Sqlite.Database, how: 'schema' | 'quick' | 'full', name = 'main'): string[] {
  const question = { schema: 'quick_check(sqlite_schema)', quick: 'quick_check', full: 'integrity_check' }[
    how
  ];
  try {
    const lines = (sqlite.pragma(`${name}.${question}`) as Record<string, string>[]).map(
      (row) => Object.values(row)[0]!,
    );
    return lines
      .flatMap((line) => line.split('\n'))
      .filter((line) => line !== 'ok' && !line.startsWith('*** in database '));
  } catch (error) {
    // Some damage makes the check itself fail.
    if (storageFault(error) !== 'damaged') throw error;
    return [(error as Error).message];
  }
}

/**
 * Checks, before the first write, that a connection has a Gapstone database with exactly its schema, and as much of its
 * pages as `how` says. Gives kind and schema version. Throws `CommandError`.
 */
export function inspect(
  file: string,
  sqlite: Sqlite.Database,
  how: 'schema' | 'quick' | 'full',
  expected: Kind | null = null,
): { kind: Kind; schema: number } {
  const kind = kindOf(file, sqlite.pragma('application_id', { simple: true }) as number, expected);
  const schema = schemaVersion(sqlite);
  refuseSchema(file, kind, schema);
  try {
    // First of all: the damage check reads tables, which could run code of a foreign schema.
    const problems = schemaProblems(sqlite, kind);
    if (problems.length > 0) throw new ForeignSchemaError(file, kind, problems);
    const [damage] = damageOf(sqlite, how);
    if (damage !== undefined) throw damaged(file, damage);
  } catch (error) {
    throw storageFault(error) === 'damaged' ? damaged(file, (error as Error).message) : error;
  }
  return { kind, schema };
}

export function damaged(file: string, detail: string): CommandError {
  const first = detail.replace(/\s+/g, ' ').slice(0, 120);
  return new CommandError(`${file} is damaged (${first}): restore a backup with "gapstone restore"`);
}

/** A row of `sqlite_schema`; of the root page only whether there is one, unless two rows share it. */
type SchemaRow = [type: unknown, name: unknown, table: unknown, isRooted: unknown, sql: unknown];

/** The error for a schema with foreign objects, one line for each. */
export class ForeignSchemaError extends CommandError {
  readonly kind: Kind;
  readonly problems: string[];

  constructor(file: string, kind: Kind, problems: string[]) {
    const more = problems.length > 1 ? `, and ${problems.length - 1} more: run "gapstone check"` : '';
    super(`${file} is refused: ${problems[0]}${more}`);
    this.kind = kind;
    this.problems = problems;
  }
}

/** SQLite's own statistics tables, exactly: ANALYZE creates them, and nothing in them runs. */
const statistics: SchemaRow[] = [
  ['sqlite_stat1', 'tbl,idx,stat'],
  ['sqlite_stat4', 'tbl,idx,neq,nlt,ndlt,sample'],
].map(([name, columns]) => ['table', name, name, true, `CREATE TABLE ${name}(${columns})`]);

/**
 * Compares the schema with that of the migrations (rule D34.3); gives a line for each difference. Runs no code of the
 * file.
 */
function schemaProblems(sqlite: Sqlite.Database, kind: Kind): string[] {
  const version = schemaVersion(sqlite);
  const rows = schemaRows(sqlite);
  // Another process migrated it between the two reads: compare again.
  if (schemaVersion(sqlite) !== version) return schemaProblems(sqlite, kind);
  const missing = new Map(expectedRows(kind, version).map((row) => [JSON.stringify(row), row]));
  const known = new Set(statistics.map((row) => JSON.stringify(row)));
  const foreign = rows.filter((row) => {
    const key = JSON.stringify(row);
    return !missing.delete(key) && !known.delete(key);
  });
  const named = ([type, name]: SchemaRow) => JSON.stringify([type, name]);
  const altered = new Set(foreign.map(named));
  const lacking = [...missing.values()].filter((row) => !altered.has(named(row)));
  return [
    ...foreign.map((row) => `${describe(row)} does not belong to Gapstone`),
    ...lacking.map((row) => `${describe(row)} is missing`),
  ];
}

const expectedOf = new Map<string, SchemaRow[]>();

function expectedRows(kind: Kind, version: number): SchemaRow[] {
  const known = expectedOf.get(`${kind} ${version}`);
  if (known) return known;
  const own = new Sqlite(':memory:');
  migrate(own, kind, version);
  const rows = schemaRows(own);
  own.close();
  expectedOf.set(`${kind} ${version}`, rows);
  return rows;
}

/** Longer than any row of Gapstone; a longer one need not be read. */
const longest = 65_536;

/**
 * The rows of `sqlite_schema`, unordered. `writable_schema` makes SQLite skip unreadable declarations instead of
 * stopping. A file may contain an index of this table that omits rows, or a view named `sqlite_schema`: NOT INDEXED and
 * `sqlite_master` avoid both.
 */
function schemaRows(sqlite: Sqlite.Database): SchemaRow[] {
  const columns = ['type', 'name', 'tbl_name', 'rootpage', 'sql'].map(
    (name) => `iif(octet_length(${name}) > ${longest}, 'too long', ${name})`,
  );
  sqlite.pragma('trusted_schema = OFF');
  sqlite.unsafeMode(true);
  sqlite.pragma('writable_schema = ON');
  try {
    const rows = sqlite
      .prepare(`SELECT ${columns.join(', ')} FROM sqlite_master NOT INDEXED`)
      .raw()
      .all();
    const pages = new Set<unknown>();
    return (rows as unknown[][]).map(([type, name, table, page, sql]) => {
      // Two tables with one root page would overwrite each other.
      const isOwn = page === 0 || !pages.has(page);
      pages.add(page);
      const isRooted = Number.isInteger(page) && Number(page) >= 0 && isOwn ? page !== 0 : page;
      return [type, name, table, isRooted, sql];
    });
  } finally {
    sqlite.pragma('writable_schema = RESET');
    sqlite.unsafeMode(false);
  }
}

function describe([type, name, table]: SchemaRow): string {
  const shown = (value: unknown) =>
    typeof value === 'string' ? printable(value, 64) : value === null ? 'NULL' : typeof value;
  if (type === 'table' || type === 'view') return `the ${type} ${shown(name)}`;
  if (type === 'trigger' || type === 'index') return `the ${type} ${shown(name)} on ${shown(table)}`;
  return `the row ${shown(name)} of the schema, of type "${shown(type)}" and on ${shown(table)},`;
}
