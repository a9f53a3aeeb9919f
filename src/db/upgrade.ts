import { existsSync, rmSync } from 'node:fs';
import { CommandError } from '../base/errors.ts';
import { freeName } from '../base/files.ts';
import { connect } from './connect.ts';
import { copyDatabase, freeBytes } from './copy.ts';
import { createDatabaseFile } from './create.ts';
import { type Database, type Files, openCatalog, openDatabase } from './database.ts';
import { type Kind, readHeader } from './header.ts';
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
 * Opens both files as `openDatabase` does, or the catalog alone; one of an older schema is brought to this one before, after a
 * verified copy was laid beside it as `<file>.before-schema-<n>`. Throws `CommandError`; then that file is as it was.
 */
export async function openUpgraded(files: Files, options: UpgradeOptions = {}): Promise<Database> {
  const {
    say = () => undefined,
    room = freeBytes,
    onMigrate = () => undefined,
    catalogAlone,
    ...rest
  } = options;
  const { db, usersDb } = files;
  for (const [kind, file] of [
    ['catalog', db],
    ...(catalogAlone ? [] : [['users', usersDb] as const]),
  ] as const)
    if (file !== ':memory:' && existsSync(file)) await upgrade(kind, file, say, room, onMigrate);
  return catalogAlone ? openCatalog(db, rest) : openDatabase(files, rest);
}

/**
 * Opens users' data alone, which is made when it is missing, and brought to this schema as `openUpgraded` does. Throws
 * `CommandError`.
 */
export async function openUsersUpgraded(usersDb: string, options: UpgradeOptions = {}) {
  const { say = () => undefined, room = freeBytes, onMigrate = () => undefined, ...rest } = options;
  if (existsSync(usersDb)) await upgrade('users', usersDb, say, room, onMigrate);
  else createDatabaseFile(usersDb, 'users');
  return connect(usersDb, 'users', rest);
}

async function upgrade(
  kind: Kind,
  file: string,
  say: (line: string) => void,
  room: (folder: string) => number,
  onMigrate: (from: number, to: number) => void | Promise<void>,
): Promise<void> {
  const newest = listMigrations(kind).length;
  if (readHeader(file, kind).userVersion >= newest) return;
  const sqlite = connect(file, kind, { busyTimeout: 30_000, checkUnclean: true, anySchema: true });
  let copied: string | null = null;
  try {
    // Held from before the copy to the end of the migration: what others write is in both or comes after.
    sqlite.exec('BEGIN IMMEDIATE');
    const version = schemaVersion(sqlite);
    if (version >= newest) return;
    // It sees the last commit, while the lock of the other one keeps it the last.
    const reader = connect(file, kind, { anySchema: true });
    try {
      copied = (await copyDatabase(reader, freeName(`${file}.before-schema-${newest}`), room)).file;
    } finally {
      reader.close();
    }
    migrate(sqlite, kind);
    await onMigrate(version, newest);
    sqlite.exec('COMMIT');
    say(`${file} was upgraded from schema ${version} to ${newest}; a copy from before is in ${copied}`);
  } catch (error) {
    // The database is as it was: a copy of it for every attempt would fill the disk.
    if (sqlite.inTransaction) sqlite.exec('ROLLBACK');
    if (copied !== null) rmSync(copied, { force: true });
    throw asUpgradeError(file, newest, error as Error);
  } finally {
    if (sqlite.inTransaction) sqlite.exec('ROLLBACK');
    sqlite.close();
  }
}

function asUpgradeError(file: string, newest: number, error: Error): Error {
  const why = error.message.replace(/\s+/g, ' ');
  return new CommandError(`${file} cannot be upgraded to schema ${newest}: ${why}. It is unchanged`);
}
