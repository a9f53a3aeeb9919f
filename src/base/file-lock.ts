import Sqlite from 'better-sqlite3';

/** A lock that processes share through a file; the kernel releases it when its process ends. */
export type FileLock = ReturnType<typeof createFileLock>;

/**
 * Creates a lock on an empty file: SQLite's write lock, rolled back without a write. Node has no `flock`, and a process
 * id in a file means nothing where two containers share a volume. `timeout` in milliseconds.
 */
export function createFileLock(file: string, timeout: number) {
  const sqlite = new Sqlite(file, { timeout });
  // Nothing is written, so no journal file is needed for each event.
  sqlite.pragma('journal_mode = MEMORY');
  const begin = sqlite.prepare('BEGIN IMMEDIATE');
  const end = sqlite.prepare('ROLLBACK');
  return {
    /** Runs a function under the lock. Throws SQLITE_BUSY when it is not free in time. */
    hold<T>(work: () => T): T {
      begin.run();
      try {
        return work();
      } finally {
        end.run();
      }
    },
    close: () => void sqlite.close(),
  };
}
