import { linkSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { CommandError } from '../base/errors.ts';
import { hasNoLinks, isThere, publishNew, syncPath } from '../base/files.ts';
import { storageFault } from './faults.ts';
import { readApplicationId } from './header.ts';

/** A sealed file that is to take the place of a database, and the name that the former one is kept under. */
export interface Replacement {
  sealed: string;
  file: string;
  keptAs: string;
}

/**
 * Puts sealed files in the places of databases. The former ones are kept, whole: their logs are written into them first, for
 * a log that stays behind would be taken for the new file's. Nobody else may have any of them open: that is found out by
 * SQLite's own locks, and kept so until all names are changed. Gives of each whether there was a former one. Throws
 * `CommandError`; while that is for a lock, nothing has changed.
 */
export function replaceDatabases(replacements: Replacement[]): boolean[] {
  const locks: (Sqlite.Database | null)[] = [];
  try {
    for (const { file } of replacements) locks.push(isThere(file) ? lockWhole(file) : null);
    return replacements.map(({ sealed, file, keptAs }, index) => {
      // A log whose database is gone, or is none any more, belongs to nothing.
      if (locks[index] === null) moveLog(file, keptAs);
      if (!isThere(file)) {
        publishNew(sealed, file);
        return false;
      }
      keep(file, keptAs);
      renameSync(sealed, file);
      syncPath(dirname(file));
      return true;
    });
  } finally {
    for (const lock of locks) lock?.close();
  }
}

/**
 * Takes a database for this process alone, its log emptied and removed. Whoever opened it before and comes to write now
 * is refused by SQLite, because the file has moved. Gives null for a file that is no database any more: SQLite would
 * throw its log away, and has no lock for it.
 */
function lockWhole(file: string): Sqlite.Database | null {
  if (readApplicationId(file) === null) return null;
  let sqlite: Sqlite.Database | undefined;
  try {
    sqlite = new Sqlite(file, { fileMustExist: true, timeout: 2000 });
    sqlite.pragma('journal_mode = DELETE');
    sqlite.exec('BEGIN EXCLUSIVE');
    return sqlite;
  } catch (error) {
    sqlite?.close();
    if (storageFault(error) === 'damaged') return null;
    if (storageFault(error) === 'busy')
      throw new CommandError(`${file} is in use: first stop the server and any other program that uses it`);
    throw new CommandError(`${file} cannot be locked: ${(error as Error).message}`);
  }
}

/** A file that cannot be read keeps its log under its new name. */
function moveLog(file: string, keptAs: string): void {
  for (const suffix of ['-wal', '-shm', '-journal'])
    if (isThere(`${file}${suffix}`)) renameSync(`${file}${suffix}`, `${keptAs}${suffix}`);
}

/** Gives a file a second name, so that at no moment there is none under the first. */
function keep(file: string, keptAs: string): void {
  try {
    linkSync(file, keptAs);
  } catch (error) {
    if (hasNoLinks(error)) renameSync(file, keptAs);
    else throw new CommandError(`${keptAs} cannot be created: ${(error as Error).message}`);
  }
}
