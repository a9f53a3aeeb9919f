import { CommandError } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
import { type Connection, connectReadOnly } from '../db/connect.ts';
import { type Exchange, selectExchanges } from './exchanges.ts';
import type { PublicKey } from './signing-keys.ts';

interface StoredKey extends PublicKey {
  name: string;
  channel: string;
  addedAt: string;
}

const listKeys = (users: Connection): StoredKey[] =>
  users
    .prepare<[], StoredKey>(
      'SELECT name, channel, fingerprint, public_key AS publicKey, added_at AS addedAt FROM content_keys ORDER BY name',
    )
    .all();

/** Adds a trusted key (rule D32.1). Throws `CommandError` where the name exists, or the channel already trusts the key. */
export function addKey(users: Connection, key: Omit<StoredKey, 'addedAt'>, now: Date): void {
  const { name, channel, fingerprint, publicKey } = key;
  const all = listKeys(users);
  if (all.some((each) => each.name === name))
    throw new CommandError(
      `there is a trusted key "${name}" already: remove it first, or choose another name`,
    );
  const known = all.find((each) => each.fingerprint === fingerprint && each.channel === channel);
  if (known)
    throw new CommandError(`this key is trusted already, as "${known.name}" for the channel ${channel}`);
  users
    .prepare('INSERT INTO content_keys VALUES (?, ?, ?, ?, ?)')
    .run(name, channel, fingerprint, publicKey, now.toISOString());
}

/** Removes a trusted key, and gives it. Throws `CommandError` for an unknown name. */
export function removeKey(users: Connection, name: string): StoredKey {
  const known = listKeys(users).find((key) => key.name === name);
  if (!known) throw new CommandError(`there is no trusted key "${name}": see "gapstone content trust list"`);
  users.prepare('DELETE FROM content_keys WHERE name = ?').run(name);
  return known;
}

/** The keys that a site trusts, by name; none where users' data is missing. Throws `CommandError`. */
export function trustedKeys(usersDb: string): StoredKey[] {
  return look(usersDb, listKeys);
}

/** The bundles that a site applied, the last one first; none where users' data is missing. Throws `CommandError`. */
export function appliedBundles(usersDb: string): Exchange[] {
  return look(usersDb, (users) => users.prepare<[], Exchange>(`${selectExchanges} ORDER BY id DESC`).all());
}

function look<T>(usersDb: string, work: (users: Connection) => T[]): T[] {
  if (!isThere(usersDb)) return [];
  using users = connectReadOnly(usersDb, 'users');
  return work(users);
}
