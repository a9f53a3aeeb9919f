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
  /** Open the catalog alone, to be written. */
  catalogAlone?: boolean;
  create?: boolean;
  busyTimeout?: number;
  asItIs?: boolean;
  checkUnclean?: boolean;
  /** Takes the one line that tells of an upgrade. */
  say?: (line: string) => void;
  room?: (folder: string) => number;
  /** Called with a migration before it is committed; what it throws undoes it. */
  onMigrate?: (from: number, to: number) => void | Promise<void>;
}

/**
 * Opens both files as `openDatabase` does, or the catalog alone; what is of an older schema is brought to this one before, as
 * `upgradeFiles` does it. Throws `CommandError`.
 */
export async function openUpgraded(files: Files, options: UpgradeOptions = {}): Promise<Database> {
  const { say, room, onMigrate, catalogAlone, ...rest } = options;
  await upgradeFiles(files, options);
  return catalogAlone ? openCatalog(files.db, rest) : openDatabase(files, rest);
}

/**
 * Opens users' data alone, which is made when it is missing, and brought to this schema as `upgradeFiles` does. Throws
 * `CommandError`.
 */
export async function openUsersUpgraded(usersDb: string, options: UpgradeOptions = {}) {
  const { say, room, onMigrate, ...rest } = options;
  if (isThere(usersDb)) await upgradeAll([['users', usersDb]], options);
  else createDatabaseFile(usersDb, 'users');
  return connect(usersDb, 'users', rest);
}

/**
 * Brings what is there to this schema, both files or none, after a verified copy of each was laid beside it as
 * `<file>.before-schema-<n>`. Throws `CommandError`; then both are as they were, or it names the copy of the one that is not.
 */
export async function upgradeFiles({ db, usersDb }: Files, options: UpgradeOptions = {}): Promise<void> {
  const files: [Kind, string][] = [['catalog', db]];
  if (!options.catalogAlone) files.push(['users', usersDb]);
  await upgradeAll(
    files.filter(([, file]) => file !== ':memory:' && isThere(file)),
    options,
  );
}

/** A file whose migration was begun: locked, copied, not yet changed. */
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
    // The first one is told when both succeeded, and committed when nothing but a commit is left to be done.
    for (const each of begun) await attempt(each, () => migrate(each.sqlite, each.kind));
    for (const each of begun) await attempt(each, () => onMigrate(each.from, each.to));
    for (const each of begun) {
      await attempt(each, () => each.sqlite.exec('COMMIT'));
      done.push(each);
    }
  } catch (error) {
    for (const each of begun.filter((one) => !done.includes(one))) {
      if (each.sqlite.inTransaction) each.sqlite.exec('ROLLBACK');
      // The database is as it was: a copy of it for every attempt would fill the disk.
      rmSync(each.copied, { force: true });
    }
    throw error;
  } finally {
    for (const each of begun) each.sqlite.close();
    for (const { file, from, to, copied } of done)
      say(`${file} was upgraded from schema ${from} to ${to}; a copy from before is in ${copied}`);
  }
}

/** Locks a file of an older schema and copies it; null where it has this schema. */
async function begin(kind: Kind, file: string, room: (folder: string) => number): Promise<Begun | null> {
  const to = listMigrations(kind).length;
  if (readHeader(file, kind).userVersion >= to) return null;
  // One that lies at rest stays so: where the migration fails, not a byte is another.
  const options = { anySchema: true, asItIs: !keepsLog(file) };
  const sqlite = connect(file, kind, { ...options, busyTimeout: 30_000, checkUnclean: true });
  try {
    // Held from before the copy to the end of the migration: what others write is in both or comes after.
    sqlite.exec('BEGIN IMMEDIATE');
    const from = schemaVersion(sqlite);
    if (from < to) {
      // It sees the last commit, while the lock of the other one keeps it the last.
      const reader = connect(file, kind, options);
      try {
        const { file: copied } = await copyDatabase(reader, freeName(`${file}.before-schema-${to}`), room);
        return { kind, file, from, to, sqlite, copied };
      } finally {
        reader.close();
      }
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
