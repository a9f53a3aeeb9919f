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
  /** How long a lock held by another process is waited for synchronously, in milliseconds. */
  busyTimeout?: number;
  /** Look at every page before a file is used that was not closed (a log is waiting beside it). */
  checkUnclean?: boolean;
  /** Take a file of an older schema. */
  anySchema?: boolean;
  /** Leave the journal mode as it is, for that is a byte of the file. */
  asItIs?: boolean;
}

/** The name that the catalog has for a connection whose own file is users' data. */
export const attachedName = 'catalog';

/** Opens a connection to a file of ours, to be written. Throws `CommandError`; what is refused is left as it was. */
export function connect(file: string, kind: Kind, options: ConnectOptions = {}): Sqlite.Database {
  const hasLog = lookAtFile(file, kind, refuseReadOnly);
  if (!options.asItIs) clearForeignLog(file);
  const timeout = options.busyTimeout ?? 5000;
  // Closing a connection writes a waiting log into the file: one that cannot write has to look first.
  if (hasLog) connectReadOnly(file, kind, options).close();
  const sqlite = attempt(file, { timeout }, (each) => {
    inspectFile(file, kind, each, 'schema', options);
    setPragmas(each, options);
  });
  connections.set(sqlite, [identityOf(file)]);
  return sqlite;
}

/** Refuses a catalog that cannot be read as one of ours; it may lie where nothing can be written. Throws `CommandError`. */
export function inspectCatalog(file: string, options: ConnectOptions = {}): void {
  connectReadOnly(file, 'catalog', options).close();
}

/** Attaches a catalog, to be read. Throws `CommandError`. */
export function attachCatalog(
  sqlite: Sqlite.Database,
  file: string,
  { asItIs }: ConnectOptions = {},
  name = attachedName,
): void {
  try {
    if (!asItIs) clearForeignLog(file);
    sqlite.prepare(`ATTACH ? AS ${name}`).run(file);
    // An importer and the readers then never wait for each other. A file that cannot be written has no importer.
    try {
      if (!asItIs) sqlite.pragma(`${name}.journal_mode = WAL`);
    } catch (error) {
      // What is exchanged is tried again: without a log an importer would hinder readers for good.
      if (!takesNoWrites(error) || (name !== attachedName && storageFault(error) === 'busy')) throw error;
    }
    sqlite.pragma(`${name}.cache_size = -32768`);
    // From the first read on SQLite's own lock tells others that it is in use, and nobody ends the log meanwhile.
    sqlite.prepare(`SELECT generation FROM ${name}.catalog`).get();
  } catch (error) {
    detach(sqlite, name);
    throw asOpenError(file, error as Error);
  }
  connections.set(sqlite, [...(connections.get(sqlite) ?? []), identityOf(file)]);
}

/**
 * Attaches another catalog in the place of the one that is attached. It has a second name before the first is given up: where
 * it cannot be had now, the former one stays. Throws `CommandError`.
 */
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

/** Detaches the catalog, if one is attached. */
export function detachCatalog(sqlite: Sqlite.Database): void {
  detach(sqlite, attachedName);
  connections.set(sqlite, connections.get(sqlite)?.slice(0, 1) ?? []);
}

function detach(sqlite: Sqlite.Database, name: string): void {
  const attached = sqlite.pragma('database_list') as { name: string }[];
  if (attached.some((each) => each.name === name)) sqlite.exec(`DETACH ${name}`);
}

/**
 * Leaves a catalog that nobody else has open as one file without a log, which can be read where nothing can be written, and
 * be carried away. `schema` is its name for the connection.
 */
export function leaveAtRest(sqlite: Sqlite.Database, schema: string): void {
  sqlite.pragma('busy_timeout = 0');
  try {
    sqlite.pragma(`${schema}.journal_mode = DELETE`);
  } catch {
    // Somebody else reads it, or it cannot be written: the log is theirs.
  }
}

/**
 * Empties the log of the attached catalog, before another file that has its name is opened: SQLite finds a log by its name, and
 * would write this one's into that file. Throws `CommandError` where the log has content and cannot be emptied.
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

/** Which file has a name now; null where there is none. */
export function identityOf(file: string): string | null {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.dev} ${stat.ino}` : null;
}

/** The files that each connection of this process has open. Closing any descriptor of a file drops the POSIX locks that SQLite holds on it. */
const connections = new Map<Sqlite.Database, (string | null)[]>();

function isOpenHere(file: string): boolean {
  for (const sqlite of connections.keys()) if (!sqlite.open) connections.delete(sqlite);
  const identity = identityOf(file);
  return identity !== null && [...connections.values()].flat().includes(identity);
}

/**
 * Refuses what SQLite need not open to be refused; gives whether a log with content lies beside the file. Of a file that
 * this process has open, SQLite alone may open and close descriptors.
 */
function lookAtFile(file: string, expected: Kind, refuse: (file: string) => void = () => undefined): boolean {
  if (isOpenHere(file)) return false;
  const { kind, userVersion, hasLog } = readHeader(file, expected);
  // SQLite would read it as this file's.
  if (hasLog && !keepsLog(file))
    throw new CommandError(
      `beside ${file} lies the log of another file that had this name: remove ${file}-wal, or restore a backup`,
    );
  refuseNewer(file, kind, userVersion);
  refuse(file);
  return hasLog;
}

/** Whoever is about to begin a log beside a file sees to it that there is no other's. */
function clearForeignLog(file: string): void {
  if (!isOpenHere(file)) removeForeignLog(file);
}

/** Opens a connection to a file of ours that can only read. Throws `CommandError`. */
export function connectReadOnly(file: string, kind: Kind, options: ConnectOptions = {}): Sqlite.Database {
  const hasLog = lookAtFile(file, kind);
  const how = hasLog && options.checkUnclean ? 'quick' : 'schema';
  const timeout = options.busyTimeout ?? 5000;
  // One that may only read leaves an empty log behind, and cannot undo what a kill left half done; one that may write would
  // write a waiting log into the file when it is closed.
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
  // SQLite says that it was refused, but not whose the folder is.
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
  // The container's root is read-only: nothing may be written but beside the database.
  sqlite.pragma('temp_store = MEMORY');
}
