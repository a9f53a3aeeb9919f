import { rmSync } from 'node:fs';
import { CommandError } from '../base/errors.ts';
import { freeName, isThere } from '../base/files.ts';
import {
  type Connection,
  type ConnectOptions,
  connect,
  connectReadOnly,
  createDatabaseFile,
  requireAccess,
} from './connect.ts';
import { copyDatabase } from './copy.ts';
import { type Database, type Files, memory, openCatalog, openDatabase } from './database.ts';
import { type Kind, migrate, newestSchema, schemaVersion } from './schema.ts';

export interface UpgradeOptions extends Omit<ConnectOptions, 'anySchema'> {
  catalogAlone?: boolean;
  create?: boolean;
  say?: (line: string) => void;
  /** Called before a migration is committed; if it throws, the migration is undone. */
  onMigrate?: (from: number, to: number) => void | Promise<void>;
}

/** Opens both files as `openDatabase`, or the catalog alone, after `upgradeFiles`. Throws `CommandError`. */
export async function openUpgraded(files: Files, options: UpgradeOptions = {}): Promise<Database> {
  const { db } = files;
  await upgradeFiles(options.catalogAlone ? { db } : files, options);
  return options.catalogAlone ? openCatalog(db, options) : openDatabase(files, options);
}

/** Opens users' data alone, created or upgraded as needed (see `upgradeFiles`). Throws `CommandError`. */
export async function openUsersUpgraded(usersDb: string, options: UpgradeOptions = {}): Promise<Connection> {
  await upgradeFiles({ usersDb }, options);
  if (!isThere(usersDb)) createDatabaseFile(usersDb, 'users');
  return connect(usersDb, 'users', options);
}

/**
 * Migrates all existing files or none, after a copy of each as `<file>.before-schema-<n>`. Throws `CommandError`,
 * which names the copy of a file that changed.
 */
export async function upgradeFiles(
  { db = memory, usersDb = memory }: Partial<Files>,
  { say = () => undefined, onMigrate = () => undefined }: UpgradeOptions,
): Promise<void> {
  const files: [Kind, string][] = [
    ['catalog', db],
    ['users', usersDb],
  ];
  const older = files.filter(([kind, file]) => isOlder(kind, file));
  const upgrades: Upgrade[] = [];
  try {
    for (const [kind, file] of older) {
      const upgrade = await beginUpgrade(kind, file);
      if (upgrade !== null) upgrades.push(upgrade);
    }
    // All files take each step before the next one: only a failing commit can leave one file changed.
    const steps = [
      ({ sqlite, kind }: Upgrade) => migrate(sqlite, kind),
      ({ from, kind }: Upgrade) => onMigrate(from, newestSchema(kind)),
      ({ sqlite }: Upgrade) => sqlite.exec('COMMIT'),
    ];
    for (const step of steps)
      for (const upgrade of upgrades) await orUpgradeError(upgrade, () => step(upgrade));
  } finally {
    for (const { sqlite, kind, file, from, copy } of upgrades) {
      // A copy for each failed attempt would fill the disk.
      if (sqlite.inTransaction) rmSync(copy, { force: true });
      else
        say(
          `${file} was upgraded from schema ${from} to ${newestSchema(kind)}; a copy from before is in ${copy}`,
        );
      sqlite.close();
    }
  }
}

function isOlder(kind: Kind, file: string): boolean {
  if (file === memory || !isThere(file)) return false;
  // A reader would leave an empty log beside it.
  if (kind === 'users') requireAccess(file, 'written');
  using reader = connectReadOnly(file, kind, { anySchema: true });
  return schemaVersion(reader) < newestSchema(kind);
}

/** A file that is locked and copied, but not yet migrated. */
interface Upgrade {
  kind: Kind;
  file: string;
  from: number;
  sqlite: Connection;
  copy: string;
}

/** Locks a file of an older schema and copies it; null where another process has migrated it meanwhile. */
async function beginUpgrade(kind: Kind, file: string): Promise<Upgrade | null> {
  // If the migration fails the file must be unchanged, its journal mode too.
  const options = { anySchema: true, asItIs: true, busyTimeout: 30_000, checkUnclean: true };
  const sqlite = connect(file, kind, options);
  let copy: string | null = null;
  try {
    // Hold the lock from the copy to the end of the migration, so that no write is in one but not the other.
    sqlite.exec('BEGIN IMMEDIATE');
    const from = schemaVersion(sqlite);
    if (from === newestSchema(kind)) return null;
    using reader = connectReadOnly(file, kind, { anySchema: true });
    const name = freeName(`${file}.before-schema-${newestSchema(kind)}`);
    await orUpgradeError({ kind, file }, () => copyDatabase(reader, name));
    copy = name;
    return { kind, file, from, sqlite, copy };
  } finally {
    if (copy === null) sqlite.close();
  }
}

async function orUpgradeError(
  { kind, file }: Pick<Upgrade, 'kind' | 'file'>,
  work: () => unknown,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const why = (error as Error).message.replace(/\s+/g, ' ');
    throw new CommandError(
      `${file} cannot be upgraded to schema ${newestSchema(kind)}: ${why}. It is unchanged`,
    );
  }
}
