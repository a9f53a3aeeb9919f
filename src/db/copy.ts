import { chmodSync, lstatSync, statfsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { CommandError } from '../base/errors.ts';
import {
  inPrivateFolder,
  isTaken,
  isThere,
  publishNew,
  sha256OfFile,
  syncPath,
  whyRefused,
} from '../base/files.ts';
import { storageFault } from './faults.ts';
import type { Kind } from './header.ts';
import { schemaVersion } from './migrate.ts';
import { inspect } from './schema-check.ts';

/** A verified copy of a database. */
export interface DatabaseCopy {
  file: string;
  bytes: number;
  sha256: string;
  kind: Kind;
  /** The schema version of its content. */
  schema: number;
}

/** Where the hash of a copy lies that is kept as a backup, in the form of `sha256sum`. */
export function hashFile(file: string): string {
  return `${file}.sha256`;
}

/** Pages to a step: the event loop goes on between two. */
const pagesPerStep = 2000;

/** The free bytes of the disk that a folder is on, for this user. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/**
 * Copies one state of an open database to a new file with SQLite's online backup, while others read and write: to a
 * folder of its own, checked page by page, synced, then named. The copy needs no log beside it and has mode 0600. Throws
 * `CommandError` when the name is taken, there is no room, or the copy is not whole; then nothing is left behind.
 */
export async function copyDatabase(
  sqlite: Sqlite.Database,
  file: string,
  room: (folder: string) => number = freeBytes,
): Promise<DatabaseCopy> {
  const needed =
    (sqlite.pragma('page_count', { simple: true }) as number) *
    (sqlite.pragma('page_size', { simple: true }) as number);
  requireRoom(file, needed, room);
  try {
    return await inPrivateFolder(file, async (temporary) => {
      await copyOneState(sqlite, temporary);
      const sealed = seal(temporary, 'quick', basename(file));
      const copy = { file, bytes: lstatSync(temporary).size, sha256: sha256OfFile(temporary), ...sealed };
      publishNew(temporary, file);
      return copy;
    });
  } catch (error) {
    throw asCopyError(file, error as NodeJS.ErrnoException);
  }
}

/** Refuses a name that anything bears, or that has no folder, or no room in it. Throws `CommandError`. */
export function requireRoom(file: string, needed: number, room: (folder: string) => number): void {
  const folder = dirname(file);
  if (!isThere(folder)) throw new CommandError(`the folder of ${file} does not exist`);
  if (isTaken(file))
    throw new CommandError(`${file} already exists: a copy never replaces a file. Choose another name`);
  const free = room(folder);
  if (free < needed)
    throw new CommandError(
      `there is not enough space for ${file}: it needs ${needed} bytes, ${free} are free`,
    );
}

/** The steps of a backup begin anew when somebody writes in between, unless a read transaction holds the state. */
async function copyOneState(sqlite: Sqlite.Database, temporary: string): Promise<void> {
  sqlite.exec('BEGIN');
  try {
    sqlite.prepare('SELECT count(*) FROM sqlite_schema').get();
    await sqlite.backup(temporary, { progress: () => pagesPerStep });
  } finally {
    sqlite.exec('ROLLBACK');
  }
}

/**
 * Makes a database file that nobody else uses one that stands alone (no log beside it, mode 0600), checks its pages
 * unless its `schema` is enough, and syncs it. Gives its kind and its schema version. Throws `CommandError` when it is not ours, newer, or damaged, and calls it `name`.
 */
export function seal(
  file: string,
  how: 'schema' | 'quick' | 'full',
  name: string,
  change?: (sqlite: Sqlite.Database, kind: Kind) => void,
): { kind: Kind; schema: number } {
  chmodSync(file, 0o600);
  const sqlite = new Sqlite(file, { fileMustExist: true });
  let found: ReturnType<typeof inspect>;
  try {
    found = inspect(name, sqlite, how);
    sqlite.pragma('journal_mode = DELETE');
    change?.(sqlite, found.kind);
    found.schema = schemaVersion(sqlite);
  } finally {
    sqlite.close();
  }
  syncPath(file);
  return found;
}

/** What a copy that cannot be made ends a command with. */
export function asCopyError(file: string, error: NodeJS.ErrnoException): Error {
  if (error instanceof CommandError) return error;
  if (error.code === 'EEXIST')
    return new CommandError(`${file} already exists: a copy never replaces a file. Choose another name`);
  if (error.code === 'ENOSPC' || storageFault(error) === 'full')
    return new CommandError(`there is not enough space for ${file}: nothing was changed`);
  return new CommandError(`${file} cannot be written: ${whyRefused(file, error)}`);
}
