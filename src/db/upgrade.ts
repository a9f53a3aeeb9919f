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
import { type Database, type Files, openCatalog, openDatabase } from './database.ts';
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
  const { say, onMigrate, catalogAlone, ...rest } = options;
  await upgradeFiles(files, options);
  return catalogAlone ? openCatalog(files.db, rest) : openDatabase(files, rest);
}

/** Opens users' data alone, created or upgraded as needed (see `upgradeFiles`). Throws `CommandError`. */
export async function openUsersUpgraded(usersDb: string, options: UpgradeOptions = {}): Promise<Connection> {
  if (isThere(usersDb)) await upgradeAll([['users', usersDb]], options);
  else createDatabaseFile(usersDb, 'users');
  return connect(usersDb, 'users', options);
}

/**
 * Migrates both existing files or none, after a copy of each as `<file>.before-schema-<n>`. Throws `CommandError`,
 * which names the copy of a file that changed.
 */
export async function upgradeFiles({ db, usersDb }: Files, options: UpgradeOptions = {}): Promise<void> {
  const files: [Kind, string][] = [['catalog', db]];
  if (!options.catalogAlone) files.push(['users', usersDb]);
  const existing = files.filter(([, file]) => file !== ':memory:' && isThere(file));
  await upgradeAll(existing, options);
}

async function upgradeAll(files: [Kind, string][], options: UpgradeOptions): Promise<void> {
  const { say = () => undefined, onMigrate = () => undefined } = options;
  const older = files.filter(([kind, file]) => isOlder(kind, file));
  const upgrades: Upgrade[] = [];
  try {
    for (const [kind, file] of older) {
      const upgrade = await beginUpgrade(kind, file);
      if (upgrade !== null) upgrades.push(upgrade);
    }
    // Before the first commit, so that only a failing commit can leave one file changed.
    for (const { sqlite, kind, file } of upgrades)
      await orUpgradeError(kind, file, () => migrate(sqlite, kind));
    // After all migrations, because a failing one undoes those of both files.
    for (const { kind, file, from } of upgrades)
      await orUpgradeError(kind, file, () => onMigrate(from, newestSchema(kind)));
    for (const { sqlite, kind, file } of upgrades)
      await orUpgradeError(kind, file, () => sqlite.exec('COMMIT'));
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
    await orUpgradeError(kind, file, () => copyDatabase(reader, name));
    copy = name;
    return { kind, file, from, sqlite, copy };
  } finally {
    if (copy === null) sqlite.close();
  }
}

async function orUpgradeError(kind: Kind, file: string, work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    const why = (error as Error).message.replace(/\s+/g, ' ');
    throw new CommandError(
      `${file} cannot be upgraded to schema ${newestSchema(kind)}: ${why}. It is unchanged`,
    );
  }
}
