import { and, count, eq, isNotNull, sql } from 'drizzle-orm';
import type { User } from '../auth/viewer.ts';
import { badRequest } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import { type CollectionKind, collections } from '../db/user-tables.ts';

/** The most lists, or collections of a kind, of one creator (rule D8.7). */
export const mostOfCreator = 1000;

/** The same with the deleted ones, which bounds creating and deleting in turn. */
const mostWithDeleted = 5000;

/** The most deleted collections of a creator; deleted lists wait for the purge. */
const mostDeletedKept = 1000;

const plurals: Record<CollectionKind, string> = {
  list: 'lists',
  'control-collection': 'collections of controls',
  'regdoc-collection': 'collections of documents',
  'role-collection': 'collections of roles',
};

/** How many lists or collections of a kind a creator may have. */
export function createRoom({ orm }: Database, kind: CollectionKind) {
  const isOf = (creator: string) => and(eq(collections.kind, kind), eq(collections.createdById, creator));
  const made = orm
    .select({ all: count(), active: sql<number>`count(*) FILTER (WHERE ${collections.deletedAt} IS NULL)` })
    .from(collections)
    .where(and(eq(collections.kind, kind), eq(collections.createdById, sql.placeholder('creator'))))
    .prepare();
  const number = (most: number) => most.toLocaleString('en-US');

  return {
    /** Throws a 400 if the user has too many; for a new one the deleted ones count too. */
    require({ subject }: User, isNew: boolean): void {
      const { all, active } = made.get({ creator: subject })!;
      const things = plurals[kind];
      if (active >= mostOfCreator)
        throw badRequest(`One creator can have at most ${number(mostOfCreator)} ${things}. Delete one first`);
      if (isNew && all >= mostWithDeleted)
        throw badRequest(
          `One creator can have at most ${number(mostWithDeleted)} ${things} with the deleted ones, which are kept for 30 days. Try again later`,
        );
    },

    /** Removes the oldest deleted collections of a creator, which nobody can restore. */
    dropOldest(creator: string): void {
      if (kind === 'list') return;
      const oldest = orm
        .select({ id: collections.id })
        .from(collections)
        .where(and(isOf(creator), isNotNull(collections.deletedAt)))
        .orderBy(sql`${collections.deletedAt} DESC, ${collections.id}`)
        // One deletion adds one; an older version left more.
        .limit(10)
        .offset(mostDeletedKept);
      orm.delete(collections).where(sql`${collections.id} IN ${oldest}`).run();
    },
  };
}
