import { count } from '../../src/base/text.ts';
import type { Database } from '../../src/db/database.ts';

/** A slug that an override left without a release, and how much of users' data refers to it. */
export interface EmptiedSlug {
  slug: string;
  listEntries: number;
  favorites: number;
}

/**
 * Of the STIGs with these slugs those that have no release and that lists (also deleted ones, which may be restored) or
 * favorites refer to. Users' data is looked at, never moved.
 */
export function emptiedSlugs(db: Database, slugs: Iterable<string>): EmptiedSlug[] {
  const find = db.sqlite.prepare<[string], EmptiedSlug>(
    `SELECT s.slug, (SELECT count(*) FROM list_stigs WHERE stig_id = s.id) AS listEntries,
            (SELECT count(*) FROM favorite_stigs WHERE stig_id = s.id) AS favorites
       FROM stigs AS s WHERE s.slug = ? AND NOT EXISTS (SELECT 1 FROM stig_releases WHERE stig_id = s.id)`,
  );
  return [...new Set(slugs)].flatMap((slug) =>
    find.all(slug).filter(({ listEntries, favorites }) => listEntries + favorites > 0),
  );
}

/** What is told of it, in words. */
export function describeEmptied({ slug, listEntries, favorites }: EmptiedSlug): string {
  return `${count(listEntries, 'list entry', 'list entries')} and ${count(favorites, 'favorite')} refer to ${slug}, which no longer has a release`;
}
