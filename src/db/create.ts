import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { CommandError } from '../base/errors.ts';
import { inPrivateFolder, publishNew, syncPath } from '../base/files.ts';
import { applicationId } from './header.ts';
import { migrate } from './migrate.ts';

/** Marks a new, empty database as ours and gives it its tables. */
export function initialize(sqlite: Sqlite.Database): void {
  sqlite.pragma(`application_id = ${applicationId}`);
  migrate(sqlite);
}

/**
 * Makes a database file: in a folder of its own first, so that a kill never leaves one that is empty or half made. Where
 * another process makes it at the same time, that one's stays. Throws `CommandError`.
 */
export function createDatabaseFile(file: string): void {
  if (!existsSync(dirname(file)))
    throw new CommandError(`the folder of the database does not exist: ${file}`);
  try {
    inPrivateFolder(file, (temporary) => {
      const sqlite = new Sqlite(temporary);
      try {
        initialize(sqlite);
        sqlite.pragma('journal_mode = WAL');
      } finally {
        sqlite.close();
      }
      syncPath(temporary);
      publishNew(temporary, file);
    });
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return;
    throw new CommandError(`${file} cannot be created: ${(error as Error).message}`);
  }
}
