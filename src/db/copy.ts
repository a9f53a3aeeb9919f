import { chmodSync, lstatSync, statfsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { CommandError } from '../base/errors.ts';
import { storageFault } from '../base/faults.ts';
import {
  inPrivateFolder,
  isTaken,
  isThere,
  publishNew,
  sha256OfFile,
  syncPath,
  whyRefused,
} from '../base/files.ts';
import { type Kind, schemaVersion } from './schema.ts';
import { inspect } from './schema-check.ts';

/** The file with the hash of a backup, in the format of `sha256sum`. */
export function hashFile(file: string): string {
  return `${file}.sha256`;
}

/** Pages that a backup copies before it lets others run. */
export const pagesPerStep = 2000;

/**
 * Copies one state of an open database to a new file with SQLite's online backup, while others read and write: into a
 * private folder, checked page by page, synced, then renamed. The copy has no log and mode 0600. Throws `CommandError`
 * when the name exists, the disk is too small, or the copy is damaged, and then leaves no file behind.
 */
export async function copyDatabase(sqlite: Sqlite.Database, file: string) {
  const needed =
    (sqlite.pragma('page_count', { simple: true }) as number) *
    (sqlite.pragma('page_size', { simple: true }) as number);
  requireRoom(file, needed);
  return writeNewFile(file, async (temporary) => {
    await copyOneState(sqlite, temporary);
    const sealed = seal(temporary, 'quick', basename(file));
    return { file, bytes: lstatSync(temporary).size, sha256: sha256OfFile(temporary), ...sealed };
  });
}

/**
 * Writes a new file: into a private folder, synced, then renamed. Throws `CommandError`, also where the name exists, and
 * then leaves no file behind.
 */
export async function writeNewFile<T>(
  file: string,
  write: (temporary: string) => T | Promise<T>,
): Promise<T> {
  try {
    return await inPrivateFolder(file, async (temporary) => {
      const written = await write(temporary);
      syncPath(temporary);
      publishNew(temporary, file);
      return written;
    });
  } catch (error) {
    throw asCopyError(file, error as NodeJS.ErrnoException);
  }
}

/** Throws `CommandError` where the file exists, its folder does not, or the disk has too little room. */
export function requireRoom(file: string, needed: number): void {
  const folder = dirname(file);
  if (!isThere(folder)) throw new CommandError(`the folder of ${file} does not exist`);
  if (isTaken(file))
    throw new CommandError(`${file} already exists: a copy never replaces a file. Choose another name`);
  requireBytes(file, needed, folder);
}

/** Throws `CommandError` where a folder's disk has fewer bytes free for this user than something needs. */
export function requireBytes(name: string, needed: number, folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free < needed)
    throw new CommandError(
      `there is not enough space for ${name}: it needs ${needed} bytes, ${free} are free`,
    );
}

/** A read transaction holds the state: otherwise every write by another process restarts the backup. */
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
 * Turns a database file that nothing else uses into one without a log (mode 0600), inspects it as `how` says, and syncs
 * it. Gives its kind and schema version. Throws `CommandError`, naming it `name`, when it is no Gapstone file, newer,
 * or damaged.
 */
export function seal(
  file: string,
  how: 'schema' | 'quick' | 'full',
  name: string,
  change?: (sqlite: Sqlite.Database) => void,
): { kind: Kind; schema: number } {
  chmodSync(file, 0o600);
  const sqlite = new Sqlite(file, { fileMustExist: true });
  let found: ReturnType<typeof inspect>;
  try {
    found = inspect(name, sqlite, how);
    sqlite.pragma('journal_mode = DELETE');
    change?.(sqlite);
    found.schema = schemaVersion(sqlite);
  } finally {
    sqlite.close();
  }
  syncPath(file);
  return found;
}

/** The `CommandError` for a failed copy. */
function asCopyError(file: string, error: NodeJS.ErrnoException): Error {
  if (error instanceof CommandError) return error;
  if (error.code === 'EEXIST')
    return new CommandError(`${file} already exists: a copy never replaces a file. Choose another name`);
  if (error.code === 'ENOSPC' || storageFault(error) === 'full')
    return new CommandError(`there is not enough space for ${file}: nothing was changed`);
  return new CommandError(`${file} cannot be written: ${whyRefused(file, error)}`);
}
