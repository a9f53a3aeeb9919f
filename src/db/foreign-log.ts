import { existsSync, rmSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { realFile } from '../base/files.ts';
import { takesNoWrites } from './faults.ts';
import { keepsLog } from './header.ts';

/**
 * Removes the log and its index of another file that had this name before: a file that is not in WAL mode has none of
 * its own. An exclusive SQLite lock keeps others from beginning a log meanwhile; without the lock nothing is removed.
 * This process must have no connection to the file.
 */
export function removeForeignLog(file: string): void {
  const real = realFile(file);
  const left = ['-wal', '-shm'].map((suffix) => real + suffix).filter((name) => existsSync(name));
  if (left.length === 0 || keepsLog(real)) return;
  const sqlite = new Sqlite(real, { fileMustExist: true, timeout: 0 });
  try {
    sqlite.exec('BEGIN EXCLUSIVE');
    if (sqlite.pragma('journal_mode', { simple: true }) === 'delete')
      for (const name of left) rmSync(name, { force: true });
    sqlite.exec('ROLLBACK');
  } catch (error) {
    if (!takesNoWrites(error)) throw error;
  } finally {
    sqlite.close();
  }
}
