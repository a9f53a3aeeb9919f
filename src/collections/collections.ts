import { and, asc, count, desc, eq, gte, isNull, type SQL, sql } from 'drizzle-orm';
import type { SelectResultFields } from 'drizzle-orm/query-builders/select.types';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { User, Viewer } from '../auth/viewer.ts';
import { forbidden, notFound } from '../base/errors.ts';
import { type Sort, sortOf } from '../base/sort.ts';
import type { Database } from '../db/database.ts';
import { type CollectionKind, collections, integrationTokenLists } from '../db/user-tables.ts';
import { offsetOf, type Page, paginationOf } from '../http/paging.ts';
import { countEntries } from './entries.ts';

export type Collection = typeof collections.$inferSelect;

/** The columns by which the pages of lists and collections can be sorted. */
export const overviewColumns = ['name', 'size', 'creator', 'created'] as const;
export type OverviewSort = Sort<(typeof overviewColumns)[number]>;

/** The most choices that a form offers, and the most deleted lists that a page shows. */
const mostChoices = 1000;
export const mostDeletedShown = 100;
const newestFirst = [desc(collections.createdAt), asc(collections.id)];
const idAndName = { id: collections.id, name: collections.name };
const hasId = eq(collections.id, sql.placeholder('id'));
const who = sql.placeholder('who');

export type ShownColumns = Record<string, SQLiteColumn | SQL>;

/** What is read of all that a viewer sees: in another order, a part of it, those that a condition names. */
interface Selection {
  order?: SQL[];
  most?: number;
  offset?: number;
  only?: SQL;
}

/** The values of the placeholders `who` and `organization`. */
const valuesOf = (viewer: Viewer) => ({
  who: viewer.kind === 'user' ? viewer.subject : viewer.id,
  organization: viewer.organization,
});

/** Finds the lists or collections of a kind that a viewer may see (rule D8.3). */
export function createVisible({ orm }: Database, kind: CollectionKind) {
  const organization = sql.placeholder('organization');
  const isActive = and(eq(collections.kind, kind), isNull(collections.deletedAt));
  /** A user sees their own and those shared in the organization; an integration token those assigned to it. */
  const visible = {
    user: sql`${isActive} AND (${collections.createdById} = ${who}
      OR (${collections.visibility} = 'SHARED' AND ${collections.organizationId} = ${organization}))`,
    integration: sql`${isActive} AND ${collections.organizationId} = ${organization}
      AND ${collections.id} IN (SELECT ${integrationTokenLists.listId} FROM ${integrationTokenLists}
                                 WHERE ${integrationTokenLists.tokenId} = ${who})`,
  };
  const prepareFind = (viewer: Viewer['kind']) =>
    orm.select().from(collections).where(and(hasId, visible[viewer])).prepare();
  const visibleOne = { user: prepareFind('user'), integration: prepareFind('integration') };

  /** A collection that the viewer may see. Throws the one 404 for all that they may not (D2.5). */
  function find(viewer: Viewer, id: string, field?: string): Collection {
    const row = visibleOne[viewer.kind].get({ id, ...valuesOf(viewer) });
    if (!row) throw notFound(field);
    return row;
  }

  return {
    find,

    /** A collection of the user's own. Throws 404 for what they may not see, 403 for what is another's. */
    own(user: User, id: string): Collection {
      const row = find(user, id);
      if (row.createdById !== user.subject) throw forbidden('Only the creator may do this');
      return row;
    },

    /** Some columns of what the viewer sees, newest first, then by id (D3.4), unless another order is given. */
    allWith<Columns extends ShownColumns>(
      viewer: Viewer,
      columns: Columns,
      { order = newestFirst, most = -1, offset = 0, only }: Selection = {},
    ) {
      const rows = orm
        .select<ShownColumns>(columns)
        .from(collections)
        .where(and(visible[viewer.kind], only))
        .orderBy(...order)
        .limit(most)
        .offset(offset)
        .prepare()
        .all(valuesOf(viewer));
      return rows as SelectResultFields<Columns>[];
    },
  };
}

/** Reads the collections of a kind. `shown` are the columns of an answer, in their order; they may name `who`. */
export function createCollectionReader<Shown extends ShownColumns>(
  db: Database,
  kind: CollectionKind,
  shown: Shown,
) {
  const { orm } = db;
  const { find, own, allWith } = createVisible(db, kind);
  const shownOne = orm.select<ShownColumns>(shown).from(collections).where(hasId).prepare();
  return {
    find,
    own,

    shown: (viewer: Viewer, id: string) =>
      shownOne.get({ id, ...valuesOf(viewer) }) as SelectResultFields<Shown>,

    all: (viewer: Viewer) => allWith(viewer, shown),
    allWith,

    /** A page, in the order of a column with nulls last if one is given. */
    page(viewer: Viewer, { sort, ...page }: Page & { sort?: OverviewSort | undefined }) {
      const { name, createdById, createdByEmail, createdAt } = collections;
      const sortable: Record<(typeof overviewColumns)[number], SQL | SQLiteColumn> = {
        name: sql`lower(${name})`,
        size: countEntries(kind),
        // The page calls the viewer "you".
        creator: sql`iif(${createdById} = ${who}, 'you', coalesce(${createdByEmail}, ${createdById}))`,
        created: createdAt,
      };
      const { column, down } = sortOf(sort ?? '-created');
      const by = sql`${sortable[column]} ${sql.raw(down ? 'DESC' : 'ASC')} NULLS LAST`;
      const { total } = allWith(viewer, { total: count() }, { order: [] })[0]!;
      const at = { most: page.limit, offset: offsetOf(page, total) };
      const rows = allWith(viewer, shown, { order: [by, ...newestFirst], ...at });
      return { rows, pagination: paginationOf(page, total) };
    },

    /** The ids and names of the newest that the viewer sees, for a form to choose from. */
    choices: (viewer: Viewer) => allWith(viewer, idAndName, { most: mostChoices }),

    ownChoices: (user: User) =>
      allWith(user, idAndName, { most: mostChoices, only: eq(collections.createdById, user.subject) }),

    /** The user's collections that were deleted at or after a time, newest deletion first; one of them, where `id` is given. */
    deletedSince({ subject }: User, time: string, id?: string) {
      const isOwn = and(eq(collections.kind, kind), eq(collections.createdById, subject));
      return orm
        .select({ ...idAndName, deletedAt: sql<string>`${collections.deletedAt}` })
        .from(collections)
        .where(
          and(isOwn, gte(collections.deletedAt, time), id === undefined ? undefined : eq(collections.id, id)),
        )
        .orderBy(desc(collections.deletedAt), asc(collections.id))
        .limit(mostDeletedShown)
        .all();
    },
  };
}
