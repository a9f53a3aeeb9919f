import { CommandError } from '../base/errors.ts';

/**
 * Why SQLite failed, where the cause lies outside the program: another writer (`busy`), no room (`full`), a file or
 * folder that cannot be written (`readonly`), a disk that fails (`io`), a damaged file (`damaged`). Else null.
 */
export type StorageFault = 'busy' | 'full' | 'readonly' | 'io' | 'damaged';

const prefixes: [string, StorageFault][] = [
  ['SQLITE_BUSY', 'busy'],
  ['SQLITE_LOCKED', 'busy'],
  ['SQLITE_FULL', 'full'],
  ['SQLITE_READONLY', 'readonly'],
  ['SQLITE_IOERR', 'io'],
  ['SQLITE_CANTOPEN', 'io'],
  ['SQLITE_CORRUPT', 'damaged'],
  ['SQLITE_NOTADB', 'damaged'],
];

/** The fault that an error of the driver stands for, by its code. */
export function storageFault(error: unknown): StorageFault | null {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return null;
  return prefixes.find(([prefix]) => code.startsWith(prefix))?.[1] ?? null;
}

const movedCode = 'SQLITE_READONLY_DBMOVED';

/** The error that SQLite gives for a file which is no longer found under the name that it was opened by. */
export function databaseMoved(): Error {
  return Object.assign(new Error('the database file was moved, replaced or removed'), { code: movedCode });
}

/** What a command is ended with when the storage fails under it; other errors come back as they are. */
export function asCommandError(error: unknown): unknown {
  const messages: Record<StorageFault, string> = {
    busy: 'the database is busy: another process is writing to it',
    full: 'the disk is full: nothing was changed',
    readonly: 'the database cannot be written: its file, its folder or its disk is read-only',
    io: 'the disk failed: the database cannot be read or written',
    damaged: 'the database is damaged: run "gapstone check", and restore a backup',
  };
  if ((error as { code?: unknown } | null)?.code === movedCode)
    return new CommandError(
      'the database file was moved, replaced or removed while it was in use: nothing was changed',
    );
  const fault = storageFault(error);
  return fault === null ? error : new CommandError(messages[fault]);
}

/** Whether an error says that the database takes no writes now, because another process writes or nothing can be written. */
export function takesNoWrites(error: unknown): boolean {
  return ['busy', 'full', 'readonly', 'io'].includes(storageFault(error) ?? '');
}

/** Makes one write on a connection that does not wait, if it can be made now: who only reads is served in any case. */
export function whenWritable(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!takesNoWrites(error)) throw error;
  }
}
