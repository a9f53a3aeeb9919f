import { CommandError } from './errors.ts';

/**
 * Why SQLite failed, where the cause is outside the program: another writer (`busy`), a full disk (`full`), a read-only
 * file or folder (`readonly`), a failing disk (`io`), a damaged file (`damaged`).
 */
export type StorageFault = (typeof faults)[keyof typeof faults];

const faults = {
  BUSY: 'busy',
  LOCKED: 'busy',
  FULL: 'full',
  READONLY: 'readonly',
  IOERR: 'io',
  CANTOPEN: 'io',
  CORRUPT: 'damaged',
  NOTADB: 'damaged',
} as const;

/** The fault behind an error code of the driver; null for any other error. */
export function storageFault(error: unknown): StorageFault | null {
  const [, name] = /^SQLITE_([A-Z]+)/.exec(String((error as { code?: unknown } | null)?.code)) ?? [];
  return faults[name as keyof typeof faults] ?? null;
}

const movedCode = 'SQLITE_READONLY_DBMOVED';

/** SQLite's error for a file that no longer has the name under which it was opened. */
export function databaseMoved(): Error {
  return Object.assign(new Error('the database file was moved, replaced or removed'), { code: movedCode });
}

/** The `CommandError` for a storage fault; other errors unchanged. */
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

/** Whether an error means that the database accepts no writes now. */
export function takesNoWrites(error: unknown): boolean {
  return ['busy', 'full', 'readonly', 'io'].includes(storageFault(error) ?? '');
}

/** Makes one write without waiting, and skips it if the database accepts none: reading must go on in any case. */
export function whenWritable(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!takesNoWrites(error)) throw error;
  }
}
