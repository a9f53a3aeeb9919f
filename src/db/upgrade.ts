import { existsSync, rmSync } from 'node:fs';
import { CommandError } from '../base/errors.ts';
import { freeName } from '../base/files.ts';
import { copyDatabase, freeBytes } from './copy.ts';
import { connect, type Database, openDatabase } from './database.ts';
import { readHeader } from './header.ts';
import { listMigrations, migrate, schemaVersion } from './migrate.ts';

export interface UpgradeOptions {
  create?: boolean;
  busyTimeout?: number;
  checkUnclean?: boolean;
  /** Takes the one line that tells of an upgrade. */
  say?: (line: string) => void;
  room?: (folder: string) => number;
  /** Called with a migration before it is committed; what it throws undoes it. */
  onMigrate?: (from: number, to: number) => void | Promise<void>;
}

/**
 * Opens a database as `openDatabase` does; one of an older schema is brought to this one before, after a verified copy
 * was laid beside it as `<file>.before-schema-<n>`. Throws `CommandError`; then the database is as it was.
 */
export async function openUpgraded(file: string, options: UpgradeOptions = {}): Promise<Database> {
  const { say = () => undefined, room = freeBytes, onMigrate = () => undefined, ...rest } = options;
  if (file !== ':memory:' && existsSync(file)) await upgrade(file, say, room, onMigrate);
  return openDatabase(file, rest);
}

async function upgrade(
  file: string,
  say: (line: string) => void,
  room: (folder: string) => number,
  onMigrate: (from: number, to: number) => void | Promise<void>,
): Promise<void> {
  const newest = listMigrations().length;
  if (readHeader(file).userVersion >= newest) return;
  const sqlite = connect(file, { busyTimeout: 30_000, checkUnclean: true });
  let copied: string | null = null;
  try {
    // Held from before the copy to the end of the migration: what others write is in both or comes after.
    sqlite.exec('BEGIN IMMEDIATE');
    const version = schemaVersion(sqlite);
    if (version >= newest) return;
    // It sees the last commit, while the lock of the other one keeps it the last.
    const reader = connect(file);
    try {
      copied = (await copyDatabase(reader, freeName(`${file}.before-schema-${newest}`), room)).file;
    } finally {
      reader.close();
    }
    migrate(sqlite);
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
