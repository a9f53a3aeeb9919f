import { eq, getTableColumns, sql } from 'drizzle-orm';
import type { User, Viewer } from '../auth/viewer.ts';
import { notFound } from '../base/errors.ts';
import { arrayText, type JsonText } from '../base/json.ts';
import type { Database } from '../db/database.ts';
import { collections, listStigs } from '../db/user-tables.ts';
import { type CollectionChange, type CollectionFields, createCollectionService } from './collections.ts';
import { countEntries } from './entries.ts';
import type { List, Lists } from './lists-schema.ts';
import { slugOf, versionOf } from './references.ts';
import { retentionMilliseconds } from './retention.ts';

const maxName = 200;

const { id, name, description, tags, color, icon, visibility, ...others } = getTableColumns(collections);
const { createdById, createdByEmail, organizationId, createdAt, updatedAt } = others;
const stigCount = countEntries('list');
const shown = {
  ...{ id, name, description, tags, color, icon, visibility, stigCount },
  ...{ createdById, createdByEmail, organizationId, createdAt, updatedAt },
};
const stigSlugs = sql`(SELECT json_group_array(slug ORDER BY position, slug)
  FROM (SELECT ${slugOf(listStigs)} AS slug, position FROM ${listStigs} WHERE list_id = ${collections}.id))`;

export type ListService = ReturnType<typeof createListService>;

/** Lists of STIGs (rule D8); their entries are the service of `list-entries.ts`. */
export function createListService(db: Database, now: () => Date, newId: () => string) {
  const lists = createCollectionService(db, 'list', shown, now, newId);
  return {
    /** A page of the lists that the viewer sees. */
    page: (viewer: Viewer, wanted: Parameters<typeof lists.page>[1]) =>
      db.read(() => lists.page(viewer, wanted)),

    choices: (viewer: Viewer) => db.read(() => lists.choices(viewer)),
    ownChoices: (user: User) => db.read(() => lists.ownChoices(user)),

    /** What the viewer sees as JSON text; `withSlugs` adds each list's STIGs by position, then slug. */
    text(viewer: Viewer, withSlugs: boolean): JsonText<Lists> {
      const columns = withSlugs ? { ...shown, stigSlugs: sql`json(${stigSlugs})` } : shown;
      return `{"lists":${arrayText(db.read(() => lists.texts(viewer, columns)))}}`;
    },

    get: (viewer: Viewer, id: string): List => db.read(() => lists.shown(lists.find(viewer, id).id)),

    /** A list of the user's own. Throws 404 for what they may not see, 403 for what is another's. */
    own: (user: User, id: string): List => db.read(() => lists.shown(lists.own(user, id).id)),

    create: (user: User, fields: CollectionFields): Promise<List> =>
      db.write(() => lists.shown(lists.create(user, fields).id)),

    change(user: User, id: string, change: CollectionChange): Promise<List> {
      return db.write(() => {
        lists.own(user, id);
        if (Object.keys(change).length > 0) lists.change(id, change);
        return lists.shown(id);
      });
    },

    remove(user: User, id: string): Promise<void> {
      return db.write(() => lists.remove(lists.own(user, id).id));
    },

    /**
     * Takes a deletion back (D8.5): the creator's, within 30 days; an active list is given as it is. Throws 404 for a
     * list that is gone, deleted too long ago or another's, 403 for another's that is active and visible, 400 where there is
     * no room for one more.
     */
    restore(user: User, id: string): Promise<List> {
      return db.write(() => {
        const row = lists.ownDeleted(user, id);
        if (row === null) return lists.shown(lists.own(user, id).id);
        if (now().getTime() - Date.parse(row.deletedAt!) > retentionMilliseconds) throw notFound();
        return lists.shown(lists.restore(user, id).id);
      });
    },

    /** The user's deleted lists that may still be restored, newest deletion first, at most a page of them. */
    deleted(user: User): { id: string; name: string; deletedAt: string }[] {
      const since = new Date(now().getTime() - retentionMilliseconds).toISOString();
      const rows = db.read(() => lists.deletedSince(user, since));
      return rows.map(({ id, name, deletedAt }) => ({ id, name, deletedAt: deletedAt! }));
    },

    /** A private copy with the same entries, owned by the caller. */
    duplicate(user: User, id: string): Promise<List> {
      return db.write(() => {
        const { description, tags, color, icon, name } = lists.find(user, id);
        const copyName = [...`${name} (copy)`].slice(0, maxName).join('').trimEnd();
        const fields = { name: copyName, description, tags, color, icon, visibility: 'PRIVATE' as const };
        const copy = lists.create(user, fields);
        const entries = db.orm
          .select({
            collectionId: sql<string>`${copy.id}`.as('collectionId'),
            slug: listStigs.slug,
            benchmarkId: listStigs.benchmarkId,
            title: listStigs.title,
            // A copy is made of what there is now: it was added when it was copied.
            version: versionOf(listStigs).as('version'),
            position: listStigs.position,
            notes: listStigs.notes,
            addedAt: sql<string>`${copy.createdAt}`.as('addedAt'),
          })
          .from(listStigs)
          .where(eq(listStigs.collectionId, id));
        db.orm.insert(listStigs).select(entries).run();
        return lists.shown(copy.id);
      });
    },
  };
}
