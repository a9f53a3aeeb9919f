import { and, asc, desc, eq, gte, is, isNull, type SQL, sql } from 'drizzle-orm';
import type { SelectResultFields } from 'drizzle-orm/query-builders/select.types';
import { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { User, Viewer } from '../auth/viewer.ts';
import { forbidden, notFound } from '../base/errors.ts';
import type { Sort } from '../base/sort.ts';
import type { Database } from '../db/database.ts';
import { orderBy } from '../db/order-by.ts';
import { type CollectionKind, collections, integrationTokenLists } from '../db/user-tables.ts';
import { type Page, paginationOf, slice } from '../http/paging.ts';
import { countEntries, createEntries, type NewEntry } from './entries.ts';
import { isAmong, type Reference } from './references.ts';
import { seeTime } from './retention.ts';
import { createRoom } from './room.ts';

export type Collection = typeof collections.$inferSelect;

/** What lists and collections can be sorted by on their pages. */
export const overviewColumns = ['name', 'size', 'creator', 'created'] as const;
export type OverviewSort = Sort<(typeof overviewColumns)[number]>;

/** The most that a page offers to choose from, and the most deleted ones that it shows. */
const mostChoices = 1000;
export const mostDeletedShown = 100;
const newestFirst = [desc(collections.createdAt), asc(collections.id)];
const idAndName = { id: collections.id, name: collections.name };

/** What a creator may set. */
export type CollectionFields = Pick<
  Collection,
  'name' | 'description' | 'tags' | 'color' | 'icon' | 'visibility'
>;

/** The columns of an answer, by their names. */
type ShownColumns = Record<string, SQLiteColumn | SQL>;

/** Some of them; what is undefined stays as it is. */
export type CollectionChange = { [K in keyof CollectionFields]?: CollectionFields[K] | undefined };

export type CollectionService = ReturnType<typeof createCollectionService>;

/**
 * What lists and the three kinds of collections have in common (rule D8.3): who
 * sees them, who may change them, how they are made, changed and deleted softly, how entries come and go. `shown` are
 * the columns that answers have, in their order.
 */
export function createCollectionService<Shown extends ShownColumns>(
  db: Database,
  kind: CollectionKind,
  shown: Shown,
  now: () => Date,
  newId: () => string,
) {
  const { orm } = db;
  const entries = createEntries(db, kind);
  const room = createRoom(db, kind);
  const who = sql.placeholder('who');
  const organization = sql.placeholder('organization');
  const isActive = and(eq(collections.kind, kind), isNull(collections.deletedAt));
  /** The creator's own, and what is shared in the organization; for an integration token what is assigned to it. */
  const visible = {
    user: sql`${isActive} AND (${collections.createdById} = ${who}
      OR (${collections.visibility} = 'SHARED' AND ${collections.organizationId} = ${organization}))`,
    integration: sql`${isActive} AND ${collections.organizationId} = ${organization}
      AND ${collections.id} IN (SELECT ${integrationTokenLists.listId} FROM ${integrationTokenLists}
                                 WHERE ${integrationTokenLists.tokenId} = ${who})`,
  };
  const valuesOf = (viewer: Viewer) => ({
    who: viewer.kind === 'user' ? viewer.subject : viewer.id,
    organization: viewer.organization,
  });
  const hasId = eq(collections.id, sql.placeholder('id'));
  const prepareFind = (viewer: Viewer['kind']) =>
    orm.select().from(collections).where(and(hasId, visible[viewer])).prepare();
  const visibleOne = { user: prepareFind('user'), integration: prepareFind('integration') };
  const shownOne = orm.select<ShownColumns>(shown).from(collections).where(hasId).prepare();

  /** A collection that the viewer may see. Throws the one 404 for all that they may not (D2.5). */
  function find(viewer: Viewer, id: string): Collection {
    const row = visibleOne[viewer.kind].get({ id, ...valuesOf(viewer) });
    if (!row) throw notFound();
    return row;
  }

  /** What the viewer sees, with other columns than those of answers. */
  function allWith<Columns extends ShownColumns>(
    viewer: Viewer,
    columns: Columns,
    order: SQL[] = newestFirst,
    { most = -1, only }: { most?: number; only?: SQL } = {},
  ) {
    const rows = orm
      .select<ShownColumns>(columns)
      .from(collections)
      .where(and(visible[viewer.kind], only))
      .orderBy(...order)
      .limit(most)
      .prepare()
      .all(valuesOf(viewer));
    return rows as SelectResultFields<Columns>[];
  }

  /** Who sees it: its creator, and its organization, whose tokens may read also what is private. */
  const concern = (row: Collection) => db.audience.concern(row.createdById, row.organizationId);

  /** Changes what is given; an empty change (as when only entries changed) moves `updatedAt` alone. */
  function change(id: string, what: CollectionChange & { deletedAt?: null }): Collection {
    const row = orm
      .update(collections)
      .set({ ...what, updatedAt: now().toISOString() })
      .where(eq(collections.id, id))
      .returning()
      .get()!;
    concern(row);
    return row;
  }

  return {
    find,
    sizeOf: entries.sizeOf,
    change,

    /** What answers have of a collection. */
    shown: (id: string) => shownOne.get({ id }) as SelectResultFields<Shown>,

    /** What the viewer sees, newest first, then by id (D3.4). */
    all: (viewer: Viewer) => allWith(viewer, shown),

    /** A page of what the viewer sees, newest first or as it is sorted. */
    page(viewer: Viewer, { sort, ...wanted }: Page & { sort?: OverviewSort | undefined }) {
      const { id, name, createdById, createdByEmail, createdAt } = collections;
      const sortable: Record<(typeof overviewColumns)[number], SQL | SQLiteColumn> = {
        name: sql`lower(${name})`,
        size: countEntries(kind),
        // The page calls the viewer "you".
        creator: sql`iif(${createdById} = ${who}, 'you', coalesce(${createdByEmail}, ${createdById}))`,
        created: createdAt,
      };
      // One look at all of them gives their order and their number.
      const all = allWith(viewer, { id }, orderBy(sort, sortable, newestFirst));
      const ids = slice(all, wanted).map((row) => row.id);
      const onPage = orm
        .select<ShownColumns>(shown)
        .from(collections)
        .where(isAmong(sql`${id}`, ids))
        .all();
      const byId = new Map(onPage.map((row) => [row.id, row as SelectResultFields<Shown>]));
      return { rows: ids.map((each) => byId.get(each)!), pagination: paginationOf(wanted, all.length) };
    },

    /** The ids and names of what the viewer sees, to choose one: the newest. */
    choices: (viewer: Viewer) => allWith(viewer, idAndName, newestFirst, { most: mostChoices }),

    /** The same of what is the user's own. */
    ownChoices(user: User) {
      const only = eq(collections.createdById, user.subject);
      return allWith(user, idAndName, newestFirst, { most: mostChoices, only });
    },

    /** What the viewer sees, each as the JSON text of an object: thousands of rows cost little more than a page of them. */
    texts(viewer: Viewer, columns: ShownColumns): string[] {
      const pairs = Object.entries(columns).map(([key, column]) => {
        const isJson = is(column, SQLiteColumn) && column.dataType === 'json';
        return sql`${sql.raw(`'${key}'`)}, ${isJson ? sql`json(${column})` : column}`;
      });
      const text = sql<string>`json_object(${sql.join(pairs, sql`, `)})`;
      return allWith(viewer, { text }).map((row) => row.text);
    },

    /** A collection of the user's own. Throws 404 for what they may not see, 403 for what is another's. */
    own(user: User, id: string): Collection {
      const row = find(user, id);
      if (row.createdById !== user.subject) throw forbidden('Only the creator may do this');
      return row;
    },

    /** One of the user's own that is deleted, or null. */
    ownDeleted(user: User, id: string): Collection | null {
      const row = orm
        .select()
        .from(collections)
        .where(
          and(eq(collections.id, id), eq(collections.kind, kind), eq(collections.createdById, user.subject)),
        )
        .get();
      return row && row.deletedAt !== null ? row : null;
    },

    /** The newest that the user deleted from a time on. */
    deletedSince(user: User, time: string): Collection[] {
      return orm
        .select()
        .from(collections)
        .where(
          and(
            eq(collections.kind, kind),
            eq(collections.createdById, user.subject),
            gte(collections.deletedAt, time),
          ),
        )
        .orderBy(desc(collections.deletedAt), asc(collections.id))
        .limit(mostDeletedShown)
        .all();
    },

    /** Takes a deletion back. Throws a 400 where the user has as many as one may have. */
    restore(user: User, id: string): Collection {
      room.require(user, false);
      return change(id, { deletedAt: null });
    },

    /**
     * Makes a collection of the user's: creator, e-mail and organization are the token's word, never a body's. Throws a 400
     * where the user has as many as one may have.
     */
    create(user: User, fields: Omit<CollectionFields, 'icon'> & { icon?: string }): Collection {
      room.require(user, true);
      const time = now().toISOString();
      const row: Collection = {
        id: newId(),
        kind,
        icon: '',
        ...fields,
        createdById: user.subject,
        createdByEmail: user.email,
        organizationId: user.organization,
        createdAt: time,
        updatedAt: time,
        deletedAt: null,
      };
      orm.insert(collections).values(row).run();
      concern(row);
      return row;
    },

    /** Deletes softly, dated by the latest time seen: a clock behind it would make the purge come too early. */
    remove(id: string): void {
      const deletedAt = seeTime(db, now());
      const row = orm.update(collections).set({ deletedAt }).where(eq(collections.id, id)).returning().get()!;
      room.dropOldest(row.createdById);
      concern(row);
    },

    /** Appends entries as `entries` does; `missing` names those that the catalog does not have. */
    add<T>(id: string, wanted: NewEntry[], missing: T[]) {
      const added = entries.add(id, wanted, now().toISOString());
      if (added > 0) change(id, {});
      const notFoundPart = missing.length === 0 ? {} : { notFound: missing };
      return { success: true as const, added, total: entries.sizeOf(id), ...notFoundPart };
    },

    /** Takes entries out; what is not there is no error. Gives how many were. */
    take(id: string, unwanted: Reference[]): number {
      const removed = entries.take(id, unwanted);
      if (removed > 0) change(id, {});
      return removed;
    },
  };
}
