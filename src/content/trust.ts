import { existsSync } from 'node:fs';
import { CommandError } from '../base/errors.ts';
import { connectReadOnly } from '../db/connect.ts';
import type { openUsersUpgraded } from '../db/upgrade.ts';
import type { PublicKey } from './keys.ts';
import type { TrustedKey } from './read.ts';

/** A connection to users' data. */
export type Users = Awaited<ReturnType<typeof openUsersUpgraded>>;

/** A key that a site trusts, as it is kept. */
export interface KeptKey extends TrustedKey {
  name: string;
  channel: string;
  addedAt: string;
}

/** What is kept about the keys whose signatures a site takes (rule D32.1). */
export function createTrust(users: Users) {
  const select = `SELECT name, channel, fingerprint, public_key AS publicKey, added_at AS addedAt FROM content_keys`;
  const all = users.prepare<[], KeptKey>(`${select} ORDER BY name`);
  const one = users.prepare<[string], KeptKey>(`${select} WHERE name = ?`);
  const same = users.prepare<[string, string], KeptKey>(`${select} WHERE fingerprint = ? AND channel = ?`);
  const insert = users.prepare<[string, string, string, string, string]>(
    'INSERT INTO content_keys (name, channel, fingerprint, public_key, added_at) VALUES (?, ?, ?, ?, ?)',
  );
  const remove = users.prepare<[string]>('DELETE FROM content_keys WHERE name = ?');
  return {
    /** The keys by name. */
    list: (): KeptKey[] => all.all(),

    /** Throws `CommandError` where the name is taken, or the key is trusted for the channel already. */
    add({ fingerprint, publicKey }: PublicKey, name: string, channel: string, now: Date): void {
      if (one.get(name))
        throw new CommandError(
          `there is a trusted key "${name}" already: remove it first, or choose another name`,
        );
      const known = same.get(fingerprint, channel);
      if (known)
        throw new CommandError(`this key is trusted already, as "${known.name}" for the channel ${channel}`);
      insert.run(name, channel, fingerprint, publicKey, now.toISOString());
    },

    /** Gives the key that was removed. Throws `CommandError` where there is none of the name. */
    remove(name: string): KeptKey {
      const known = one.get(name);
      if (!known)
        throw new CommandError(`there is no trusted key "${name}": see "gapstone content trust list"`);
      remove.run(name);
      return known;
    },
  };
}

/** The keys that a site trusts, by name; of users' data that is not there none. Throws `CommandError`. */
export function trustedKeys(usersDb: string): KeptKey[] {
  return look(usersDb, (users) => createTrust(users).list());
}

/** A bundle that a site applied, or began to. */
export interface AppliedBundle {
  /** SHA-256 over its manifest. */
  bundle: string;
  channel: string;
  sequence: number;
  digest: string;
  signedBy: string;
  fingerprint: string;
  builtAt: string;
  appliedAt: string;
  state: 'begun' | 'applied' | 'rolled-back';
}

/** The bundles that a site applied, the last one first; of users' data that is not there none. Throws `CommandError`. */
export function appliedBundles(usersDb: string): AppliedBundle[] {
  return look(usersDb, (users) =>
    users
      .prepare<[], AppliedBundle>(
        `SELECT bundle, channel, sequence, digest, signed_by AS signedBy, fingerprint, built_at AS builtAt,
                applied_at AS appliedAt, state
           FROM content_bundles ORDER BY id DESC`,
      )
      .all(),
  );
}

function look<T>(usersDb: string, work: (users: Users) => T[]): T[] {
  if (!existsSync(usersDb)) return [];
  const users = connectReadOnly(usersDb, 'users');
  try {
    return work(users);
  } finally {
    users.close();
  }
}
