import { and, count, eq, isNotNull, type Placeholder, sql } from 'drizzle-orm';
import type { User, Viewer } from '../auth/viewer.ts';
import { badRequest } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import { type CollectionKind, collections } from '../db/user-tables.ts';
import { type Match, requireMatch } from '../http/if-match.ts';
import type { Page } from '../http/paging.ts';
import {
  type Collection,
  createCollectionReader,
  createVisible,
  type OverviewSort,
  type ShownColumns,
} from './collections.ts';
import { addedAnswer, createEntries, type NewEntry } from './entries.ts';
import type { Reference } from './references.ts';
import { seeTime } from './retention.ts';

export type CollectionFields = Pick<
  Collection,
  'name' | 'description' | 'tags' | 'color' | 'icon' | 'visibility'
>;

/** Some of them; an undefined field stays as it is. */
export type CollectionChange = { [K in keyof CollectionFields]?: CollectionFields[K] | undefined };

/** Creates, changes and deletes the collections of a kind (rule D8.3). Every function is to be called inside a write. */
export function createCollectionWriter(db: Database, kind: CollectionKind, now: () => Date) {
  const { orm, audience } = db;
  const visible = createVisible(db, kind);
  const entries = createEntries(db, kind);
  const room = createRoom(db, kind);
  // Cached answers of the organization too: its tokens may read private lists.
  const concern = (row: Collection) => audience.concern(row.createdById, row.organizationId);

  function update(id: string, what: { [K in keyof Collection]?: Collection[K] | undefined }): Collection {
    const row = orm.update(collections).set(what).where(eq(collections.id, id)).returning().get()!;
    concern(row);
    return row;
  }

  /** Begins a write: raises the revision (rule D36.4). Throws 412 where `match` names others. */
  function begin(row: Collection, match: Match): Collection {
    requireMatch(match, row.revision);
    // The time too: after a restore of users' data no revision comes a second time.
    return update(row.id, { revision: Math.max(row.revision + 1, now().getTime()) });
  }

  /** Sets the given fields; an empty change (as when only entries changed) moves `updatedAt` alone. */
  const change = (id: string, what: CollectionChange & { deletedAt?: null }): Collection =>
    update(id, { ...what, updatedAt: now().toISOString() });

  return {
    change,

    /** Begins a write to what the user sees. Throws 404, and 412 where `match` names other revisions. */
    find: (user: User, id: string, match: Match = null) => begin(visible.find(user, id), match),

    /** Begins a write to one of the user's own. Throws 404, 403 or 412, in that order. */
    own: (user: User, id: string, match: Match = null) => begin(visible.own(user, id), match),

    /** Restores a deleted collection. Throws 412, or a 400 if the user has too many. */
    restore(user: User, id: string, match: Match): void {
      begin(db.orm.select().from(collections).where(eq(collections.id, id)).get()!, match);
      room.require(user, false);
      change(id, { deletedAt: null });
    },

    /** Creates a collection of the token's user and organization. Throws a 400 if the user has too many. */
    create(id: string, user: User, fields: Omit<CollectionFields, 'icon'> & { icon?: string }): Collection {
      room.require(user, true);
      const time = now().toISOString();
      const row: Collection = {
        id,
        kind,
        icon: '',
        ...fields,
        createdById: user.subject,
        createdByEmail: user.email,
        organizationId: user.organization,
        createdAt: time,
        updatedAt: time,
        deletedAt: null,
        revision: Math.max(1, now().getTime()),
      };
      orm.insert(collections).values(row).run();
      concern(row);
      return row;
    },

    /** Deletes softly, dated by the latest known time: a clock behind it would make the purge early. */
    remove(id: string): void {
      room.dropOldest(update(id, { deletedAt: seeTime(db, now()) }).createdById);
    },

    /** Appends entries as `entries.add` does; `missing` names those that the catalog does not have. */
    add<T>(id: string, references: NewEntry[], missing: T[]) {
      const { added, total } = entries.add(id, references, now().toISOString());
      if (added > 0) change(id, {});
      return addedAnswer(added, total, missing);
    },

    /** Removes entries, and returns their number, which the audit event records; a missing entry is no error. */
    removeEntries(id: string, unwanted: Reference[]): number {
      const removed = entries.remove(id, unwanted);
      if (removed > 0) change(id, {});
      return removed;
    },
  };
}

/** What lists and control collections offer alike: each function is one read or one write of the database. */
export function createCollectionService<Shown extends ShownColumns>(
  db: Database,
  kind: CollectionKind,
  shown: Shown,
  now: () => Date,
  newId: () => string,
) {
  const reader = createCollectionReader(db, kind, shown);
  const writer = createCollectionWriter(db, kind, now);
  const service = {
    page: (viewer: Viewer, page: Page & { sort?: OverviewSort | undefined }) =>
      db.read(() => reader.page(viewer, page)),

    choices: (viewer: Viewer) => db.read(() => reader.choices(viewer)),
    ownChoices: (user: User) => db.read(() => reader.ownChoices(user)),

    revision: (viewer: Viewer, id: string) => db.read(() => reader.find(viewer, id).revision),

    get: (viewer: Viewer, id: string) => db.read(() => reader.shown(viewer, reader.find(viewer, id).id)),

    /** One of the user's own. Throws 404 for what they may not see, 403 for what is another's. */
    own: (user: User, id: string) => db.read(() => reader.shown(user, reader.own(user, id).id)),

    create: (user: User, fields: Omit<CollectionFields, 'icon'> & { icon?: string }) =>
      db.write(() => reader.shown(user, writer.create(newId(), user, fields).id)),

    /** Sets the given fields; an empty change leaves `updatedAt` too. */
    change: (user: User, id: string, change: CollectionChange, match: Match = null) =>
      db.write(() => {
        writer.own(user, id, match);
        if (Object.keys(change).length > 0) writer.change(id, change);
        return reader.shown(user, id);
      }),

    /** Deletes one of the user's own softly. */
    remove: (user: User, id: string, match: Match = null): Promise<void> =>
      db.write(() => writer.remove(writer.own(user, id, match).id)),
  };
  return { reader, writer, service };
}

/** The most lists, or collections of a kind, of one creator (rule D8.7). */
const mostOfCreator = 1000;

/** The same with the deleted ones, which bounds creating and deleting in turn. */
const mostWithDeleted = 5000;

/** The most deleted collections of a creator; deleted lists wait for the purge. */
const mostDeletedRetained = 1000;

const plurals: Record<CollectionKind, string> = {
  list: 'lists',
  'control-collection': 'collections of controls',
  'regdoc-collection': 'collections of documents',
  'role-collection': 'collections of roles',
};

/** How many lists or collections of a kind a creator may have. */
function createRoom({ orm }: Database, kind: CollectionKind) {
  const isOf = (creator: string | Placeholder) =>
    and(eq(collections.kind, kind), eq(collections.createdById, creator));
  const made = orm
    .select({ all: count(), active: sql<number>`count(*) FILTER (WHERE ${collections.deletedAt} IS NULL)` })
    .from(collections)
    .where(isOf(sql.placeholder('creator')))
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
        .offset(mostDeletedRetained);
      orm.delete(collections).where(sql`${collections.id} IN ${oldest}`).run();
    },
  };
}
