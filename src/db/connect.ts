import { accessSync, chmodSync, constants, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { CommandError } from '../base/errors.ts';
import { storageFault, whenWritable } from '../base/faults.ts';
import {
  inPrivateFolder,
  isThere,
  publishNew,
  realFile,
  rightsAround,
  statIfThere,
  syncPath,
  whyRefused,
} from '../base/files.ts';
import { requireFolder } from '../base/installation.ts';
import { initialize, type Kind, newestSchema } from './schema.ts';
import { damaged, inspect } from './schema-check.ts';

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

const hint = 'restore a backup with "gapstone restore", or move the file away to start with a new database';

/** The size of the write-ahead log beside a file: with a log that has content it is in use, or was not closed. */
export function logBytes(file: string): number {
  return statSync(`${realFile(file)}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** Opens a read-write connection to a Gapstone file. Throws `CommandError`, and then the file is unchanged. */
export function connect(file: string, kind: Kind, options: ConnectOptions = {}): Connection {
  // Closing a read-write connection writes the log into the file, so check through a read-only one first.
  if (logBytes(file) > 0) connectReadOnly(file, kind, options).close();
  requireAccess(file, 'written');
  return open(file, options, false, (sqlite) => {
    inspectFile(file, kind, sqlite, 'schema', options);
    setPragmas(sqlite, options);
  });
}

/** Opens a read-only connection to a Gapstone file, which may be on a read-only disk. Throws `CommandError`. */
export function connectReadOnly(file: string, kind: Kind, options: ConnectOptions = {}): Connection {
  const hasLog = logBytes(file) > 0;
  // SQLite's readonly mode leaves an empty log behind and cannot roll back what a kill interrupted, so it is used only
  // where a log is waiting, which a writable connection would write into the file on close.
  return open(file, options, hasLog, (sqlite) => {
    sqlite.pragma('query_only = ON');
    inspectFile(file, kind, sqlite, hasLog && options.checkUnclean ? 'quick' : 'schema', options);
  });
}

/** The application id of a file; null where it is no database. Throws errors of SQLite. */
export function applicationIdOf(file: string): number | null {
  if (statSync(file).size === 0) return null;
  const sqlite = new Sqlite(file, { fileMustExist: true, readonly: logBytes(file) > 0 });
  try {
    return sqlite.pragma('application_id', { simple: true }) as number;
  } catch (error) {
    if ((error as { code?: string }).code !== 'SQLITE_NOTADB') throw error;
    return null;
  } finally {
    sqlite.close();
  }
}

/** Attaches a catalog for reading. Throws `CommandError`. */
export function attachCatalog(
  sqlite: Sqlite.Database,
  file: string,
  { asItIs = false }: ConnectOptions = {},
): void {
  try {
    sqlite.prepare(`ATTACH ? AS ${attachedName}`).run(file);
    // With WAL an importer and the readers never wait for each other. A read-only file has no importer.
    if (!asItIs) whenWritable(() => sqlite.pragma(`${attachedName}.journal_mode = WAL`));
    sqlite.pragma(`${attachedName}.cache_size = -32768`);
    // From the first read on SQLite's shared lock is held, so that no other process removes the log.
    sqlite.prepare(`SELECT generation FROM ${attachedName}.catalog`).get();
  } catch (error) {
    throw asOpenError(file, error as Error);
  }
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

/** Creates a whole database file, unless another process does so at the same time. Throws `CommandError`. */
export function createDatabaseFile(file: string, kind: Kind): void {
  requireFolder(file);
  try {
    inPrivateFolder(file, (temporary) => {
      const sqlite = new Sqlite(temporary);
      try {
        initialize(sqlite, kind);
        sqlite.pragma('journal_mode = WAL');
      } finally {
        sqlite.close();
      }
      // Other users may read a catalog, but not users' data.
      if (kind === 'users') chmodSync(temporary, 0o600);
      syncPath(temporary);
      // SQLite would apply the log of a removed file, which a server may still have open. The log is looked for first:
      // another process may create the file now and write its own log.
      for (const log of [`${file}-wal`, `${file}-shm`])
        if (isThere(log) && !isThere(file)) rmSync(log, { force: true });
      publishNew(temporary, file);
    });
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return;
    throw new CommandError(
      `${file} cannot be created: ${(error as Error).message}${rightsAround(file, error)}`,
    );
  }
}

function open(
  file: string,
  { busyTimeout: timeout = 5000 }: ConnectOptions,
  readonly: boolean,
  prepare: (sqlite: Sqlite.Database) => void,
): Connection {
  const stat = statIfThere(file);
  if (!stat) throw new CommandError(`there is no database at ${file}`);
  if (!stat.isFile()) throw new CommandError(`${file} is not a file`);
  requireAccess(file, 'read');
  // SQLite would take it for a new database.
  if (stat.size === 0) throw notADatabase(file);
  let sqlite: Sqlite.Database | undefined;
  try {
    sqlite = new Sqlite(file, { timeout, readonly, fileMustExist: true });
    prepare(sqlite);
    return Object.assign(sqlite, { [Symbol.dispose]: () => void sqlite!.close() });
  } catch (error) {
    sqlite?.close();
    throw asOpenError(file, error as Error);
  }
}

/** Throws `CommandError` without the permission, or where a file on a read-only disk would be written. */
export function requireAccess(file: string, verb: 'read' | 'written'): void {
  if (!isThere(file)) return;
  if (verb === 'written') requireAccess(file, 'read');
  try {
    accessSync(file, verb === 'read' ? constants.R_OK : constants.W_OK);
  } catch (error) {
    throw new CommandError(`${file} cannot be ${verb}: ${whyRefused(file, error)}`);
  }
}

function inspectFile(
  file: string,
  kind: Kind,
  sqlite: Sqlite.Database,
  how: 'schema' | 'quick',
  { anySchema = false }: ConnectOptions,
): void {
  const pragma = (name: string) => sqlite.pragma(name, { simple: true }) as number;
  const { schema } = inspect(file, sqlite, how, kind);
  const newest = newestSchema(kind);
  if (!anySchema && schema < newest)
    throw new CommandError(
      `${file} has schema ${schema}, this version of Gapstone needs ${newest}: start "gapstone serve" once to upgrade it`,
    );
  // SQLite notices only whole missing pages. With a log waiting, the file may be shorter than its header says. The size
  // is read last: whoever writes the log into the file makes it longer first.
  const expected = pragma('page_count') * pragma('page_size');
  const isLogged = logBytes(file) > 0;
  const { size } = statSync(file);
  if (size < expected && !isLogged)
    throw new CommandError(`${file} is truncated: ${size} bytes of ${expected}: ${hint}`);
}

const notADatabase = (file: string): CommandError =>
  new CommandError(`${file} is not a database (${statSync(file).size} bytes): ${hint}`);

function asOpenError(file: string, error: Error): Error {
  if (error instanceof CommandError) return error;
  const code = String((error as { code?: unknown }).code);
  if (code === 'SQLITE_NOTADB') return notADatabase(file);
  // SQLite reports a damaged schema declaration, as of a view, as wrong SQL, not as corruption.
  if (code === 'SQLITE_ERROR') return damaged(file, error.message);
  // SQLite's message does not name the owner of the folder.
  const isRefused = /^SQLITE_(READONLY|CANTOPEN)/.test(code);
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
