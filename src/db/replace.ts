import { chmodSync, chownSync, linkSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { CommandError } from '../base/errors.ts';
import { storageFault, whenWritable } from '../base/faults.ts';
import { hasNoLinks, isThere, publishNew, realFile, syncPath } from '../base/files.ts';
import { applicationIdOf, type Connection, connect, connectReadOnly, logBytes } from './connect.ts';
import { pagesPerStep } from './copy.ts';

/** How long a catalog that is written is waited for, in milliseconds. */
const patience = 10_000;

const inUse = (file: string): CommandError =>
  new CommandError(`${file} is in use: an import is under way. Try again when it has ended`);

/** Takes the write lock of a catalog until the connection is closed. Readers go on. Throws `CommandError`. */
export function holdCatalog(file: string): Connection {
  const sqlite = connect(file, 'catalog', { busyTimeout: patience });
  try {
    sqlite.exec('BEGIN IMMEDIATE');
    return sqlite;
  } catch (error) {
    sqlite.close();
    throw storageFault(error) === 'busy' ? inUse(file) : error;
  }
}

/** The row of a catalog that every change of it changes. */
export function changeOf(sqlite: Sqlite.Database): string {
  const row = 'SELECT json_array(generation, changed_at, digest) FROM catalog';
  return sqlite.prepare<[], string>(row).pluck().get()!;
}

/**
 * Replaces the content of a held catalog by that of another file, in one SQLite transaction: readers keep their
 * snapshot, and after a kill the former content is there. Throws `CommandError` where, between the release of `held` and
 * this transaction, another process writes or makes `isCurrent` false.
 */
export async function replaceCatalog(
  held: Connection,
  file: string,
  from: string,
  isCurrent: () => boolean,
): Promise<void> {
  using source = connectReadOnly(from, 'catalog', { anySchema: true });
  const before = changeOf(held);
  held.exec('ROLLBACK');
  const deadline = performance.now() + patience;
  const progress = () => {
    // The backup holds the write lock here.
    if (changeOf(held) !== before || !isCurrent())
      throw new CommandError(`${file} was changed meanwhile: run the command again`);
    return pagesPerStep;
  };
  // The driver reports a locked destination as a complete backup of no pages.
  while ((await source.backup(file, { progress })).totalPages === 0) {
    if (performance.now() >= deadline) throw inUse(file);
    await pause(50);
  }
  // The backup does not sync the log, where the content stays if readers still need it or the disk is full.
  if (logBytes(file) > 0) syncPath(`${realFile(file)}-wal`);
  held.pragma('busy_timeout = 1000');
  whenWritable(() => held.pragma('wal_checkpoint(TRUNCATE)'));
}

/** A sealed file to put in the place of a database, and the name under which the former one stays. */
interface Replacement {
  sealed: string;
  file: string;
  keptAs: string;
}

/**
 * Renames sealed files to the names of databases that nobody uses, and keeps the former ones whole: their logs are
 * written into them first, because SQLite would apply a remaining log to the new file. SQLite's locks ensure that no one
 * else has any of them open until all are renamed. Gives the name of each former one; null where there was none. Throws `CommandError`;
 * a lock that fails leaves everything unchanged.
 */
export function replaceDatabases(replacements: Replacement[]): (string | null)[] {
  const locks: (Sqlite.Database | null)[] = [];
  try {
    for (const { file } of replacements) locks.push(isThere(file) ? lockWhole(file) : null);
    return replacements.map(({ sealed, file, keptAs }, index) => {
      // Such a log belongs to a missing or unreadable database.
      if (locks[index] === null) moveLog(file, keptAs);
      if (!isThere(file)) {
        publishNew(sealed, file);
        return null;
      }
      likeFormer(sealed, file);
      keep(file, keptAs);
      renameSync(sealed, file);
      syncPath(dirname(file));
      return keptAs;
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
  let sqlite: Sqlite.Database | undefined;
  try {
    if (applicationIdOf(file) === null) return null;
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

/** Gives the new file owner, group and mode of the former: the operator is not always the user that serves. */
function likeFormer(sealed: string, file: string): void {
  const { uid, gid, mode } = statSync(file);
  const own = statSync(sealed);
  if (uid !== own.uid || gid !== own.gid) chownSync(sealed, uid, gid);
  chmodSync(sealed, mode & 0o777);
}
