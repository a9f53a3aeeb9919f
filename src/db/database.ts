import { statSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3';
import { CommandError } from '../base/errors.ts';
import { databaseMoved } from '../base/faults.ts';
import { isThere } from '../base/files.ts';
import { createTurns, lockPatience } from '../base/turns.ts';
import {
  attachCatalog,
  attachedName,
  type ConnectOptions,
  connect,
  connectReadOnly,
  createDatabaseFile,
  leaveAtRest,
  setPragmas,
} from './connect.ts';
import { initialize, type Kind } from './schema.ts';

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
  /**
   * A text that changes when the catalog or a mapping decision changes, also by another process. It is equal on all
   * connections that read the same state.
   */
  catalogVersion(): string;
  audience: Audience;
  /**
   * Throws SQLITE_READONLY_DBMOVED when the open file was moved, replaced or removed: SQLite does not check once it has
   * a log, and a write would be lost with the old file. `write` checks first.
   */
  requireInPlace(): void;
  close(): void;
}

/** Tracks whom writes to users' data affect, so that cached answers of others stay valid. */
interface Audience {
  /** Records a write that affects a person and, unless null, all members and tokens of an organization. */
  concern(subject: string, organization: string | null): void;
  /** A text that changes with every write that affects this viewer, and with every write of another process. */
  version(subject: string | null, organization: string | null): string;
}

/** Wraps the work of a write inside its transaction. SQLITE_BUSY before the work retries it, unless `isLast`. */
type WriteGuard = <T>(work: () => T, isLast: boolean) => T;

interface OpenOptions extends ConnectOptions {
  create?: boolean;
}

/** The two files of the configuration (rule D23.1). */
export interface Files {
  db: string;
  usersDb: string;
}

export const memory = ':memory:';

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
  if (isThere(db)) connectReadOnly(db, 'catalog', options).close();
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

/** Opens both files for reading in another thread of the process that has them open with `openDatabase`. */
export function openReader({ db, usersDb }: Files): Database {
  const options = { asItIs: true };
  const sqlite = new Sqlite(usersDb, { readonly: true, fileMustExist: true });
  setPragmas(sqlite, options);
  attachCatalog(sqlite, db, options);
  // The system has the pages too: a larger cache of each worker saves no time (measured with searches).
  sqlite.pragma(`${attachedName}.cache_size = -8192`);
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

/** Device and inode of a file; undefined where there is none, and in memory. */
function identityOf(file: string): string | undefined {
  if (file === memory) return undefined;
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.dev} ${stat.ino}`;
}

function wrap(
  sqlite: Sqlite.Database,
  file: string,
  catalog: string | null,
  { asItIs = false }: ConnectOptions = {},
): Database {
  const catalogFile = catalog ?? file;
  const opened = { file: identityOf(file), catalogFile: identityOf(catalogFile) };
  const changes = catalog === null && file !== memory ? "''" : '(SELECT changes FROM mapping_changes)';
  const version = sqlite
    .prepare<[], string>(`SELECT json_array(generation, changed_at, digest, ${changes}) FROM catalog`)
    .pluck();

  // Made once: to make one takes as long as to run it.
  const readTransaction = sqlite.transaction((work: () => unknown) => work()).deferred;

  function requireInPlace(): void {
    if (identityOf(file) !== opened.file) throw databaseMoved();
  }

  function close(): void {
    if (!sqlite.open) return;
    // If the file was moved, the log beside that name belongs to another one.
    const isInPlace = file !== memory && identityOf(catalogFile) === opened.catalogFile;
    if (!asItIs && isInPlace) leaveAtRest(sqlite, catalog === null ? 'main' : attachedName);
    sqlite.close();
  }

  return {
    sqlite,
    orm: drizzle(sqlite, { casing: 'snake_case' }),
    names: { catalog: catalog === null ? 'main' : attachedName, users: 'main' },
    read: (work) => (sqlite.inTransaction ? work() : (readTransaction(work) as never)),
    ...createWrites(sqlite, catalog !== null, requireInPlace),
    catalogVersion: () => version.get()!,
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

const mostRemembered = 50_000;

function createAudience(sqlite: Sqlite.Database): Audience {
  const otherWrites = sqlite.prepare('PRAGMA data_version').pluck();
  const versions = new Map<string, number>();
  let writes = 0;
  let everybody = 0;

  function note(key: string): void {
    if (versions.size >= mostRemembered) {
      versions.clear();
      everybody = writes;
    }
    versions.set(key, ++writes);
  }

  return {
    concern(subject, organization) {
      note(`user ${subject}`);
      if (organization !== null) note(`organization ${organization}`);
    },
    version: (subject, organization) =>
      `${otherWrites.get()} ${everybody} ${versions.get(`user ${subject}`) ?? 0} ${versions.get(`organization ${organization}`) ?? 0}`,
  };
}
