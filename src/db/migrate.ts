import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type Sqlite from 'better-sqlite3';
import { packageRoot } from '../root.ts';

interface Migration {
  number: number;
  file: string;
}

/** The migrations of the package in their order; throws when a number is missing or used twice. */
export function listMigrations(folder = join(packageRoot, 'migrations')): Migration[] {
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

/** The schema version that a database has: the number of the last migration applied. */
export function schemaVersion(sqlite: Sqlite.Database): number {
  return sqlite.pragma('user_version', { simple: true }) as number;
}

/** Applies what is missing, each migration in a transaction of its own together with its number. */
export function migrate(sqlite: Sqlite.Database): void {
  for (const migration of listMigrations()) {
    if (migration.number <= schemaVersion(sqlite)) continue;
    const sql = readFileSync(migration.file, 'utf8');
    sqlite
      .transaction(() => {
        if (migration.number <= schemaVersion(sqlite)) return;
        sqlite.exec(sql);
        sqlite.pragma(`user_version = ${migration.number}`);
      })
      .immediate();
  }
}
