import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { CommandError } from '../errors.ts';
import { listMigrations, migrate, schemaVersion } from './migrate.ts';

const applicationId = 0x47415053; // "GAPS"

/** An open Gapstone database: the driver, Drizzle over it, and the few helpers that every user needs. */
export interface Database {
  sqlite: Sqlite.Database;
  orm: BetterSQLite3Database;
  /** Runs a function inside one read transaction: all its queries see one state of the catalog. */
  read<T>(work: () => T): T;
  /** Runs a function inside one BEGIN IMMEDIATE transaction. */
  write<T>(work: () => T): T;
  /** Has every `write` call a function with its result before it commits; what that throws undoes it. Gives what ends this. */
  beforeCommit(hook: (result: unknown) => void): () => void;
  /** The catalog's generation, also when another process changed it. */
  generation(): number;
  close(): void;
}

interface OpenOptions {
  /** Make the file when it is missing. */
  create?: boolean;
  /** Apply missing migrations; otherwise an older schema is refused. */
  migrate?: boolean;
  /** How long a lock held by another process is waited for, in milliseconds. */
  busyTimeout?: number;
  /** Told before an existing database is migrated; what it throws prevents that. */
  onMigrate?: (from: number, to: number) => void;
}

/**
 * Opens a database file (or `:memory:`), checks that it is ours and whole enough to use, sets the pragmas of
 * SECURITY 2.2 and migrates. Throws `CommandError` with one line for the operator.
 */
export function openDatabase(file: string, options: OpenOptions = {}): Database {
  const isNew = file === ':memory:' || !existsSync(file);
  if (isNew && file !== ':memory:') {
    if (!options.create)
      throw new CommandError(`there is no database at ${file}: make one with "gapstone import"`);
    if (!existsSync(dirname(file)))
      throw new CommandError(`the folder of the database does not exist: ${file}`);
  }
  if (!isNew) checkHeader(file);
  let sqlite: Sqlite.Database;
  try {
    sqlite = new Sqlite(file, { timeout: options.busyTimeout ?? 5000 });
    prepare(sqlite, isNew);
    const newest = listMigrations().length;
    const version = schemaVersion(sqlite);
    if (version > newest) {
      throw new CommandError(
        `${file} has schema ${version}, this Gapstone knows ${newest}: use a newer Gapstone`,
      );
    }
    if (version < newest) {
      if (!isNew && !options.migrate) {
        throw new CommandError(
          `${file} has schema ${version}, this Gapstone needs ${newest}: start "gapstone serve" once`,
        );
      }
      if (!isNew) options.onMigrate?.(version, newest);
      migrate(sqlite);
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${file} cannot be opened: ${(error as Error).message}`);
  }
  return wrap(sqlite);
}

function checkHeader(file: string): void {
  const stat = statSync(file);
  if (!stat.isFile()) throw new CommandError(`${file} is not a file`);
  const header = Buffer.alloc(100);
  let handle: number;
  try {
    handle = openSync(file, 'r');
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`);
  }
  readSync(handle, header, 0, 100, 0);
  closeSync(handle);
  if (header.toString('latin1', 0, 16) !== 'SQLite format 3\0') {
    throw new CommandError(`${file} is not a database (${stat.size} bytes)`);
  }
  if (header.readUInt32BE(68) !== applicationId) throw new CommandError(`${file} is not a Gapstone database`);
  const pageSize = header.readUInt16BE(16) === 1 ? 65536 : header.readUInt16BE(16);
  const pages = header.readUInt32BE(28);
  // While a write-ahead log is waiting, the file may rightly be behind its own header.
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  if (stat.size < pages * pageSize && !log?.size) {
    throw new CommandError(`${file} is truncated: ${stat.size} bytes of ${pages * pageSize}`);
  }
}

function prepare(sqlite: Sqlite.Database, isNew: boolean): void {
  if (isNew) sqlite.pragma(`application_id = ${applicationId}`);
  sqlite.pragma('journal_mode = WAL');
  sqlite.pragma('synchronous = FULL');
  sqlite.pragma('foreign_keys = ON');
  sqlite.pragma('trusted_schema = OFF');
  sqlite.pragma('cell_size_check = ON');
  sqlite.pragma('journal_size_limit = 67108864');
  sqlite.pragma('wal_autocheckpoint = 1000');
  sqlite.pragma('cache_size = -32768');
  // The container's root is read-only: nothing may be written but beside the database.
  sqlite.pragma('temp_store = MEMORY');
}

function wrap(sqlite: Sqlite.Database): Database {
  const dataVersion = sqlite.prepare('PRAGMA data_version').pluck();
  const generationRow = sqlite.prepare('SELECT generation FROM catalog').pluck();
  let seenVersion: unknown;
  let seenChanges = -1;
  let seenGeneration = 0;
  const hooks = new Set<(result: unknown) => void>();
  const totalChanges = sqlite.prepare('SELECT total_changes()').pluck();
  return {
    sqlite,
    orm: drizzle(sqlite),
    read: (work) => (sqlite.inTransaction ? work() : sqlite.transaction(work).deferred()),
    write(work) {
      // Inside another write this is a part of it, with a savepoint of its own.
      if (sqlite.inTransaction || hooks.size === 0) return sqlite.transaction(work).immediate();
      const whole = () => {
        const result = work();
        for (const hook of hooks) hook(result);
        return result;
      };
      return sqlite.transaction(whole).immediate();
    },
    beforeCommit(hook) {
      hooks.add(hook);
      return () => hooks.delete(hook);
    },
    generation() {
      const version = dataVersion.get();
      const changes = totalChanges.get() as number;
      if (version !== seenVersion || changes !== seenChanges) {
        seenVersion = version;
        seenChanges = changes;
        seenGeneration = generationRow.get() as number;
      }
      return seenGeneration;
    },
    close: () => sqlite.close(),
  };
}
