import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import { packageRoot } from '../base/root.ts';
import type { Kind } from './header.ts';

interface Migration {
  number: number;
  file: string;
}

/** The migrations of a kind of file in order. Throws when a number is missing or used twice. */
export function listMigrations(kind: Kind, root = join(packageRoot, 'migrations')): Migration[] {
  const folder = join(root, kind);
  const list = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({ number: Number.parseInt(name, 10), file: join(folder, name) }));
  list.forEach((migration, index) => {
    if (migration.number !== index + 1)
      throw new Error(`migrations are not numbered 1, 2, 3 ...: ${migration.file}`);
  });
  return list;
}

/** The schema version of a file: the number of its last migration. */
export function schemaVersion(sqlite: Sqlite.Database): number {
  return sqlite.pragma('user_version', { simple: true }) as number;
}

/** Applies the missing migrations, up to a version, in one transaction with the new schema version. */
export function migrate(sqlite: Sqlite.Database, kind: Kind, upTo = Number.POSITIVE_INFINITY): void {
  const apply = () => {
    for (const migration of listMigrations(kind)) {
      if (migration.number <= schemaVersion(sqlite) || migration.number > upTo) continue;
      sqlite.exec(readFileSync(migration.file, 'utf8'));
      sqlite.pragma(`user_version = ${migration.number}`);
    }
  };
  if (sqlite.inTransaction) apply();
  else sqlite.transaction(apply).immediate();
}
