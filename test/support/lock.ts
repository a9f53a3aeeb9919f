import Sqlite from 'better-sqlite3';

/** Takes the lock that SQLite has for writers of a database, or the lock of an audit stream, as another process does. Gives what frees it. */
export function holdLock(file: string, timeout = 5000): () => void {
  const sqlite = new Sqlite(file, { timeout });
  sqlite.exec('BEGIN IMMEDIATE');
  return () => {
    sqlite.exec('ROLLBACK');
    sqlite.close();
  };
}
