import Sqlite from 'better-sqlite3';
import { CommandError } from '../errors.ts';
import { printable } from '../text.ts';
import { storageFault } from './faults.ts';
import { applicationId } from './header.ts';
import { listMigrations, migrate, schemaVersion } from './migrate.ts';

/** Refuses a schema that only a newer Gapstone can read. */
export function refuseNewer(file: string, version: number): void {
  const newest = listMigrations().length;
  if (version > newest)
    throw new CommandError(
      `${file} has schema ${version}, this Gapstone knows ${newest}: use a newer Gapstone`,
    );
}

/** What a quick or a full look at a database finds: one line for each fault, none where it is whole. */
export function damageOf(sqlite: Sqlite.Database, how: 'schema' | 'quick' | 'full'): string[] {
  const question = { schema: 'quick_check(sqlite_schema)', quick: 'quick_check', full: 'integrity_check' }[
    how
  ];
  try {
    const lines = (sqlite.pragma(question) as Record<string, string>[]).map((row) => Object.values(row)[0]!);
    return lines.filter((line) => line !== 'ok').flatMap((line) => line.split('\n'));
  } catch (error) {
    // Some damage ends the look instead of being a line of it.
    if (storageFault(error) !== 'damaged') throw error;
    return [(error as Error).message];
  }
}

/**
 * Reads of a connection, before anything is written with it, whether it holds a database of ours that is whole enough:
 * always its schema, on demand every page. Gives its schema version. Throws `CommandError`.
 */
export function inspect(file: string, sqlite: Sqlite.Database, how: 'schema' | 'quick' | 'full'): number {
  const damage = damageOf(sqlite, how);
  if (damage.length > 0) throw damaged(file, damage[0]!);
  if (sqlite.pragma('application_id', { simple: true }) !== applicationId)
    throw new CommandError(`${file} is not a Gapstone database`);
  const version = schemaVersion(sqlite);
  refuseNewer(file, version);
  return version;
}

/** The one line for a file whose content is damaged. */
export function damaged(file: string, detail: string): CommandError {
  const first = detail.replace(/\s+/g, ' ').replace(/^\*\*\* in database main \*\*\* /, '');
  return new CommandError(
    `${file} is damaged (${first.slice(0, 120)}): restore a backup with "gapstone restore"`,
  );
}

/** The tables, indexes and views with their columns, each as one text: what two databases of one schema share. */
export function schemaObjects(sqlite: Sqlite.Database): string[] {
  return sqlite
    .prepare<[], string>(
      `SELECT s.type || ' ' || s.name || ' (' || coalesce(
                (SELECT group_concat(c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || c.pk, ', ' ORDER BY c.cid)
                   FROM pragma_table_xinfo(s.name) AS c WHERE s.type <> 'index'),
                (SELECT group_concat(coalesce(i.name, ''), ', ' ORDER BY i.seqno) FROM pragma_index_info(s.name) AS i), '')
              || ')'
         FROM sqlite_schema AS s WHERE s.name NOT LIKE 'sqlite_%' ORDER BY 1`,
    )
    .pluck()
    .all();
}

/**
 * The triggers and views of a database that a new one of its schema does not have, a line for each: they would act on, or
 * answer in place of, what we write and read, and no damage shows.
 */
export function foreignObjects(sqlite: Sqlite.Database): string[] {
  const own = new Sqlite(':memory:');
  try {
    migrate(own, schemaVersion(sqlite));
    const known = new Set(actingObjects(own).map(({ type, name, sql }) => `${type} ${name} ${sql}`));
    return actingObjects(sqlite)
      .filter(({ type, name, sql }) => !known.has(`${type} ${name} ${sql}`))
      .map(({ type, name, on }) => {
        const where = type === 'trigger' ? ` on ${printable(on, 64)}` : '';
        return `the ${type} ${printable(name, 64)}${where} is not of Gapstone`;
      });
  } finally {
    own.close();
  }
}

function actingObjects(sqlite: Sqlite.Database) {
  return sqlite
    .prepare<[], { type: 'trigger' | 'view'; name: string; on: string; sql: string }>(
      `SELECT type, name, tbl_name AS "on", sql FROM sqlite_schema
        WHERE type IN ('trigger', 'view') ORDER BY type, name`,
    )
    .all();
}
