import { and, asc, desc, eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { CommandError } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
import { type Connection, connectReadOnly } from '../db/connect.ts';
import { contentBundles, contentKeys } from '../db/user-tables.ts';

export type KeptKey = typeof contentKeys.$inferSelect;

/** The keys that a site trusts (rule D32.1). */
export function createTrust(users: Connection) {
  const orm = drizzle(users);
  const one = (name: string) => orm.select().from(contentKeys).where(eq(contentKeys.name, name)).get();
  return {
    list: (): KeptKey[] => orm.select().from(contentKeys).orderBy(asc(contentKeys.name)).all(),

    /** Throws `CommandError` where the name exists, or the channel already trusts the key. */
    add(key: Omit<KeptKey, 'addedAt'>, now: Date): void {
      const { name, channel, fingerprint, publicKey } = key;
      if (one(name))
        throw new CommandError(
          `there is a trusted key "${name}" already: remove it first, or choose another name`,
        );
      const isSame = and(eq(contentKeys.fingerprint, fingerprint), eq(contentKeys.channel, channel));
      const known = orm.select().from(contentKeys).where(isSame).get();
      if (known)
        throw new CommandError(`this key is trusted already, as "${known.name}" for the channel ${channel}`);
      orm
        .insert(contentKeys)
        .values({ name, channel, fingerprint, publicKey, addedAt: now.toISOString() })
        .run();
    },

    /** Gives the removed key. Throws `CommandError` for an unknown name. */
    remove(name: string): KeptKey {
      const known = one(name);
      if (!known)
        throw new CommandError(`there is no trusted key "${name}": see "gapstone content trust list"`);
      orm.delete(contentKeys).where(eq(contentKeys.name, name)).run();
      return known;
    },
  };
}

/** The keys that a site trusts, by name; none where users' data is missing. Throws `CommandError`. */
export function trustedKeys(usersDb: string): KeptKey[] {
  return look(usersDb, (users) => createTrust(users).list());
}

export type AppliedBundle = typeof contentBundles.$inferSelect;

/** The bundles that a site applied, the last one first; none where users' data is missing. Throws `CommandError`. */
export function appliedBundles(usersDb: string): AppliedBundle[] {
  return look(usersDb, (users) =>
    drizzle(users).select().from(contentBundles).orderBy(desc(contentBundles.id)).all(),
  );
}

function look<T>(usersDb: string, work: (users: Connection) => T[]): T[] {
  if (!isThere(usersDb)) return [];
  using users = connectReadOnly(usersDb, 'users');
  return work(users);
}
