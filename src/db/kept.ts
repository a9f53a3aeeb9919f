import type Sqlite from 'better-sqlite3';
import { isThere } from '../base/files.ts';
import { connectReadOnly } from './connect.ts';
import type { Database } from './database.ts';
import { migrate, schemaVersion } from './migrate.ts';

/** The users' migration that created the tables of this file. */
const since = 3;
const rowsPerWrite = 1000;

type KeptTable = 'inbox_contents' | 'shipped_sources';

/** Reads the hashes of a table; none where users' data is missing or of an older schema. Throws `CommandError`. */
function hashesIn(usersDb: string, table: KeptTable): Set<string> {
  if (!isThere(usersDb)) return new Set();
  using users = connectReadOnly(usersDb, 'users', { anySchema: true });
  if (schemaVersion(users) < since) return new Set();
  return new Set(users.prepare<[], string>(`SELECT sha256 FROM ${table}`).pluck().all());
}

function addHashes(users: Sqlite.Database, table: KeptTable, hashes: Iterable<string>): void {
  const insert = users.prepare(`INSERT OR IGNORE INTO ${table} VALUES (?)`);
  for (const hash of hashes) insert.run(hash);
}

/** The SHA-256 of every file that the inbox contained (rule D42.8). Throws `CommandError`. */
export const inboxContents = (usersDb: string): Set<string> => hashesIn(usersDb, 'inbox_contents');

/** Records what the inbox contained, in small writes between requests. */
export async function keepInboxContents(db: Database, hashes: string[]): Promise<void> {
  for (let at = 0; at < hashes.length; at += rowsPerWrite)
    await db.write(() => addHashes(db.sqlite, 'inbox_contents', hashes.slice(at, at + rowsPerWrite)));
}

/** Records removed sources, so that an inbox that still has them does not import them again. */
export const keepTakenBack = ({ sqlite }: Database, hashes: string[]): void =>
  addHashes(sqlite, 'inbox_contents', hashes);

/** SHA-256 of a catalog's sources. Throws `CommandError` where it cannot be read. */
export function sourcesOf(catalog: string): string[] {
  using sqlite = connectReadOnly(catalog, 'catalog', { anySchema: true });
  return sqlite.prepare<[], string>('SELECT sha256 FROM sources').pluck().all();
}

/** Forgets what the inbox contained: a rebuilt catalog lacks it although no one removed it on purpose. */
export const forgetInboxContents = (users: Sqlite.Database): void =>
  void users.exec('DELETE FROM inbox_contents');

/** SHA-256 of the package's own sources (rule D44.1). Throws `CommandError` where users' data cannot be read. */
export const shippedSources = (usersDb: string): Set<string> => hashesIn(usersDb, 'shipped_sources');

export function keepShippedSources(users: Sqlite.Database, hashes: Iterable<string>): void {
  users.transaction(() => addHashes(users, 'shipped_sources', hashes)).immediate();
}

type Row = Record<string, unknown>;

/** The part of users' data that no restore reverts (rule D42.8). */
export interface Kept {
  sequences: { channel: string; sequence: number; bundle: string }[];
  /** The rows of `content_bundles`: they describe the catalog beside this file. */
  bundles: Row[];
  inbox: string[];
  shipped: string[];
}

const greatest = `SELECT channel, max(sequence) AS sequence, bundle FROM content_bundles
                   WHERE state <> 'begun' GROUP BY channel`;

/** Reads `Kept` from users' data of any schema. Throws `CommandError` where the file cannot be read. */
export function readKept(usersDb: string): Kept {
  using users = connectReadOnly(usersDb, 'users', { anySchema: true });
  const schema = schemaVersion(users);
  const all = <T>(atLeast: number, query: string): T[] =>
    schema < atLeast ? [] : users.prepare<[], T>(query).all();
  return {
    sequences: all(2, schema < since ? greatest : 'SELECT * FROM content_sequences'),
    bundles: all(2, 'SELECT * FROM content_bundles ORDER BY id'),
    inbox: all<{ sha256: string }>(since, 'SELECT * FROM inbox_contents').map(({ sha256 }) => sha256),
    shipped: all<{ sha256: string }>(since, 'SELECT * FROM shipped_sources').map(({ sha256 }) => sha256),
  };
}

/**
 * Adds `kept` to users' data that is being restored (rule D42.8), migrating older data first. `ofCatalog`: the catalog
 * is not restored, so the bundles applied to it stay recorded.
 */
export function addKept(users: Sqlite.Database, kept: Kept, ofCatalog: boolean): void {
  const { sequences, bundles, inbox, shipped } = kept;
  if (sequences.length + bundles.length + inbox.length + shipped.length > 0) migrate(users, 'users');
  if (schemaVersion(users) < since) return;
  users.transaction(() => {
    const raise = users.prepare(
      `INSERT INTO content_sequences (channel, sequence, bundle) VALUES (@channel, @sequence, @bundle)
       ON CONFLICT (channel) DO UPDATE SET sequence = excluded.sequence, bundle = excluded.bundle
        WHERE excluded.sequence > sequence`,
    );
    for (const row of sequences) raise.run(row);
    addHashes(users, 'inbox_contents', inbox);
    addHashes(users, 'shipped_sources', shipped);
    if (!ofCatalog) return;
    users.exec('DELETE FROM content_bundles');
    for (const row of bundles) {
      const names = Object.keys(row);
      const values = names.map((name) => `@${name}`).join(', ');
      users.prepare(`INSERT INTO content_bundles (${names.join(', ')}) VALUES (${values})`).run(row);
    }
  })();
}
