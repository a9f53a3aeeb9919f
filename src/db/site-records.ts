import type Sqlite from 'better-sqlite3';
import { isThere } from '../base/files.ts';
import { connect, connectReadOnly } from './connect.ts';
import type { Database, Files } from './database.ts';

const rowsPerWrite = 1000;

/** The id of a site, made once in its users' data (rule D44.5). Null without users' data. */
export function siteId(usersDb: string): string | null {
  return columnOf<string>(usersDb, 'SELECT id FROM site')[0] ?? null;
}

/** Records when the last backup was made, for the metrics. Throws where users' data cannot be written now. */
export function recordBackup(usersDb: string, at: Date): void {
  if (!isThere(usersDb)) return;
  using users = connect(usersDb, 'users', { anySchema: true, asItIs: true });
  users.prepare('UPDATE site SET backup_at = ?').run(at.toISOString());
}

/** The SHA-256 of every file that the inbox contained (rule D42.8). Throws `CommandError`. */
export function inboxContents(usersDb: string): Set<string> {
  return new Set(columnOf<string>(usersDb, 'SELECT sha256 FROM inbox_contents'));
}

/** Records what the inbox contained, in small writes between requests. */
export async function recordInboxContents(db: Database, hashes: string[]): Promise<void> {
  for (let at = 0; at < hashes.length; at += rowsPerWrite)
    await db.write(() => addHashes(db.sqlite, 'inbox_contents', hashes.slice(at, at + rowsPerWrite)));
}

/** Records removed sources, so that an inbox that still has them does not import them again. */
export const recordTakenBack = ({ sqlite }: Database, hashes: string[]): void =>
  addHashes(sqlite, 'inbox_contents', hashes);

/** Forgets what the inbox contained: a rebuilt catalog lacks it although no one removed it on purpose. */
export const forgetInboxContents = (users: Sqlite.Database): void =>
  void users.exec('DELETE FROM inbox_contents');

/** SHA-256 of a catalog's sources. Throws `CommandError` where it cannot be read. */
export function sourcesOf(catalog: string): string[] {
  using sqlite = connectReadOnly(catalog, 'catalog', { anySchema: true });
  return sqlite.prepare<[], string>('SELECT sha256 FROM sources').pluck().all();
}

/** SHA-256 of the package's own sources (rule D44.1). Throws `CommandError` where users' data cannot be read. */
export function shippedSources(usersDb: string): Set<string> {
  return new Set(columnOf<string>(usersDb, 'SELECT sha256 FROM shipped_sources'));
}

export function recordShippedSources(users: Sqlite.Database, hashes: Iterable<string>): void {
  users.transaction(() => addHashes(users, 'shipped_sources', hashes)).immediate();
}

/**
 * Adds the part of users' data that no restore reverts (rule D42.8) to users' data that is being restored. `isAlone`:
 * the catalog is not restored, so the bundles that were applied to it stay recorded. Gives what could not be read, and
 * why; undefined where all was.
 */
export function retainSiteRecords(
  restored: Sqlite.Database,
  { db, usersDb }: Files,
  isAlone: boolean,
): string | undefined {
  let unread = 'which bundles were applied here and what the inbox held is what the backup says';
  try {
    if (!isThere(usersDb)) return undefined;
    // Check the schema before the file is attached.
    connectReadOnly(usersDb, 'users', { anySchema: true }).close();
    restored.prepare('ATTACH ? AS former').run(usersDb);
    restored.exec(
      `INSERT INTO content_sequences SELECT * FROM former.content_sequences WHERE true
           ON CONFLICT (channel) DO UPDATE SET sequence = excluded.sequence, bundle = excluded.bundle
        WHERE excluded.sequence > sequence;
       INSERT OR IGNORE INTO inbox_contents SELECT * FROM former.inbox_contents;
       INSERT OR IGNORE INTO shipped_sources SELECT * FROM former.shipped_sources`,
    );
    if (isAlone)
      restored.exec(
        'DELETE FROM content_bundles; INSERT INTO content_bundles SELECT * FROM former.content_bundles',
      );
    restored.exec('DETACH former');
    unread = 'the inbox may bring back what the replaced catalog held';
    if (isThere(db)) addHashes(restored, 'inbox_contents', sourcesOf(db));
    return undefined;
  } catch (error) {
    return `${unread}: ${(error as Error).message}`;
  }
}

/** The values of a column; none without users' data. Throws `CommandError`. */
function columnOf<T>(usersDb: string, query: string): T[] {
  if (!isThere(usersDb)) return [];
  using users = connectReadOnly(usersDb, 'users', { anySchema: true });
  return users.prepare<[], T>(query).pluck().all();
}

function addHashes(users: Sqlite.Database, table: string, hashes: Iterable<string>): void {
  const insert = users.prepare(`INSERT OR IGNORE INTO ${table} VALUES (?)`);
  for (const hash of hashes) insert.run(hash);
}
