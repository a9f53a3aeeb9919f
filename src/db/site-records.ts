import type Sqlite from 'better-sqlite3';
import { isThere } from '../base/files.ts';
import { connect, connectReadOnly } from './connect.ts';
import type { Database, Files } from './database.ts';
import { migrate, schemaVersion } from './schema.ts';

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
    await db.write(() => recordTakenBack(db, hashes.slice(at, at + rowsPerWrite)));
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

export const recordShippedSources = (users: Sqlite.Database, hashes: string[]): void =>
  addHashes(users, 'shipped_sources', hashes);

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
    using former = connectReadOnly(usersDb, 'users', { anySchema: true });
    restored.prepare('ATTACH ? AS former').run(usersDb);
    restored.transaction(() => {
      // So that it has every column of the former file.
      migrate(restored, 'users', schemaVersion(former));
      restored.exec(`DELETE FROM content_sequences AS own WHERE sequence <
        (SELECT sequence FROM former.content_sequences WHERE channel = own.channel)`);
      if (isAlone) restored.exec('DELETE FROM content_bundles');
      const tables = ['content_sequences', 'inbox_contents', 'shipped_sources'];
      for (const table of isAlone ? [...tables, 'content_bundles'] : tables) {
        const names = former
          .prepare(`SELECT * FROM ${table}`)
          .columns()
          .map(({ name }) => name);
        const columns = names.join(', ');
        restored.exec(`INSERT INTO ${table} (${columns}) SELECT ${columns} FROM former.${table} WHERE true
          ON CONFLICT DO NOTHING`);
      }
    })();
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

function addHashes(users: Sqlite.Database, table: string, hashes: string[]): void {
  users.prepare(`INSERT OR IGNORE INTO ${table} SELECT value FROM json_each(?)`).run(JSON.stringify(hashes));
}
