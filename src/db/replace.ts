import { existsSync, linkSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { CommandError } from '../base/errors.ts';
import { hasNoLinks, publishNew, syncPath } from '../base/files.ts';
import { storageFault } from './faults.ts';
import { readApplicationId } from './header.ts';

/**
 * Puts a sealed file in the place of a database. The old one is kept under the name given, whole: its log is written
 * into it first, for a log that stays behind would be taken for the new file's. Nobody else may have it open: that is
 * found out by SQLite's own locks, and kept so until the names are changed. Gives whether there was an old one.
 * Throws `CommandError`; then nothing has changed.
 */
export function replaceDatabase(sealed: string, file: string, keptAs: string): boolean {
  if (!existsSync(file)) {
    // A log whose database is gone belongs to nothing.
    moveLog(file, keptAs);
    publishNew(sealed, file);
    return false;
  }
  const lock = lockWhole(file);
  try {
    if (lock === null) moveLog(file, keptAs);
    keep(file, keptAs);
    renameSync(sealed, file);
    syncPath(dirname(file));
    return true;
  } finally {
    lock?.close();
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
    if (existsSync(`${file}${suffix}`)) renameSync(`${file}${suffix}`, `${keptAs}${suffix}`);
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
