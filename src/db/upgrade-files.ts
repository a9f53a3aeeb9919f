import { rmSync } from 'node:fs';
import type Sqlite from 'better-sqlite3';
import { CommandError } from '../base/errors.ts';
import { freeName, isThere } from '../base/files.ts';
import { connect } from './connect.ts';
import { copyDatabase, freeBytes } from './copy.ts';
import { createDatabaseFile } from './create.ts';
import { type Database, type Files, openCatalog, openDatabase } from './database.ts';
import { type Kind, keepsLog, readHeader } from './header.ts';
import { listMigrations, migrate, schemaVersion } from './migrate.ts';

export interface UpgradeOptions {
  catalogAlone?: boolean;
  create?: boolean;
  busyTimeout?: number;
  asItIs?: boolean;
  checkUnclean?: boolean;
  say?: (line: string) => void;
  room?: (folder: string) => number;
  /** Called before a migration is committed; if it throws, the migration is undone. */
  onMigrate?: (from: number, to: number) => void | Promise<void>;
}

/** Opens both files as `openDatabase`, or the catalog alone, after `upgradeFiles`. Throws `CommandError`. */
export async function openUpgraded(files: Files, options: UpgradeOptions = {}): Promise<Database> {
  const { say, room, onMigrate, catalogAlone, ...rest } = options;
  await upgradeFiles(files, options);
  return catalogAlone ? openCatalog(files.db, rest) : openDatabase(files, rest);
}

/** Opens users' data alone, created or upgraded as needed (see `upgradeFiles`). Throws `CommandError`. */
export async function openUsersUpgraded(usersDb: string, options: UpgradeOptions = {}) {
  const { say, room, onMigrate, ...rest } = options;
  if (isThere(usersDb)) await upgradeAll([['users', usersDb]], options);
  else createDatabaseFile(usersDb, 'users');
  return connect(usersDb, 'users', rest);
}

/**
 * Migrates both existing files or none, after a copy of each as `<file>.before-schema-<n>`. Throws `CommandError`,
 * which names the copy of a file that changed.
 */
export async function upgradeFiles({ db, usersDb }: Files, options: UpgradeOptions = {}): Promise<void> {
  const files: [Kind, string][] = [['catalog', db]];
  if (!options.catalogAlone) files.push(['users', usersDb]);
  await upgradeAll(
    files.filter(([, file]) => file !== ':memory:' && isThere(file)),
    options,
  );
}

/** A file that is locked and copied, but not yet migrated. */
interface Begun {
  kind: Kind;
  file: string;
  from: number;
  to: number;
  sqlite: Sqlite.Database;
  copied: string;
}

async function upgradeAll(files: [Kind, string][], options: UpgradeOptions): Promise<void> {
  const { say = () => undefined, room = freeBytes, onMigrate = () => undefined } = options;
  const begun: Begun[] = [];
  const done: Begun[] = [];
  try {
    for (const [kind, file] of files) {
      const each = await begin(kind, file, room);
      if (each !== null) begun.push(each);
    }
    // Before the first commit, so that only a failing commit can leave one file changed.
    for (const each of begun) await attempt(each, () => migrate(each.sqlite, each.kind));
    for (const each of begun) await attempt(each, () => onMigrate(each.from, each.to));
    for (const each of begun) {
      await attempt(each, () => each.sqlite.exec('COMMIT'));
      done.push(each);
    }
  } catch (error) {
    for (const each of begun.filter((one) => !done.includes(one))) {
      if (each.sqlite.inTransaction) each.sqlite.exec('ROLLBACK');
      // The database is unchanged; a copy for each failed attempt would fill the disk.
      rmSync(each.copied, { force: true });
    }
    throw error;
  } finally {
    for (const each of begun) each.sqlite.close();
    for (const { file, from, to, copied } of done)
      say(`${file} was upgraded from schema ${from} to ${to}; a copy from before is in ${copied}`);
  }
}

/** Locks a file of an older schema and copies it; null where the schema is current. */
async function begin(kind: Kind, file: string, room: (folder: string) => number): Promise<Begun | null> {
  const to = listMigrations(kind).length;
  if (readHeader(file, kind).userVersion >= to) return null;
  // Do not turn on WAL here: if the migration fails, the file must be unchanged.
  const options = { anySchema: true, asItIs: !keepsLog(file) };
  const sqlite = connect(file, kind, { ...options, busyTimeout: 30_000, checkUnclean: true });
  try {
    // Hold the lock from the copy to the end of the migration, so that no write is in one but not the other.
    sqlite.exec('BEGIN IMMEDIATE');
    const from = schemaVersion(sqlite);
    if (from < to) {
      // A second connection reads the last commit; the lock keeps others from adding one.
      using reader = connect(file, kind, options);
      const { file: copied } = await copyDatabase(reader, freeName(`${file}.before-schema-${to}`), room);
      return { kind, file, from, to, sqlite, copied };
    }
  } catch (error) {
    sqlite.close();
    throw asUpgradeError(file, to, error as Error);
  }
  sqlite.close();
  return null;
}

async function attempt({ file, to }: Begun, work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw asUpgradeError(file, to, error as Error);
  }
}

function asUpgradeError(file: string, newest: number, error: Error): Error {
  const why = error.message.replace(/\s+/g, ' ');
  return new CommandError(`${file} cannot be upgraded to schema ${newest}: ${why}. It is unchanged`);
}
