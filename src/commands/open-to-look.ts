import { isThere } from '../base/files.ts';
import { type Database, type Files, openDatabase } from '../db/database.ts';

/** Opens both files for reading; creates no users' data. Throws `CommandError`. */
export function openToLook({ db, usersDb }: Files, busyTimeout?: number): Database {
  const files = { db, usersDb: isThere(usersDb) ? usersDb : ':memory:' };
  const opened = openDatabase(files, { asItIs: true, ...(busyTimeout === undefined ? {} : { busyTimeout }) });
  opened.sqlite.pragma('query_only = ON');
  return opened;
}
