import { chmodSync, rmSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { CommandError } from '../base/errors.ts';
import { inPrivateFolder, isThere, publishNew, rightsAround, syncPath } from '../base/files.ts';
import { requireFolder } from '../base/installation.ts';
import { applicationIds, type Kind } from './header.ts';
import { migrate } from './migrate.ts';

/** Marks a new, empty file as Gapstone's and creates its tables. */
export function initialize(sqlite: Sqlite.Database, kind: Kind): void {
  sqlite.pragma(`application_id = ${applicationIds[kind]}`);
  migrate(sqlite, kind);
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
      // SQLite would apply the log of a removed file, which a server may still have open.
      if (!isThere(file)) for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
      publishNew(temporary, file);
    });
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return;
    throw new CommandError(
      `${file} cannot be created: ${(error as Error).message}${rightsAround(file, error)}`,
    );
  }
}
