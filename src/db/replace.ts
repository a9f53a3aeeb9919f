import { linkSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { CommandError } from '../base/errors.ts';
import { hasNoLinks, isThere, publishNew, syncPath } from '../base/files.ts';
import { storageFault } from './faults.ts';
import { readApplicationId } from './header.ts';

/** A sealed file to put in the place of a database, and the name under which the former one stays. */
export interface Replacement {
  sealed: string;
  file: string;
  keptAs: string;
}

/**
 * Puts sealed files in the place of databases, and keeps the former ones whole: their logs are written into them first,
 * because SQLite would apply a remaining log to the new file. SQLite's locks ensure that no one else has any of them
 * open until all are renamed. Gives for each whether there was a former one. Throws `CommandError`; a lock that fails
 * leaves everything unchanged.
 */
export function replaceDatabases(replacements: Replacement[]): boolean[] {
  const locks: (Sqlite.Database | null)[] = [];
  try {
    for (const { file } of replacements) locks.push(isThere(file) ? lockWhole(file) : null);
    return replacements.map(({ sealed, file, keptAs }, index) => {
      // Such a log belongs to a missing or unreadable database.
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
 * Locks a database for this process alone, its log emptied and removed. SQLite rejects later writes of earlier
 * connections, because the file has moved. Gives null for a file that is no database: SQLite would discard its log.
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

function moveLog(file: string, keptAs: string): void {
  for (const suffix of ['-wal', '-shm', '-journal'])
    if (isThere(`${file}${suffix}`)) renameSync(`${file}${suffix}`, `${keptAs}${suffix}`);
}

function keep(file: string, keptAs: string): void {
  try {
    linkSync(file, keptAs);
  } catch (error) {
    if (hasNoLinks(error)) renameSync(file, keptAs);
    else throw new CommandError(`${keptAs} cannot be created: ${(error as Error).message}`);
  }
}
