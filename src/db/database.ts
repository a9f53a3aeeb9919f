import { existsSync, realpathSync, statSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { CommandError } from '../base/errors.ts';
import { type Audience, createAudience } from './audience.ts';
import { createDatabaseFile, initialize } from './create.ts';
import { databaseMoved, storageFault } from './faults.ts';
import { readHeader, refuseReadOnly } from './header.ts';
import { listMigrations, schemaVersion } from './migrate.ts';
import { damaged, inspect, refuseNewer } from './schema.ts';
import { createTurns, lockPatience } from './turns.ts';

/** An open Gapstone database: the driver, Drizzle over it, and the few helpers that every user needs. */
export interface Database extends Disposable {
  sqlite: Sqlite.Database;
  orm: BetterSQLite3Database;
  /** Runs a function inside one read transaction: all its queries see one state of the catalog. */
  read<T>(work: () => T): T;
  /**
   * Runs a function inside one BEGIN IMMEDIATE transaction, after the writes that were asked for before. Rejects with
   * SQLITE_BUSY where another process holds a lock for too long (see `neverBlock`).
   */
  write<T>(work: () => T): Promise<T>;
  /** Has every `write` run inside a function, within its transaction; what that throws undoes it. Gives what ends this. */
  within(guard: WriteGuard): () => void;
  /** Waits until no write is waiting or under way. */
  idle(): Promise<void>;
  /**
   * From now on nothing that is done with the connection waits for a lock synchronously: a write that finds one held is tried
   * again while the event loop goes on, for `lockPatience` (rule D23.3). Until then the driver waits.
   */
  neverBlock(): void;
  /** The catalog's generation, also when another process changed it. */
  generation(): number;
  audience: Audience;
  /**
   * Throws SQLITE_READONLY_DBMOVED when another file, or none, has the name of the one that is open: SQLite looks no more
   * once it has a log, and what is written would be gone with the file. `write` asks before it begins.
   */
  requireInPlace(): void;
  close(): void;
}

/**
 * What runs the work of a write inside its transaction. It may throw SQLITE_BUSY before it begins, to be tried again, unless
 * this is the last time.
 */
export type WriteGuard = <T>(work: () => T, isLast: boolean) => T;

interface ConnectOptions {
  /** How long a lock held by another process is waited for synchronously, in milliseconds. */
  busyTimeout?: number;
  /** Look at every page before a file is used that was not closed (a log is waiting beside it). */
  checkUnclean?: boolean;
}

interface OpenOptions extends ConnectOptions {
  /** Make the file when it is missing. */
  create?: boolean;
}

/**
 * Opens a database file (or `:memory:`), checks that it is ours, of this schema and whole enough to use, and sets the
 * pragmas of rule S2.2. Throws `CommandError` with one line for the operator; what is refused is left as it was.
 */
export function openDatabase(file: string, options: OpenOptions = {}): Database {
  if (file === ':memory:') {
    const sqlite = new Sqlite(file);
    initialize(sqlite);
    setPragmas(sqlite);
    return wrap(sqlite, () => undefined);
  }
  if (!options.create) requireDatabaseFile(file);
  else if (!existsSync(file)) createDatabaseFile(file);
  return wrap(connect(file, options, refuseOlderSchema), placeOf(file));
}

/** Refuses a name that no file bears, so that a slip of the pen makes nothing. Throws `CommandError`. */
export function requireDatabaseFile(file: string): void {
  if (!existsSync(file))
    throw new CommandError(
      `there is no database at ${file}: create one with "gapstone import", or restore a backup with "gapstone restore"`,
    );
}

/** What throws once a file that was just opened is no longer found under its name. */
function placeOf(file: string): () => void {
  const identity = () => {
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stat && `${stat.dev} ${stat.ino}`;
  };
  const opened = identity();
  return () => {
    if (identity() !== opened) throw databaseMoved();
  };
}

/**
 * Opens a connection to a database file of ours of any schema up to this one; `refuse` may add to what is refused before
 * anything is written. Throws `CommandError`.
 */
export function connect(
  file: string,
  options: ConnectOptions = {},
  refuse: (file: string, sqlite: Sqlite.Database) => void = () => undefined,
): Sqlite.Database {
  // Of a file that this process has open, SQLite alone may open and close descriptors.
  const hasLog = isOpenHere(file) ? false : lookAtFile(file);
  const timeout = options.busyTimeout ?? 5000;
  const look = (sqlite: Sqlite.Database, how: 'schema' | 'quick') => {
    inspect(file, sqlite, how);
    refuse(file, sqlite);
  };
  // Closing a connection writes a waiting log into the file: one that cannot write has to look first.
  if (hasLog)
    attempt(file, { timeout, readonly: true }, (sqlite) =>
      look(sqlite, options.checkUnclean ? 'quick' : 'schema'),
    ).close();
  const sqlite = attempt(file, { timeout }, (each) => {
    look(each, 'schema');
    setPragmas(each);
  });
  connections.set(sqlite, realpathSync(file));
  return sqlite;
}

/** The connections of this process to files. Closing any descriptor of a file drops the POSIX locks that SQLite holds on it. */
const connections = new Map<Sqlite.Database, string>();

function isOpenHere(file: string): boolean {
  for (const sqlite of connections.keys()) if (!sqlite.open) connections.delete(sqlite);
  return existsSync(file) && [...connections.values()].includes(realpathSync(file));
}

/** Refuses what SQLite need not open to be refused; gives whether a log with content lies beside the file. */
function lookAtFile(file: string): boolean {
  const { userVersion, hasLog } = readHeader(file);
  refuseNewer(file, userVersion);
  refuseReadOnly(file);
  return hasLog;
}

/** Opens a file and does what must succeed before it is used; closes it when it does not. */
function attempt(
  file: string,
  options: Sqlite.Options,
  prepare: (sqlite: Sqlite.Database) => void,
): Sqlite.Database {
  let sqlite: Sqlite.Database | undefined;
  try {
    sqlite = new Sqlite(file, { ...options, fileMustExist: true });
    prepare(sqlite);
    return sqlite;
  } catch (error) {
    sqlite?.close();
    throw asOpenError(file, error as Error);
  }
}

function asOpenError(file: string, error: Error): Error {
  if (error instanceof CommandError) return error;
  // A declaration of the schema that is damaged, as that of a view, is no corruption to SQLite, but wrong SQL.
  if ((error as { code?: unknown }).code === 'SQLITE_ERROR') return damaged(file, error.message);
  switch (storageFault(error)) {
    case 'damaged':
      return damaged(file, error.message);
    case 'busy':
      return new CommandError(`${file} is locked: another process is using it`);
    case 'readonly':
    case 'io':
      return new CommandError(
        `${file} cannot be opened (${error.message}): its folder must be writable, because the log is written there`,
      );
    default:
      return new CommandError(`${file} cannot be opened: ${error.message}`);
  }
}

/** Refuses an older schema. */
function refuseOlderSchema(file: string, sqlite: Sqlite.Database): void {
  const newest = listMigrations().length;
  const version = schemaVersion(sqlite);
  if (version < newest)
    throw new CommandError(
      `${file} has schema ${version}, this version of Gapstone needs ${newest}: start "gapstone serve" once to upgrade it`,
    );
}

function setPragmas(sqlite: Sqlite.Database): void {
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

function wrap(sqlite: Sqlite.Database, requireInPlace: () => void): Database {
  const dataVersion = sqlite.prepare('PRAGMA data_version').pluck();
  const generationRow = sqlite.prepare('SELECT generation FROM catalog').pluck();
  let seenVersion: unknown;
  let seenChanges = -1;
  let seenGeneration = 0;
  const guards = new Set<WriteGuard>();
  const turns = createTurns();
  let patience = 0;
  const totalChanges = sqlite.prepare('SELECT total_changes()').pluck();
  function generation(): number {
    const version = dataVersion.get();
    const changes = totalChanges.get() as number;
    if (version !== seenVersion || changes !== seenChanges) {
      seenVersion = version;
      seenChanges = changes;
      seenGeneration = generationRow.get() as number;
    }
    return seenGeneration;
  }
  return {
    sqlite,
    orm: drizzle(sqlite),
    read: (work) => (sqlite.inTransaction ? work() : sqlite.transaction(work).deferred()),
    write: (work) =>
      turns.take((turn) => {
        requireInPlace();
        let whole = () => {
          turn.begun = true;
          return work();
        };
        for (const guard of guards) {
          const inner = whole;
          whole = () => guard(inner, turn.isLast);
        }
        return sqlite.transaction(whole).immediate();
      }, patience),
    within(guard) {
      guards.add(guard);
      return () => guards.delete(guard);
    },
    idle: turns.idle,
    neverBlock() {
      sqlite.pragma('busy_timeout = 0');
      patience = lockPatience;
    },
    generation,
    audience: createAudience(sqlite),
    requireInPlace,
    close: () => sqlite.close(),
    [Symbol.dispose]: () => sqlite.close(),
  };
}
