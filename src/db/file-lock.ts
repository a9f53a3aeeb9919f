import Sqlite from 'better-sqlite3';

/** A lock that processes share through a file; the kernel releases it with its process, however that ends. */
export interface FileLock {
  /** Runs a function while no other holder of the lock does. Throws SQLITE_BUSY when it is not free in time. */
  hold<T>(work: () => T): T;
  close(): void;
}

/**
 * A lock on a file of its own, which stays empty: the lock that SQLite takes to begin a write, given back without one.
 * Node has no `flock`, and a process id in a file says nothing where two containers share a volume. `timeout` in
 * milliseconds.
 */
export function createFileLock(file: string, timeout: number): FileLock {
  const sqlite = new Sqlite(file, { timeout });
  // Nothing is ever written: a journal beside the file would be made and removed for each event.
  sqlite.pragma('journal_mode = MEMORY');
  const begin = sqlite.prepare('BEGIN IMMEDIATE');
  const end = sqlite.prepare('ROLLBACK');
  return {
    hold(work) {
      begin.run();
      try {
        return work();
      } finally {
        end.run();
      }
    },
    close: () => sqlite.close(),
  };
}
