import { and, asc, count, desc, eq, gte, isNull, max, type SQL, sql } from 'drizzle-orm';
import type { SelectResultFields } from 'drizzle-orm/query-builders/select.types';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { User, Viewer } from '../auth/viewer.ts';
import { badRequest, forbidden, notFound } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import {
  type CollectionKind,
  collectionControls,
  collectionDocuments,
  collectionRoles,
  collections,
  integrationTokenLists,
  listStigs,
} from '../db/user-tables.ts';
import { seeTime } from './purge.ts';
import { maxPosition } from './schema.ts';

export type Collection = typeof collections.$inferSelect;

/** The entries of each kind. */
const entriesOf = {
  list: listStigs,
  'control-collection': collectionControls,
  'regdoc-collection': collectionDocuments,
  'role-collection': collectionRoles,
};

/** An entry to be made: what it is of, and its notes where its kind has some. */
export interface NewEntry {
  reference: string | number;
  notes?: string | null | undefined;
}

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

/** The number of entries of the collections of a kind, as a column. */
export function countEntries(kind: CollectionKind): SQL<number> {
  const { collectionId } = entriesOf[kind];
  return sql`(SELECT count(*) FROM ${entriesOf[kind]} WHERE ${collectionId} = ${collections}.id)`;
}

/**
 * What lists and the three kinds of collections have in common (specification, "Authentication" 5; DECISIONS D8): who
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
  // Every table of entries has these columns, whatever the type of what they refer to.
  const entries = entriesOf[kind] as typeof collectionControls;
  const ofCollection = eq(entries.collectionId, sql.placeholder('id'));
  const size = orm.select({ entries: count() }).from(entries).where(ofCollection).prepare();
  const last = orm
    .select({ position: max(entries.position) })
    .from(entries)
    .where(ofCollection)
    .prepare();
  const insertEntry = orm
    .insert(entries)
    .values({
      collectionId: sql.placeholder('id'),
      reference: sql.placeholder('reference'),
      position: sql.placeholder('position'),
      notes: sql.placeholder('notes'),
      addedAt: sql.placeholder('addedAt'),
    })
    .onConflictDoNothing()
    .prepare();
  const removeEntry = orm
    .delete(entries)
    .where(and(ofCollection, eq(entries.reference, sql.placeholder('reference'))))
    .prepare();

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
  function allWith<Columns extends ShownColumns>(viewer: Viewer, columns: Columns) {
    const rows = orm
      .select<ShownColumns>(columns)
      .from(collections)
      .where(visible[viewer.kind])
      .orderBy(desc(collections.createdAt), asc(collections.id))
      .prepare()
      .all(valuesOf(viewer));
    return rows as SelectResultFields<Columns>[];
  }

  /** Who sees it: its creator, and its organization, whose tokens may read also what is private. */
  const concern = (row: Collection) => db.audience.concern(row.createdById, row.organizationId);

  /** How many entries a collection has. */
  const sizeOf = (id: string): number => size.get({ id })!.entries;

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
    sizeOf,
    change,

    /** What answers have of a collection. */
    shown: (id: string) => shownOne.get({ id }) as SelectResultFields<Shown>,

    /** What the viewer sees, newest first, then by id (D3.4). */
    all: (viewer: Viewer) => allWith(viewer, shown),
    allWith,

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

    /** What the user deleted from a time on, newest first. */
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
        .all();
    },

    /** Makes a collection of the user's: creator, e-mail and organization are the token's word, never a body's. */
    create(user: User, fields: Omit<CollectionFields, 'icon'> & { icon?: string }): Collection {
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
      concern(orm.update(collections).set({ deletedAt }).where(eq(collections.id, id)).returning().get()!);
    },

    /**
     * Appends what is not there yet, in the order given (D8.4); `missing` is what the catalog does not have. Throws a 400
     * where there is no position after the last entry's: to make room would move entries that nobody asked to move.
     */
    add<T>(id: string, wanted: NewEntry[], missing: T[]) {
      const addedAt = now().toISOString();
      let position = last.get({ id })!.position ?? 0;
      let added = 0;
      for (const { reference, notes } of wanted) {
        const row = { id, reference, position: position + 1, notes: notes ?? '', addedAt };
        if (insertEntry.run(row).changes === 0) continue;
        added++;
        if (++position > maxPosition) throw noPositionLeft();
      }
      if (added > 0) change(id, {});
      const notFoundPart = missing.length === 0 ? {} : { notFound: missing };
      return { success: true as const, added, total: sizeOf(id), ...notFoundPart };
    },

    /** Takes entries out; what is not there is no error. Gives how many were. */
    take(id: string, unwanted: Pick<NewEntry, 'reference'>[]): number {
      let removed = 0;
      for (const { reference } of unwanted) removed += removeEntry.run({ id, reference }).changes;
      if (removed > 0) change(id, {});
      return removed;
    },
  };
}

function noPositionLeft(): Error {
  return badRequest(
    `An entry of the list has position ${maxPosition}, after which there is none: give it a smaller one first`,
  );
}
