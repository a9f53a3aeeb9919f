import { getTableColumns, sql } from 'drizzle-orm';
import type { User, Viewer } from '../auth/viewer.ts';
import type { Database } from '../db/database.ts';
import { collections } from '../db/user-tables.ts';
import { type Match, requireMatch } from '../http/if-match.ts';
import { createCollectionService } from './collection-writer.ts';
import { countEntries } from './entries.ts';
import type { List } from './lists-schema.ts';
import { slugOf, versionOf } from './references.ts';
import { retentionMilliseconds } from './retention.ts';

const maxName = 200;

const { id, name, description, tags, color, icon, visibility, ...others } = getTableColumns(collections);
const { createdById, createdByEmail, organizationId, createdAt, updatedAt } = others;
const stigCount = countEntries('list');
const shown = {
  id,
  name,
  description,
  tags,
  color,
  icon,
  visibility,
  stigCount,
  createdById,
  createdByEmail,
  organizationId,
  createdAt,
  updatedAt,
  /** When the viewer saw it (rule D36.7). */
  seenAt: sql<string | null>`(SELECT seen_at FROM list_seen
    WHERE list_id = ${collections}.id AND subject = ${sql.placeholder('who')})`,
};
const stigSlugs = sql`(SELECT json_group_array(slug ORDER BY position, slug)
  FROM (SELECT ${sql.raw(slugOf('list_stigs'))} AS slug, position FROM list_stigs WHERE list_id = bundles.id))`.mapWith(
  (slugs: string) => JSON.parse(slugs) as string[],
);
export type ListService = ReturnType<typeof createListService>;

/** Lists of STIGs (rule D8), without their entries. */
export function createListService(db: Database, now: () => Date, newId: () => string) {
  const { reader, writer, service } = createCollectionService(db, 'list', shown, now, newId);
  // The copy is new, so it gets the current releases.
  const copyEntries = db.sqlite.prepare<{ id: string; copy: string; addedAt: string }>(
    `INSERT INTO list_stigs (list_id, slug, benchmark_id, title, version, position, notes, added_at, release)
     SELECT :copy, slug, benchmark_id, title, ${versionOf('list_stigs')}, position, notes, :addedAt, release
       FROM list_stigs WHERE list_id = :id`,
  );
  const copyHosts = db.sqlite.prepare<{ id: string; copy: string }>(
    'INSERT INTO list_hosts (list_id, hosts_json) SELECT :copy, hosts_json FROM list_hosts WHERE list_id = :id',
  );
  const restorableSince = () => new Date(now().getTime() - retentionMilliseconds).toISOString();
  return {
    ...service,

    /** The lists that the viewer sees; `withSlugs` adds their STIGs by position, then slug. */
    all: (viewer: Viewer, withSlugs = false): List[] =>
      reader.allWith(viewer, withSlugs ? { ...shown, stigSlugs } : shown),

    /**
     * Restores a list of the user's own within 30 days (D8.5); an active list stays as it is. Throws 404 for a list that is
     * gone, deleted too long ago or another's, 403 for another's that is active and visible, 400 for one list too many.
     */
    restore(user: User, id: string, match: Match = null): Promise<List> {
      return db.write(() => {
        if (reader.deletedSince(user, restorableSince(), id).length > 0) writer.restore(user, id, match);
        else writer.own(user, id, match);
        return reader.shown(user, id);
      });
    },

    /** The newest deleted lists that the user may still restore. */
    deleted: (user: User) => db.read(() => reader.deletedSince(user, restorableSince())),

    /** A private copy with the same entries, owned by the caller. */
    duplicate(user: User, id: string, match: Match = null): Promise<List> {
      return db.write(() => {
        const { description, tags, color, icon, name, revision } = reader.find(user, id);
        requireMatch(match, revision);
        const copyName = [...`${name} (copy)`].slice(0, maxName).join('').trimEnd();
        const fields = { name: copyName, description, tags, color, icon, visibility: 'PRIVATE' as const };
        const copy = writer.create(newId(), user, fields);
        copyEntries.run({ id, copy: copy.id, addedAt: copy.createdAt });
        copyHosts.run({ id, copy: copy.id });
        return reader.shown(user, copy.id);
      });
    },
  };
}
