import { chmodSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { CommandError } from '../base/errors.ts';
import { inPrivateFolder, isThere, publishNew, rightsAround, syncPath } from '../base/files.ts';
import { applicationIds, type Kind } from './header.ts';
import { migrate } from './migrate.ts';

/** Marks a new, empty file as ours and gives it its tables. */
export function initialize(sqlite: Sqlite.Database, kind: Kind): void {
  sqlite.pragma(`application_id = ${applicationIds[kind]}`);
  migrate(sqlite, kind);
}

/**
 * Makes a database file: in a folder of its own first, so that a kill never leaves one that is empty or half made. Where
 * another process makes it at the same time, that one's stays. Throws `CommandError`.
 */
export function createDatabaseFile(file: string, kind: Kind): void {
  if (!isThere(dirname(file))) throw new CommandError(`the folder of the database does not exist: ${file}`);
  try {
    inPrivateFolder(file, (temporary) => {
      const sqlite = new Sqlite(temporary);
      try {
        initialize(sqlite, kind);
        sqlite.pragma('journal_mode = WAL');
      } finally {
        sqlite.close();
      }
      // A catalog may be read by others, users' data by nobody.
      if (kind === 'users') chmodSync(temporary, 0o600);
      syncPath(temporary);
      // The log of a file that was removed, maybe under a server that has it open: it would be read as the new one's.
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
