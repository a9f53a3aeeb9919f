import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import { CommandError } from '../base/errors.ts';
import { packageRoot } from '../base/root.ts';

/** The two database files: what importers build, and what users enter (rule D23.1). */
export type Kind = 'catalog' | 'users';

/** "GAPC" and "GAPU": the application ids of Gapstone's files. */
export const applicationIds: Record<Kind, number> = { catalog: 0x47415043, users: 0x47415055 };

/** "GAPS": both in one file, as before the first version. */
const formerId = 0x47415053;

/** The operator's words for each kind. */
export const namesOfKinds: Record<Kind, string> = { catalog: 'catalog', users: "file of users' data" };

/** The kind of a file by its application id. Throws `CommandError` for an unknown or unexpected one. */
export function kindOf(file: string, id: number, expected: Kind | null = null): Kind {
  if (id === formerId)
    throw new CommandError(
      `${file} holds catalog and users' data in one file, which this version does not read: move it away, then import the sources again with "gapstone import"`,
    );
  const kind = (Object.keys(applicationIds) as Kind[]).find((each) => applicationIds[each] === id);
  if (kind === undefined) throw new CommandError(`${file} is not a Gapstone database`);
  if (expected !== null && kind !== expected)
    throw new CommandError(`${file} is a ${namesOfKinds[kind]}, not a ${namesOfKinds[expected]}`);
  return kind;
}

interface Migration {
  number: number;
  file: string;
}

/** The migrations of a kind of file, in order: the first one makes a whole new file. */
export function listMigrations(kind: Kind): Migration[] {
  const folder = join(packageRoot, 'migrations', kind);
  return readdirSync(folder)
    .sort()
    .map((name) => ({ number: Number.parseInt(name, 10), file: join(folder, name) }));
}

/** The schema version that this version of Gapstone makes. */
export const newestSchema = (kind: Kind): number => listMigrations(kind).at(-1)!.number;

/** The schema version of a file: the number of its last migration. */
export function schemaVersion(sqlite: Sqlite.Database): number {
  return sqlite.pragma('user_version', { simple: true }) as number;
}

/** Throws `CommandError` for a schema that this version of Gapstone neither reads nor upgrades. */
export function refuseSchema(file: string, kind: Kind, version: number): void {
  const [oldest, newest] = [listMigrations(kind)[0]!.number, newestSchema(kind)];
  if (version > newest)
    throw new CommandError(
      `${file} has schema ${version}, this version of Gapstone supports ${newest} at most: use a newer Gapstone`,
    );
  if (version >= oldest) return;
  const advice = {
    catalog: 'move it away, then import the sources again with "gapstone import"',
    users: 'start the version before this one once, which upgrades it',
  };
  throw new CommandError(
    `${file} has schema ${version}, this version of Gapstone reads schema ${oldest} or newer: ${advice[kind]}`,
  );
}

/** Applies the missing migrations, up to a version, in one transaction with the new schema version. */
export function migrate(sqlite: Sqlite.Database, kind: Kind, upTo = Number.POSITIVE_INFINITY): void {
  const apply = () => {
    for (const { number, file } of listMigrations(kind)) {
      if (number <= schemaVersion(sqlite) || number > upTo) continue;
      sqlite.exec(readFileSync(file, 'utf8'));
      sqlite.pragma(`user_version = ${number}`);
    }
  };
  if (sqlite.inTransaction) apply();
  else sqlite.transaction(apply).immediate();
}

/** Marks a new, empty database as Gapstone's and creates its tables. */
export function initialize(sqlite: Sqlite.Database, kind: Kind): void {
  sqlite.pragma(`application_id = ${applicationIds[kind]}`);
  migrate(sqlite, kind);
}
