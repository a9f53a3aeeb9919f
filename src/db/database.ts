import { statSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { CommandError } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
import { type Audience, createAudience } from './audience.ts';
import {
  attachCatalog,
  attachedName,
  type ConnectOptions,
  connect,
  detachCatalog,
  exchangeAttached,
  inspectCatalog,
  leaveAtRest,
  leaveNoLog,
  setPragmas,
} from './connect.ts';
import { createDatabaseFile, initialize } from './create.ts';
import { databaseMoved } from './faults.ts';
import { createGeneration } from './generation.ts';
import type { Kind } from './header.ts';
import { createTurns, lockPatience } from './turns.ts';

/**
 * An open database: the driver, Drizzle over it, and the few helpers that every user needs. It is the catalog alone, or users'
 * data with the catalog attached: then every table is found by its name, and the catalog is read alone.
 */
export interface Database extends Disposable {
  sqlite: Sqlite.Database;
  orm: BetterSQLite3Database;
  /** The name that the file of a kind has for the connection; both are in one where there are no files. */
  names: Record<Kind, string>;
  /** Runs a function inside one read transaction: all its queries see one state of the catalog. */
  read<T>(work: () => T): T;
  /**
   * Runs a function inside one transaction that has the lock for writing from its beginning, after the writes that were asked
   * for before. Rejects with SQLITE_BUSY where another process holds that lock for too long (see `neverBlock`).
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
  /** A number that is another one once the catalog or a mapping decision changed, also by another process. */
  generation(): number;
  /**
   * Attaches the file that has the catalog's name now, if it is another than before (rule D23), or was written over in place.
   * Gives whether it is another. Throws `CommandError` for one that cannot be served; then the former one is served on.
   */
  renewCatalog(): boolean;
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

interface OpenOptions extends ConnectOptions {
  /** Make the catalog when it is missing. */
  create?: boolean;
}

/** The two files, as the configuration names them (rule D23.1). */
export interface Files {
  db: string;
  usersDb: string;
}

const memory = ':memory:';

/**
 * Opens the catalog alone (or one in memory, with users' data in it), checks that it is ours, of this schema and whole enough
 * to use, and sets the pragmas of rule S2.2. Throws `CommandError` with one line for the operator; what is refused is left as it was.
 */
export function openCatalog(file: string, options: OpenOptions = {}): Database {
  if (file === memory) return openInMemory();
  if (!options.create) requireDatabaseFile(file);
  else if (!isThere(file)) createDatabaseFile(file, 'catalog');
  return wrap(connect(file, 'catalog', options), file, null, options);
}

/** Opens users' data, which is made when it is missing, with the catalog attached. Throws as `openCatalog`. */
export function openDatabase({ db, usersDb }: Files, options: OpenOptions = {}): Database {
  if (db === memory) return openInMemory();
  // Both are looked at before one is made or written to.
  if (isThere(db)) inspectCatalog(db, options);
  else if (!options.create) requireDatabaseFile(db);
  const sqlite = connectUsers(usersDb, options);
  try {
    if (!isThere(db)) createDatabaseFile(db, 'catalog');
    attachCatalog(sqlite, db, options);
  } catch (error) {
    sqlite.close();
    throw error;
  }
  return wrap(sqlite, usersDb, db, options);
}

function connectUsers(usersDb: string, options: OpenOptions): Sqlite.Database {
  if (usersDb === memory) {
    const sqlite = new Sqlite(memory);
    initialize(sqlite, 'users');
    return sqlite;
  }
  if (!isThere(usersDb)) createDatabaseFile(usersDb, 'users');
  return connect(usersDb, 'users', options);
}

function openInMemory(): Database {
  const sqlite = new Sqlite(memory);
  initialize(sqlite, 'catalog');
  sqlite.pragma('user_version = 0');
  initialize(sqlite, 'users');
  setPragmas(sqlite);
  return wrap(sqlite, memory, null);
}

/** Opens a copy in memory of what was opened in memory, from what its driver serialized. */
export function openSerialized(bytes: Buffer): Database {
  const sqlite = new Sqlite(bytes);
  setPragmas(sqlite);
  return wrap(sqlite, memory, null);
}

/** Refuses a name that no file bears, so that a slip of the pen makes nothing. Throws `CommandError`. */
export function requireDatabaseFile(file: string): void {
  if (!isThere(file))
    throw new CommandError(
      `there is no database at ${file}: create one with "gapstone import", or restore a backup with "gapstone restore"`,
    );
}

/** What tells a file from another that has its name, and whether its content was written; undefined where there is none. */
function lookAt(file: string): { file: string; content: string } | undefined {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat && { file: `${stat.dev} ${stat.ino}`, content: `${stat.size} ${stat.mtimeNs}` };
}

function wrap(
  sqlite: Sqlite.Database,
  file: string,
  catalog: string | null,
  { asItIs }: ConnectOptions = {},
): Database {
  const hasUsers = catalog !== null || file === memory;
  const opened = lookAt(file);
  let attached = lookAt(catalog ?? file);
  let seen = attached;
  const lockOwn = catalog === null ? null : sqlite.prepare('UPDATE clock SET latest = latest WHERE 0');
  const guards = new Set<WriteGuard>();
  const turns = createTurns();
  let patience = 0;
  const generation = createGeneration(sqlite, hasUsers, catalog !== null);

  const isInPlace = () => file === memory || lookAt(file)?.file === opened?.file;

  function requireInPlace(): void {
    if (!isInPlace()) throw databaseMoved();
  }

  function close(): void {
    if (!sqlite.open) return;
    // Under the name of one that was exchanged lies the log of another.
    const isOurs = catalog === null ? isInPlace() : lookAt(catalog)?.file === attached?.file;
    if (!asItIs && isOurs && (file !== memory || catalog !== null))
      leaveAtRest(sqlite, catalog === null ? 'main' : attachedName);
    sqlite.close();
  }

  return {
    sqlite,
    orm: drizzle(sqlite),
    names: { catalog: catalog === null ? 'main' : attachedName, users: 'main' },
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
        if (lockOwn === null) return sqlite.transaction(whole).immediate();
        // BEGIN IMMEDIATE would take the lock of the catalog too, and wait for an importer.
        const locked = () => {
          lockOwn.run();
          return whole();
        };
        return sqlite.transaction(locked).deferred();
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
    generation: generation.current,
    renewCatalog() {
      if (catalog === null || sqlite.inTransaction) return false;
      const before = seen;
      seen = lookAt(catalog);
      // One that was removed is served until there is another.
      if (seen === undefined) return false;
      const isOther = seen.file !== attached?.file;
      // Written over in place, SQLite would go on with pages that it remembers. Whoever writes comes to an end first.
      if (!isOther && (seen.content === attached?.content || seen.content !== before?.content)) return false;
      if (isOther) leaveNoLog(sqlite, catalog);
      inspectCatalog(catalog, { busyTimeout: 0 });
      const options = { asItIs: asItIs ?? false };
      if (isOther) exchangeAttached(sqlite, catalog, options);
      else {
        detachCatalog(sqlite);
        attachCatalog(sqlite, catalog, options);
      }
      // To attach it may have written to it.
      const now = lookAt(catalog);
      attached = now?.file === seen.file ? now : seen;
      generation.exchanged();
      return isOther;
    },
    audience: createAudience(sqlite),
    requireInPlace,
    close,
    [Symbol.dispose]: close,
  };
}
