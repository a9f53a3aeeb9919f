import { and, eq } from 'drizzle-orm';
import type { User, Viewer } from '../auth/viewer.ts';
import { badRequest } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import { listSeen } from '../db/user-tables.ts';
import { createVisible } from './collections.ts';
import { createListRows } from './list-rows.ts';

export interface Seen {
  seenAt: string | null;
  /** The newest release of each STIG at that time, by slug. */
  versions: Map<string, string>;
}

export type ListSeenService = ReturnType<typeof createListSeenService>;

/** What a person has seen of a list (rule D36.7). `slugOf` gives the present slug of a STIG that was renamed since. */
export function createListSeenService(db: Database, now: () => Date, slugOf: (name: string) => string) {
  const visible = createVisible(db, 'list');
  const rows = createListRows(db);
  const isOf = (subject: string, id: string) =>
    and(eq(listSeen.collectionId, id), eq(listSeen.subject, subject));

  return {
    /** Of a list that the viewer may see; an integration token has seen nothing. */
    of(viewer: Viewer, id: string): Seen {
      if (viewer.kind !== 'user') return { seenAt: null, versions: new Map() };
      const row = db.orm.select().from(listSeen).where(isOf(viewer.subject, id)).get();
      const versions = Object.entries(row?.versions ?? {}).map(
        ([slug, version]) => [slugOf(slug), version] as const,
      );
      return { seenAt: row?.seenAt ?? null, versions: new Map(versions) };
    },

    /** Keeps the newest releases of now, as seen at a time; null forgets them. Throws 404, and 400 for a time in the future. */
    mark(user: User, id: string, at: string | null): Promise<{ seenAt: string | null }> {
      return db.write(() => {
        visible.find(user, id);
        if (at !== null && new Date(at) > now()) throw badRequest('at must not be in the future', '/at');
        // No revision: what one person has seen changes no answer of another.
        db.audience.concern(user.subject, null);
        db.orm.delete(listSeen).where(isOf(user.subject, id)).run();
        if (at === null) return { seenAt: null };
        const seenAt = new Date(at).toISOString();
        const newest = rows.entries(id).filter((entry) => entry.newest !== '');
        const versions = Object.fromEntries(newest.map((entry) => [entry.slug, entry.newest]));
        db.orm.insert(listSeen).values({ collectionId: id, subject: user.subject, seenAt, versions }).run();
        return { seenAt };
      });
    },
  };
}
