import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { CommandError } from '../base/errors.ts';
import { rightsAround } from '../base/files.ts';
import { storageFault, takesNoWrites } from './faults.ts';
import { removeForeignLog } from './foreign-log.ts';
import { type Kind, keepsLog, logBytes, readHeader, refuseReadOnly } from './header.ts';
import { listMigrations } from './migrate.ts';
import { damaged, inspect, refuseNewer } from './schema-check.ts';

export interface ConnectOptions {
  /** How long to wait synchronously for a lock of another process, in milliseconds. */
  busyTimeout?: number;
  /** Check every page of a file that was not closed cleanly (it has a log beside it). */
  checkUnclean?: boolean;
  /** Accept a file of an older schema. */
  anySchema?: boolean;
  /** Leave the journal mode unchanged, because changing it changes a byte of the file. */
  asItIs?: boolean;
}

/** The schema name of the catalog on a connection to users' data. */
export const attachedName = 'catalog';

/** A connection that its scope can close (`using`). */
export type Connection = Sqlite.Database & Disposable;

/** Opens a read-write connection to a Gapstone file. Throws `CommandError`, and then the file is unchanged. */
export function connect(file: string, kind: Kind, options: ConnectOptions = {}): Connection {
  const hasLog = lookAtFile(file, kind, refuseReadOnly);
  if (!options.asItIs) clearForeignLog(file);
  const timeout = options.busyTimeout ?? 5000;
  // Closing a read-write connection writes the log into the file, so check through a read-only one first.
  if (hasLog) connectReadOnly(file, kind, options).close();
  const sqlite = attempt(file, { timeout }, (each) => {
    inspectFile(file, kind, each, 'schema', options);
    setPragmas(each, options);
  });
  connections.set(sqlite, [identityOf(file)]);
  return sqlite;
}

/** Checks that a file is a readable Gapstone catalog; it may be on a read-only disk. Throws `CommandError`. */
export function inspectCatalog(file: string, options: ConnectOptions = {}): void {
  connectReadOnly(file, 'catalog', options).close();
}

/** Attaches a catalog for reading. Throws `CommandError`. */
export function attachCatalog(
  sqlite: Sqlite.Database,
  file: string,
  { asItIs }: ConnectOptions = {},
  name = attachedName,
): void {
  try {
    if (!asItIs) clearForeignLog(file);
    sqlite.prepare(`ATTACH ? AS ${name}`).run(file);
    // With WAL an importer and the readers never wait for each other. A read-only file has no importer.
    try {
      if (!asItIs) sqlite.pragma(`${name}.journal_mode = WAL`);
    } catch (error) {
      // An exchange is retried when busy: without WAL an importer would block readers for good.
      if (!takesNoWrites(error) || (name !== attachedName && storageFault(error) === 'busy')) throw error;
    }
    sqlite.pragma(`${name}.cache_size = -32768`);
    // From the first read on SQLite's shared lock is held, so that no other process removes the log.
    sqlite.prepare(`SELECT generation FROM ${name}.catalog`).get();
  } catch (error) {
    detach(sqlite, name);
    throw asOpenError(file, error as Error);
  }
  connections.set(sqlite, [...(connections.get(sqlite) ?? []), identityOf(file)]);
}

/** Replaces the attached catalog; the former one stays when the new one cannot be opened. Throws `CommandError`. */
export function exchangeAttached(sqlite: Sqlite.Database, file: string, options: ConnectOptions): void {
  const second = 'next_catalog';
  attachCatalog(sqlite, file, options, second);
  detach(sqlite, attachedName);
  try {
    attachCatalog(sqlite, file, options);
  } finally {
    detach(sqlite, second);
    connections.set(sqlite, [...(connections.get(sqlite)?.slice(0, 1) ?? []), identityOf(file)]);
  }
}

export function detachCatalog(sqlite: Sqlite.Database): void {
  detach(sqlite, attachedName);
  connections.set(sqlite, connections.get(sqlite)?.slice(0, 1) ?? []);
}

function detach(sqlite: Sqlite.Database, name: string): void {
  const attached = sqlite.pragma('database_list') as { name: string }[];
  if (attached.some((each) => each.name === name)) sqlite.exec(`DETACH ${name}`);
}

/** Removes the log of a catalog that no other connection has open. `schema` is its name on the connection. */
export function leaveAtRest(sqlite: Sqlite.Database, schema: string): void {
  sqlite.pragma('busy_timeout = 0');
  try {
    sqlite.pragma(`${schema}.journal_mode = DELETE`);
  } catch {
    // Another process reads it, or it is read-only: keep the log.
  }
}

/**
 * Empties the log of the attached catalog before another file of its name is opened: SQLite finds a log by name, and
 * would write this one into that file. Throws `CommandError` where the log cannot be emptied.
 */
export function leaveNoLog(sqlite: Sqlite.Database, file: string): void {
  try {
    const [result] = sqlite.pragma(`${attachedName}.wal_checkpoint(TRUNCATE)`) as { busy: number }[];
    if (result?.busy === 0) return;
  } catch (error) {
    if (storageFault(error) === null) throw error;
  }
  if (logBytes(file) > 0)
    throw new CommandError(`${file} has a log beside it, which may be that of the former catalog`);
}

/** Device and inode of a file; null where there is none, and for a database in memory. */
export function identityOf(file: string): string | null {
  if (file === ':memory:') return null;
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.dev} ${stat.ino}` : null;
}

/** The files that each connection has open. Closing any descriptor of a file drops SQLite's POSIX locks on it. */
const connections = new Map<Sqlite.Database, (string | null)[]>();

function isOpenHere(file: string): boolean {
  for (const sqlite of connections.keys()) if (!sqlite.open) connections.delete(sqlite);
  const identity = identityOf(file);
  return identity !== null && [...connections.values()].flat().includes(identity);
}

/**
 * Checks the header; gives whether a log with content is beside the file. Skips a file that this process has open:
 * reading it would drop SQLite's locks.
 */
function lookAtFile(file: string, expected: Kind, refuse: (file: string) => void = () => undefined): boolean {
  if (isOpenHere(file)) return false;
  const { kind, userVersion, hasLog } = readHeader(file, expected);
  // SQLite would apply that log to this file.
  if (hasLog && !keepsLog(file))
    throw new CommandError(
      `beside ${file} lies the log of another file that had this name: remove ${file}-wal, or restore a backup`,
    );
  refuseNewer(file, kind, userVersion);
  refuse(file);
  return hasLog;
}

function clearForeignLog(file: string): void {
  if (!isOpenHere(file)) removeForeignLog(file);
}

/** Opens a read-only connection to a Gapstone file. Throws `CommandError`. */
export function connectReadOnly(file: string, kind: Kind, options: ConnectOptions = {}): Connection {
  const hasLog = lookAtFile(file, kind);
  const how = hasLog && options.checkUnclean ? 'quick' : 'schema';
  const timeout = options.busyTimeout ?? 5000;
  // SQLite's readonly mode leaves an empty log behind and cannot roll back what a kill interrupted, so it is used only
  // where a log is waiting, which a writable connection would write into the file on close.
  const sqlite = attempt(file, { timeout, readonly: hasLog }, (each) => {
    each.pragma('query_only = ON');
    inspectFile(file, kind, each, how, options);
  });
  connections.set(sqlite, [identityOf(file)]);
  return sqlite;
}

function inspectFile(
  file: string,
  kind: Kind,
  sqlite: Sqlite.Database,
  how: 'schema' | 'quick',
  { anySchema = false }: ConnectOptions,
): void {
  const { schema } = inspect(file, sqlite, how, kind);
  const newest = listMigrations(kind).length;
  if (!anySchema && schema < newest)
    throw new CommandError(
      `${file} has schema ${schema}, this version of Gapstone needs ${newest}: start "gapstone serve" once to upgrade it`,
    );
}

function attempt(
  file: string,
  options: Sqlite.Options,
  prepare: (sqlite: Sqlite.Database) => void,
): Connection {
  let sqlite: Sqlite.Database | undefined;
  try {
    const opened = new Sqlite(file, { ...options, fileMustExist: true });
    sqlite = opened;
    prepare(opened);
    return Object.assign(opened, { [Symbol.dispose]: () => void opened.close() });
  } catch (error) {
    sqlite?.close();
    throw asOpenError(file, error as Error);
  }
}

function asOpenError(file: string, error: Error): Error {
  if (error instanceof CommandError) return error;
  // SQLite reports a damaged schema declaration, as of a view, as wrong SQL, not as corruption.
  if ((error as { code?: unknown }).code === 'SQLITE_ERROR') return damaged(file, error.message);
  // SQLite's message does not name the owner of the folder.
  const isRefused = /^SQLITE_(READONLY|CANTOPEN)/.test(String((error as { code?: unknown }).code));
  const rights = isRefused ? rightsAround(dirname(file), { code: 'EACCES' }) : '';
  switch (storageFault(error)) {
    case 'damaged':
      return damaged(file, error.message);
    case 'busy':
      return new CommandError(`${file} is locked: another process is using it`);
    case 'readonly':
    case 'io':
      return new CommandError(
        `${file} cannot be opened (${error.message}): its folder must be writable, because the log is written there${rights}`,
      );
    default:
      return new CommandError(`${file} cannot be opened: ${error.message}`);
  }
}

/** The pragmas of rule S2.2. */
export function setPragmas(sqlite: Sqlite.Database, { asItIs }: ConnectOptions = {}): void {
  if (!asItIs) sqlite.pragma('journal_mode = WAL');
  sqlite.pragma('synchronous = FULL');
  sqlite.pragma('foreign_keys = ON');
  sqlite.pragma('trusted_schema = OFF');
  sqlite.pragma('cell_size_check = ON');
  sqlite.pragma('journal_size_limit = 67108864');
  sqlite.pragma('wal_autocheckpoint = 1000');
  sqlite.pragma('cache_size = -32768');
  // The container's root is read-only: SQLite can write only beside the database.
  sqlite.pragma('temp_store = MEMORY');
}
