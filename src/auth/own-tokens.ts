import { randomBytes } from 'node:crypto';
import { asc, desc, eq, sql } from 'drizzle-orm';
import { badRequest, CommandError, notFound, unauthorized } from '../base/errors.ts';
import { sha256 } from '../base/ids.ts';
import { cut } from '../base/text.ts';
import type { Database } from '../db/database.ts';
import { userTokens } from '../db/user-tables.ts';
import type { ClientCertificates } from './certificates.ts';
import type { User } from './viewer.ts';

/** The prefix of users' own tokens; neither a JWT nor an integration token begins like this. */
export const ownPrefix = 'gsu_';

/** The longest life of one, in seconds, and how many a user may have that count. */
export const longestOwnToken = 30 * 24 * 3600;
const mostOwnTokens = 50;

type Row = typeof userTokens.$inferSelect;

/** A token as its maker sees it. */
export type OwnToken = Pick<Row, 'id' | 'name' | 'createdAt' | 'expiresAt'>;

export type OwnTokens = ReturnType<typeof createOwnTokens>;

/** The tokens that users make for their scripts (rule D43.6). */
export function createOwnTokens(
  db: Database,
  now: () => Date,
  keyId: () => string,
  certificates: Pick<ClientCertificates, 'standing'> | null,
) {
  const { orm } = db;
  const byHash = orm
    .select()
    .from(userTokens)
    .where(eq(userTokens.hash, sql.placeholder('hash')))
    .prepare();
  /** The tokens of a user that count, newest first. */
  const list = ({ subject }: User): OwnToken[] =>
    orm
      .select()
      .from(userTokens)
      .where(eq(userTokens.subject, subject))
      .orderBy(desc(userTokens.createdAt), asc(userTokens.id))
      .all()
      .filter((row) => stateOf(row, now()) === 'active')
      .map(shown);

  return {
    /** The maker of a token, for whom it stands. Throws the one 401 for a token that does not count. */
    async find(token: string): Promise<User> {
      if (!isOpaqueToken(ownPrefix, token)) throw unauthorized();
      // With the id of the local key: after a change of the key it matches no token (rule D34.4).
      const row = byHash.get({ hash: sha256(token + keyId()) });
      if (!row || stateOf(row, now()) !== 'active') throw unauthorized();
      const { id, subject, email, organization, certificate } = row;
      if (certificate !== null && certificates?.standing(certificate) !== 'good') throw unauthorized();
      return {
        kind: 'user',
        subject,
        email,
        organization,
        ownToken: id,
        entitlements: new Set(row.entitlements),
        expiresAt: Math.floor(Date.parse(row.expiresAt) / 1000),
      };
    },

    /** Makes a token for the user of a session. Throws 400 for one too many. */
    async create(
      user: User,
      request: { id: string; name: string; lifetime: number },
    ): Promise<OwnToken & { token: string }> {
      const { id, name, lifetime } = request;
      const token = newOpaqueToken(ownPrefix);
      const { subject, email, organization, certificate = null } = user;
      const time = now().getTime();
      const row: Row = {
        id,
        name,
        subject,
        email,
        organization,
        certificate,
        hash: sha256(token + keyId()),
        entitlements: [...user.entitlements],
        createdAt: new Date(time).toISOString(),
        expiresAt: new Date(time + lifetime * 1000).toISOString(),
        revokedAt: null,
      };
      await db.write(() => {
        if (list(user).length >= mostOwnTokens)
          throw badRequest(`You have ${mostOwnTokens} tokens already. Revoke one first`);
        orm.insert(userTokens).values(row).run();
        return { id };
      });
      return { ...shown(row), token };
    },

    list,

    /** Revokes a token of a user. Throws 404 for another's, and for one that does not count. */
    revoke(user: User, id: string): Promise<void> {
      return db.write(() => {
        if (!list(user).some((token) => token.id === id)) throw notFound();
        setRevoked(db, id, now());
      });
    },
  };
}

function setRevoked({ orm }: Database, id: string, now: Date): void {
  orm.update(userTokens).set({ revokedAt: now.toISOString() }).where(eq(userTokens.id, id)).run();
}

const shown = ({ id, name, createdAt, expiresAt }: Row): OwnToken => ({ id, name, createdAt, expiresAt });

/** A new token: a prefix and 256 random bits. */
export const newOpaqueToken = (prefix: string): string => `${prefix}${randomBytes(32).toString('base64url')}`;

export const isOpaqueToken = (prefix: string, token: string): boolean =>
  token.startsWith(prefix) && /^[\w-]{43}$/.test(token.slice(prefix.length));

/** The state of a token; one without `expiresAt` never expires. */
export function stateOf(
  { revokedAt, expiresAt }: { revokedAt: string | null; expiresAt: string | null },
  now: Date,
): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && now.getTime() >= Date.parse(expiresAt) ? 'expired' : 'active';
}

/** The tokens of all users, for operators, oldest first. */
export function allOwnTokens({ orm }: Database, now: Date) {
  const rows = orm.select().from(userTokens).orderBy(asc(userTokens.createdAt), asc(userTokens.id)).all();
  return rows.map(({ hash: _, certificate, ...row }) => ({
    ...row,
    byCertificate: certificate !== null,
    state: stateOf(row, now),
  }));
}

/** Revokes a token for an operator. Throws `CommandError` for an unknown one; revoking twice changes nothing. */
export function revokeOwnToken(db: Database, id: string, now: Date): Promise<void> {
  return db.write(() => {
    const row = db.orm.select().from(userTokens).where(eq(userTokens.id, id)).get();
    if (!row) throw new CommandError(`user token ${cut(id)} does not exist: see gapstone token user list`);
    if (row.revokedAt === null) setRevoked(db, id, now);
  });
}
