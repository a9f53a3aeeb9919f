import { and, asc, eq, isNull, sql } from 'drizzle-orm';
import { CommandError } from '../base/errors.ts';
import { sha256 } from '../base/ids.ts';
import { cut } from '../base/text.ts';
import type { Database } from '../db/database.ts';
import { collections, integrationTokenLists, integrationTokens } from '../db/user-tables.ts';
import { isOpaqueToken, newOpaqueToken, stateOf } from './own-tokens.ts';
import type { Integration } from './viewer.ts';

/** The prefix of integration tokens; no JWT begins like this. */
export const integrationPrefix = 'gsi_';

export type IntegrationTokens = ReturnType<typeof createIntegrationTokens>;

/** Integration tokens (rules D1.4, D20): opaque, for one organization and the lists assigned to them. */
export function createIntegrationTokens(db: Database, now: () => Date) {
  const { orm } = db;
  const byHash = orm
    .select()
    .from(integrationTokens)
    .where(eq(integrationTokens.hash, sql.placeholder('hash')))
    .prepare();

  function existing(id: string) {
    const row = orm.select().from(integrationTokens).where(eq(integrationTokens.id, id)).get();
    if (row) return row;
    throw new CommandError(
      `integration token ${cut(id)} does not exist: see gapstone token integration list`,
    );
  }

  function assignTo(tokenId: string, organization: string, listIds: string[]): void {
    for (const listId of listIds) {
      const list = orm
        .select({ organization: collections.organizationId })
        .from(collections)
        .where(and(eq(collections.id, listId), eq(collections.kind, 'list'), isNull(collections.deletedAt)))
        .get();
      if (!list) throw new CommandError(`list ${cut(listId)} does not exist`);
      if (list.organization !== organization)
        throw new CommandError(
          `list ${cut(listId)} does not belong to the organization ${cut(organization)}`,
        );
      orm.insert(integrationTokenLists).values({ tokenId, listId }).onConflictDoNothing().run();
    }
  }

  return {
    /** The integration of a token; null when the token is unknown, expired or revoked. */
    find(token: string): Integration | null {
      if (!isOpaqueToken(integrationPrefix, token)) return null;
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
      const { id, name, organization, lists, lifetime } = request;
      const token = newOpaqueToken(integrationPrefix);
      const time = now().getTime();
      await db.write(() => {
        orm
          .insert(integrationTokens)
          .values({
            id,
            hash: sha256(token),
            name,
            organizationId: organization,
            scope: 'lists:read',
            createdAt: new Date(time).toISOString(),
            expiresAt: lifetime === null ? null : new Date(time + lifetime * 1000).toISOString(),
          })
          .run();
        assignTo(id, organization, lists);
      });
      return token;
    },

    /** All tokens with their lists, oldest first. */
    list() {
      const assigned = orm
        .select()
        .from(integrationTokenLists)
        .orderBy(asc(integrationTokenLists.listId))
        .all();
      const rows = orm
        .select()
        .from(integrationTokens)
        .orderBy(asc(integrationTokens.createdAt), asc(integrationTokens.id))
        .all();
      return rows.map(({ hash: _, organizationId: organization, ...row }) => ({
        ...row,
        organization,
        state: stateOf(row, now()),
        lists: assigned.filter(({ tokenId }) => tokenId === row.id).map(({ listId }) => listId),
      }));
    },

    /** Throws `CommandError` for an unknown token; revoking twice changes nothing. */
    revoke(id: string): Promise<void> {
      return db.write(() => {
        if (existing(id).revokedAt !== null) return;
        const revokedAt = now().toISOString();
        orm.update(integrationTokens).set({ revokedAt }).where(eq(integrationTokens.id, id)).run();
      });
    },

    /** Assigns further lists of its organization to a token. Throws `CommandError`, and then assigns none. */
    assign(id: string, listIds: string[]): Promise<void> {
      return db.write(() => {
        const row = existing(id);
        const state = stateOf(row, now());
        if (state !== 'active') throw new CommandError(`integration token ${cut(id)} is ${state}`);
        assignTo(id, row.organizationId, listIds);
      });
    },
  };
}
