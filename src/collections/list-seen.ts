import type { User, Viewer } from '../auth/viewer.ts';
import { badRequest } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
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
  const { sqlite } = db;
  const seen = sqlite.prepare<[string, string], { seenAt: string; versions: string }>(
    'SELECT seen_at AS seenAt, versions_json AS versions FROM list_seen WHERE list_id = ? AND subject = ?',
  );
  const forget = sqlite.prepare('DELETE FROM list_seen WHERE list_id = ? AND subject = ?');
  const insert = sqlite.prepare(
    'INSERT INTO list_seen (list_id, subject, seen_at, versions_json) VALUES (?, ?, ?, ?)',
  );

  return {
    /** Of a list that the viewer may see; an integration token has seen nothing. */
    of(viewer: Viewer, id: string): Seen {
      if (viewer.kind !== 'user') return { seenAt: null, versions: new Map() };
      const row = seen.get(id, viewer.subject);
      const versions = Object.entries(JSON.parse(row?.versions ?? '{}') as Record<string, string>);
      return {
        seenAt: row?.seenAt ?? null,
        versions: new Map(versions.map(([slug, version]) => [slugOf(slug), version])),
      };
    },

    /** Keeps the newest releases of now, as seen at a time; null forgets them. Throws 404, and 400 for a time in the future. */
    mark(user: User, id: string, at: string | null): Promise<{ seenAt: string | null }> {
      return db.write(() => {
        visible.find(user, id);
        if (at !== null && new Date(at) > now()) throw badRequest('at must not be in the future', '/at');
        // No revision: what one person has seen changes no answer of another.
        db.audience.concern(user.subject, null);
        forget.run(id, user.subject);
        if (at === null) return { seenAt: null };
        const seenAt = new Date(at).toISOString();
        const newest = rows.entries(id).filter((entry) => entry.newest !== '');
        const versions = Object.fromEntries(newest.map((entry) => [entry.slug, entry.newest]));
        insert.run(id, user.subject, seenAt, JSON.stringify(versions));
        return { seenAt };
      });
    },
  };
}
