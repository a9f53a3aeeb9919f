import { sql } from 'drizzle-orm';
import type { User, Viewer } from '../auth/viewer.ts';
import { notFound } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import { bundles as bundleTable } from '../db/user-tables.ts';
import { type Bundle, type BundleChange, type BundleFields, createBundleService } from './bundles.ts';
import { retentionMilliseconds } from './clock.ts';
import type { List, Lists } from './lists-schema.ts';

const maxName = 200;

export type ListService = ReturnType<typeof createListService>;

/** Lists of STIGs (rule D8); their entries are the service of `list-stigs.ts`. */
export function createListService(db: Database, now: () => Date, newId: () => string) {
  const bundles = createBundleService(db, 'list', now, newId);
  const slugsOf = sql<string>`(SELECT json_group_array(s.slug ORDER BY e.position, s.slug)
    FROM list_stigs AS e JOIN stigs AS s ON s.id = e.stig_id WHERE e.list_id = ${bundleTable}.id)`;
  const copyEntries = db.sqlite.prepare<[string, string, string]>(
    `INSERT INTO list_stigs (list_id, stig_id, position, notes, added_at)
     SELECT ?, stig_id, position, notes, ? FROM list_stigs WHERE list_id = ?`,
  );

  const toList = (row: Bundle, stigCount = bundles.count(row.id)): List => ({
    id: row.id,
    name: row.name,
    description: row.description,
    tags: row.tags,
    color: row.color,
    icon: row.icon,
    visibility: row.visibility,
    stigCount,
    createdById: row.createdById,
    createdByEmail: row.createdByEmail,
    organizationId: row.organizationId,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  });

  return {
    /** What the viewer sees; `withSlugs` adds each list's STIGs by position, then slug. */
    all(viewer: Viewer, withSlugs: boolean): Lists {
      return db.read(() => {
        const rows = bundles.all(viewer, withSlugs ? { slugs: slugsOf } : {});
        return {
          lists: rows.map((row) => ({
            ...toList(row, row.members),
            ...(row.slugs === undefined ? {} : { stigSlugs: JSON.parse(row.slugs) as string[] }),
          })),
        };
      });
    },

    get: (viewer: Viewer, id: string): List => db.read(() => toList(bundles.find(viewer, id))),

    /** A list of the user's own. Throws 404 for what they may not see, 403 for what is another's. */
    own: (user: User, id: string): List => db.read(() => toList(bundles.own(user, id))),

    create: (user: User, fields: BundleFields): Promise<List> =>
      db.write(() => toList(bundles.create(user, fields))),

    change(user: User, id: string, change: BundleChange): Promise<List> {
      return db.write(() => {
        const row = bundles.own(user, id);
        return toList(Object.keys(change).length === 0 ? row : bundles.change(id, change));
      });
    },

    remove(user: User, id: string): Promise<void> {
      return db.write(() => bundles.remove(bundles.own(user, id).id));
    },

    /**
     * Takes a deletion back (D8.5): the creator's, within 30 days; an active list is given as it is. Throws 404 for a
     * list that is gone, deleted too long ago or another's, 403 for another's that is active and visible.
     */
    restore(user: User, id: string): Promise<List> {
      return db.write(() => {
        const row = bundles.ownDeleted(user, id);
        if (row === null) return toList(bundles.own(user, id));
        if (now().getTime() - Date.parse(row.deletedAt!) > retentionMilliseconds) throw notFound();
        return toList(bundles.change(id, { deletedAt: null }));
      });
    },

    /** The user's deleted lists that may still be restored, newest deletion first. */
    deleted(user: User): { id: string; name: string; deletedAt: string }[] {
      const since = new Date(now().getTime() - retentionMilliseconds).toISOString();
      return db.read(() =>
        bundles
          .deletedSince(user, since)
          .map(({ id, name, deletedAt }) => ({ id, name, deletedAt: deletedAt! })),
      );
    },

    /** A private copy with the same entries, owned by the caller. */
    duplicate(user: User, id: string): Promise<List> {
      return db.write(() => {
        const { description, tags, color, icon, name } = bundles.find(user, id);
        const copyName = [...`${name} (copy)`].slice(0, maxName).join('').trimEnd();
        const fields = { name: copyName, description, tags, color, icon, visibility: 'PRIVATE' as const };
        const copy = bundles.create(user, fields);
        copyEntries.run(copy.id, copy.createdAt, id);
        return toList(copy);
      });
    },
  };
}
