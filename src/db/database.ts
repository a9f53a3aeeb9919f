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
 * An open database: the driver, Drizzle over it, and a few helpers. It is the catalog alone, or users' data with the
 * catalog attached: then queries find every table by its plain name, and the catalog is only read.
 */
export interface Database extends Disposable {
  sqlite: Sqlite.Database;
  orm: BetterSQLite3Database;
  /** The schema name of each kind on the connection; in memory both are in one database. */
  names: Record<Kind, string>;
  /** Runs a function inside one read transaction, so that all its queries see one state. */
  read<T>(work: () => T): T;
  /** Queues a function, which runs with the write lock. Rejects with SQLITE_BUSY after the patience of `neverBlock`. */
  write<T>(work: () => T): Promise<T>;
  /**
   * Runs a function with the write lock at once, outside of the queue and of its guards. Throws SQLITE_BUSY where another
   * process writes. Like `write` it locks users' data alone.
   */
  writeNow<T>(work: () => T): T;
  /** Runs every later `write` inside `guard`, which can throw to undo it. Gives a function that ends this. */
  within(guard: WriteGuard): () => void;
  /** Waits until no write is queued or running. */
  idle(): Promise<void>;
  /**
   * Never waits for a lock synchronously: retries a write for `lockPatience` while the event loop runs (rule D23.3).
   */
  neverBlock(): void;
  /** A number that changes when the catalog or a mapping decision changes, also by another process. */
  generation(): number;
  /**
   * Follows the catalog file when it was replaced (rule D23) or overwritten. Gives whether it was replaced. Throws
   * `CommandError` for a file that cannot be served, and keeps the former one.
   */
  renewCatalog(): boolean;
  audience: Audience;
  /**
   * Throws SQLITE_READONLY_DBMOVED when the open file was moved, replaced or removed: SQLite does not check once it has
   * a log, and a write would be lost with the old file. `write` checks first.
   */
  requireInPlace(): void;
  close(): void;
}

/** Wraps the work of a write inside its transaction. SQLITE_BUSY before the work retries it, unless `isLast`. */
export type WriteGuard = <T>(work: () => T, isLast: boolean) => T;

interface OpenOptions extends ConnectOptions {
  create?: boolean;
}

/** The two files of the configuration (rule D23.1). */
export interface Files {
  db: string;
  usersDb: string;
}

const memory = ':memory:';

/**
 * Opens the catalog alone (in memory: with users' data), and sets the pragmas of rule S2.2. Throws `CommandError`, and
 * then the file is unchanged.
 */
export function openCatalog(file: string, options: OpenOptions = {}): Database {
  if (file === memory) return openInMemory();
  if (!options.create) requireDatabaseFile(file);
  else if (!isThere(file)) createDatabaseFile(file, 'catalog');
  return wrap(connect(file, 'catalog', options), file, null, options);
}

/** Opens users' data, creating it when it is missing, with the catalog attached. Throws as `openCatalog`. */
export function openDatabase({ db, usersDb }: Files, options: OpenOptions = {}): Database {
  if (db === memory) return openInMemory();
  // Check the catalog before users' data is created or written.
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

/** Opens a copy of an in-memory database from its serialized bytes. */
export function openSerialized(bytes: Buffer): Database {
  const sqlite = new Sqlite(bytes);
  setPragmas(sqlite);
  return wrap(sqlite, memory, null);
}

/** Throws `CommandError` for a missing file, so that a typo creates no database. */
export function requireDatabaseFile(file: string): void {
  if (!isThere(file))
    throw new CommandError(
      `there is no database at ${file}: create one with "gapstone import", or restore a backup with "gapstone restore"`,
    );
}

/** Identity of a file (device and inode), and size and time of its content; undefined where there is none. */
function lookAt(file: string): { file: string; content: string } | undefined {
  if (file === ':memory:') return undefined;
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat && { file: `${stat.dev} ${stat.ino}`, content: `${stat.size} ${stat.mtimeNs}` };
}

function wrap(
  sqlite: Sqlite.Database,
  file: string,
  catalog: string | null,
  { asItIs = false }: ConnectOptions = {},
): Database {
  const opened = lookAt(file);
  const isInPlace = () => file === memory || lookAt(file)?.file === opened?.file;
  const generation = createGeneration(sqlite, catalog !== null || file === memory, catalog !== null);
  const attached =
    catalog === null ? null : createAttachedCatalog(sqlite, catalog, { asItIs }, generation.exchanged);

  // Made once: to make one takes as long as to run it.
  const readTransaction = sqlite.transaction((work: () => unknown) => work()).deferred;

  function requireInPlace(): void {
    if (!isInPlace()) throw databaseMoved();
  }

  function close(): void {
    if (!sqlite.open) return;
    // If the file was replaced, the log beside that name belongs to the new file.
    const isOurs = attached === null ? file !== memory && isInPlace() : attached.isInPlace();
    if (!asItIs && isOurs) leaveAtRest(sqlite, catalog === null ? 'main' : attachedName);
    sqlite.close();
  }

  return {
    sqlite,
    orm: drizzle(sqlite),
    names: { catalog: catalog === null ? 'main' : attachedName, users: 'main' },
    read: (work) =>
      sqlite.inTransaction ? work() : generation.reading(() => readTransaction(work) as never),
    ...createWrites(sqlite, catalog !== null, requireInPlace),
    generation: generation.current,
    renewCatalog: () => attached?.renew() ?? false,
    audience: createAudience(sqlite),
    requireInPlace,
    close,
    [Symbol.dispose]: close,
  };
}

/** The queue of writes; with an attached catalog a write locks users' data alone. */
function createWrites(
  sqlite: Sqlite.Database,
  isAttached: boolean,
  requireInPlace: () => void,
): Pick<Database, 'write' | 'writeNow' | 'within' | 'idle' | 'neverBlock'> {
  // BEGIN IMMEDIATE would lock the catalog too, and wait for an importer.
  const lockOwn = isAttached ? sqlite.prepare('UPDATE clock SET latest = latest WHERE 0') : null;
  const guards = new Set<WriteGuard>();
  const turns = createTurns();
  let patience = 0;

  function writeNow<T>(work: () => T): T {
    if (lockOwn === null) return sqlite.transaction(work).immediate() as T;
    const locked = () => {
      lockOwn.run();
      return work();
    };
    return sqlite.transaction(locked).deferred() as T;
  }

  return {
    writeNow,
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
        return writeNow(whole);
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
  };
}

/** Follows the attached catalog when its file is replaced or overwritten. */
function createAttachedCatalog(
  sqlite: Sqlite.Database,
  catalog: string,
  options: ConnectOptions,
  exchanged: () => void,
) {
  let attached = lookAt(catalog);
  let seen = attached;
  return {
    isInPlace: () => lookAt(catalog)?.file === attached?.file,
    renew(): boolean {
      if (sqlite.inTransaction) return false;
      const before = seen;
      seen = lookAt(catalog);
      // A removed catalog is served until there is a new one.
      if (seen === undefined) return false;
      const isOther = seen.file !== attached?.file;
      // SQLite's cached pages are stale when the file was overwritten in place. Two equal looks mean that the writer
      // has finished.
      if (!isOther && (seen.content === attached?.content || seen.content !== before?.content)) return false;
      if (isOther) leaveNoLog(sqlite, catalog);
      inspectCatalog(catalog, { busyTimeout: 0 });
      if (isOther) exchangeAttached(sqlite, catalog, options);
      else {
        detachCatalog(sqlite);
        attachCatalog(sqlite, catalog, options);
      }
      // Attaching may have changed the file, as when it turned on WAL.
      const now = lookAt(catalog);
      attached = now?.file === seen.file ? now : seen;
      exchanged();
      return isOther;
    },
  };
}
