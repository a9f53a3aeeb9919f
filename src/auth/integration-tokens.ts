import { randomBytes } from 'node:crypto';
import { and, asc, eq, isNull, sql } from 'drizzle-orm';
import { CommandError } from '../base/errors.ts';
import { sha256 } from '../base/ids.ts';
import { cut } from '../base/text.ts';
import type { Database } from '../db/database.ts';
import { collections, integrationTokenLists, integrationTokens } from '../db/user-tables.ts';
import type { Integration } from './viewer.ts';

/** The prefix of integration tokens; no JWT begins like this. */
export const integrationPrefix = 'gsi_';

type TokenRow = typeof integrationTokens.$inferSelect;

export type IntegrationTokens = ReturnType<typeof createIntegrationTokens>;

/** Integration tokens (rules D1.4, D20): opaque, for one organization and the lists assigned to them. */
export function createIntegrationTokens(db: Database, now: () => Date) {
  const { orm } = db;
  const byHash = orm
    .select()
    .from(integrationTokens)
    .where(eq(integrationTokens.hash, sql.placeholder('hash')))
    .prepare();

  return {
    /** The integration of a token; null when the token is unknown, expired or revoked. */
    find(token: string): Integration | null {
      if (!/^gsi_[\w-]{43}$/.test(token)) return null;
      // Look up by hash: the timing of a comparison can reveal only the hash, not the token.
      const row = byHash.get({ hash: sha256(token) });
      if (!row || stateOf(row, now()) !== 'active') return null;
      return { kind: 'integration', id: row.id, organization: row.organizationId };
    },

    /** Creates a token. Throws `CommandError` for a list that it may not read. */
    async create(request: {
      id: string;
      name: string;
      organization: string;
      lists: string[];
      lifetime: number | null;
    }): Promise<string> {
      const token = `${integrationPrefix}${randomBytes(32).toString('base64url')}`;
      const { id, name, organization, lifetime } = request;
      const time = now();
      const expiresAt = lifetime === null ? null : new Date(time.getTime() + lifetime * 1000).toISOString();
      await db.write(() => {
        orm
          .insert(integrationTokens)
          .values({
            id,
            hash: sha256(token),
            name,
            organizationId: organization,
            scope: 'lists:read',
            createdAt: time.toISOString(),
            expiresAt,
            revokedAt: null,
          })
          .run();
        assignTo(db, id, organization, request.lists);
      });
      return token;
    },

    list: () => allTokens(db, now()),

    /** Throws `CommandError` for an unknown token; revoking twice changes nothing. */
    revoke(id: string): Promise<void> {
      return db.write(() => {
        const row = existing(db, id);
        if (row.revokedAt !== null) return;
        orm
          .update(integrationTokens)
          .set({ revokedAt: now().toISOString() })
          .where(eq(integrationTokens.id, id))
          .run();
      });
    },

    /** Assigns further lists of its organization to a token. Throws `CommandError`, and then assigns none. */
    assign(id: string, listIds: string[]): Promise<void> {
      return db.write(() => {
        const row = existing(db, id);
        const state = stateOf(row, now());
        if (state !== 'active') throw new CommandError(`integration token ${cut(id)} is ${state}`);
        assignTo(db, id, row.organizationId, listIds);
      });
    },
  };
}

function stateOf({ revokedAt, expiresAt }: TokenRow, now: Date): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && now.getTime() >= Date.parse(expiresAt) ? 'expired' : 'active';
}

function existing({ orm }: Database, id: string): TokenRow {
  const row = orm.select().from(integrationTokens).where(eq(integrationTokens.id, id)).get();
  if (row) return row;
  throw new CommandError(`integration token ${cut(id)} does not exist: see gapstone integration-token list`);
}

function assignTo({ orm }: Database, id: string, organization: string, listIds: string[]): void {
  for (const listId of listIds) {
    const list = orm
      .select({ organization: collections.organizationId })
      .from(collections)
      .where(and(eq(collections.id, listId), eq(collections.kind, 'list'), isNull(collections.deletedAt)))
      .get();
    if (!list) throw new CommandError(`list ${cut(listId)} does not exist`);
    if (list.organization !== organization)
      throw new CommandError(`list ${cut(listId)} does not belong to the organization ${cut(organization)}`);
    orm.insert(integrationTokenLists).values({ tokenId: id, listId }).onConflictDoNothing().run();
  }
}

/** All tokens with their lists, oldest first. */
function allTokens({ orm }: Database, now: Date) {
  const lists = orm.select().from(integrationTokenLists).orderBy(asc(integrationTokenLists.listId)).all();
  const listsOf = Map.groupBy(lists, ({ tokenId }) => tokenId);
  const rows = orm
    .select()
    .from(integrationTokens)
    .orderBy(asc(integrationTokens.createdAt), asc(integrationTokens.id))
    .all();
  return rows.map((row) => {
    const { hash: _, organizationId: organization, ...kept } = row;
    const ids = (listsOf.get(row.id) ?? []).map(({ listId }) => listId);
    return { ...kept, organization, state: stateOf(row, now), lists: ids };
  });
}
