import { chmodSync, chownSync, constants, copyFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type Sqlite from 'better-sqlite3';
import { CommandError } from '../base/errors.ts';
import { freeName, inPrivateFolder, realFile, sha256OfFile } from '../base/files.ts';
import { freeBytes, hashFile, seal } from './copy.ts';
import { applicationId, readApplicationId, readHeader } from './header.ts';
import { replaceDatabase } from './replace.ts';
import { refuseNewer } from './schema.ts';

/** What a restore did. */
export interface Restored {
  file: string;
  bytes: number;
  /** Of the backup. */
  sha256: string;
  /** The schema version of what was restored. */
  schema: number;
  /** Where the replaced database is kept; null when there was none. */
  before: string | null;
}

/**
 * Puts a backup in the place of a database. Verified before anything is replaced, on the very copy that takes the place:
 * header, hash (where FILE.sha256 is there), every row of its schema, every page, every foreign key. Sessions are ended: those that were closed
 * since the backup must not come to life again. What the backup knows of the audit stream gives way to `audited`, the last
 * line of the one here: the backup may come from another machine. Throws `CommandError`; then nothing has changed.
 */
export function restoreDatabase(
  backup: string,
  database: string,
  now: Date,
  {
    room = freeBytes,
    audited = null,
  }: { room?: (folder: string) => number; audited?: { seq: number; hash: string } | null } = {},
): Restored {
  // Behind a link it is the file that is replaced, where it lies: the link would become a file on another disk.
  const file = realFile(database);
  if (resolve(realFile(backup)) === resolve(file)) throw new CommandError(`${backup} is the database itself`);
  const { userVersion, hasLog } = readHeader(backup);
  refuseNewer(backup, userVersion);
  if (hasLog)
    throw new CommandError(
      `${backup} is a database in use, not a backup: it has a log beside it. Make a backup with "gapstone backup"`,
    );
  refuseForeign(file);
  const folder = requireFolder(file);
  const { size } = statSync(backup);
  const free = room(folder);
  if (free < size)
    throw new CommandError(
      `there is not enough space beside ${file}: it needs ${size} bytes, ${free} are free`,
    );
  try {
    return inPrivateFolder(file, (temporary) => {
      copyFileSync(backup, temporary, constants.COPYFILE_EXCL);
      const sha256 = sha256OfFile(temporary);
      compareHash(backup, sha256);
      const schema = seal(temporary, 'full', backup, (sqlite) => prepareForUse(sqlite, audited));
      likeFormer(temporary, file);
      const keptAs = freeName(`${file}.before-restore-${now.toISOString().replace(/[-:]|\.\d+/g, '')}`);
      const replaced = replaceDatabase(temporary, file, keptAs);
      return { file, bytes: size, sha256, schema, before: replaced ? keptAs : null };
    });
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const why = (error as Error).message.split(',')[0];
    throw new CommandError(`${backup} cannot be restored: ${why}. ${file} is unchanged`);
  }
}

/** The folder that a database lies or is to lie in. Throws `CommandError` where there is none. */
export function requireFolder(file: string): string {
  const folder = dirname(file);
  if (!existsSync(folder)) throw new CommandError(`the folder of the database does not exist: ${file}`);
  return folder;
}

/** What lies in the place of the database and is another program's stays. */
function refuseForeign(file: string): void {
  const id = existsSync(file) ? readApplicationId(file) : null;
  if (id !== null && id !== applicationId)
    throw new CommandError(`${file} belongs to another program: nothing was replaced`);
}

function compareHash(backup: string, sha256: string): void {
  const file = hashFile(backup);
  if (!existsSync(file)) return;
  const stated = /^([0-9a-f]{64})\b/i.exec(readFileSync(file, 'utf8'))?.[1]?.toLowerCase();
  if (stated === undefined) throw new CommandError(`${file} does not contain a SHA-256`);
  if (stated !== sha256) throw new CommandError(`${backup} was changed: its SHA-256 does not match ${file}`);
}

function prepareForUse(sqlite: Sqlite.Database, audited: { seq: number; hash: string } | null): void {
  const loose = sqlite.pragma('foreign_key_check') as { table: string }[];
  if (loose.length > 0)
    throw new CommandError(`the backup is damaged: ${loose.length} rows refer to rows that do not exist`);
  // An older schema may lack either.
  const has = (table: string) => sqlite.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table);
  if (has('sessions')) sqlite.exec('DELETE FROM sessions');
  if (has('audit_head'))
    sqlite
      .prepare('UPDATE audit_head SET seq = ?, hash = ?')
      .run(audited?.seq ?? 0, audited?.hash ?? '0'.repeat(64));
}

/** The new file belongs to whom the former one belonged, with its rights: who restores is not always who serves. */
function likeFormer(temporary: string, file: string): void {
  const former = statSync(file, { throwIfNoEntry: false });
  if (!former) return;
  const own = statSync(temporary);
  if (former.uid !== own.uid || former.gid !== own.gid) chownSync(temporary, former.uid, former.gid);
  chmodSync(temporary, former.mode & 0o777);
}
