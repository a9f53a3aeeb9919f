import { and, eq, sql } from 'drizzle-orm';
import type { User } from '../auth/viewer.ts';
import { badRequest, notFound } from '../base/errors.ts';
import { cut } from '../base/text.ts';
import type { StigNameIndex } from '../catalog/stigs/name-index.ts';
import type { Database } from '../db/database.ts';
import { listStigs } from '../db/user-tables.ts';
import type { Match } from '../http/if-match.ts';
import { pointerTo } from '../http/schema.ts';
import { createCollectionWriter } from './collection-writer.ts';
import type { ListStigUpdate } from './lists-schema.ts';
import { referencesToStigs, slugOf } from './references.ts';
import type { StigsAdded } from './schema.ts';

const slug = sql.raw(slugOf('list_stigs'));

/** Changes the entries of a user's own lists (rule D8). */
export function createListEntryWriter(db: Database, now: () => Date, stigNames: StigNameIndex) {
  const lists = createCollectionWriter(db, 'list', now);

  /** Numbers all entries from 1. The moved one takes the place of another, which goes on to where it came from. */
  function renumber(id: string, moved: string, direction: number): void {
    const place = sql`row_number() OVER (ORDER BY position, iif(${slug} = ${moved}, ${direction}, 0), ${slug})`;
    db.orm.run(sql`UPDATE list_stigs SET position = placed.place
      FROM (SELECT slug, benchmark_id, ${place} AS place FROM list_stigs WHERE list_id = ${id}) AS placed
      WHERE list_id = ${id} AND list_stigs.slug = placed.slug AND list_stigs.benchmark_id = placed.benchmark_id`);
  }

  const hasRelease = db.sqlite.prepare<[string, string]>(
    `SELECT 1 FROM stigs JOIN stig_releases AS release ON release.stig_id = stigs.id
      WHERE stigs.slug = ? AND release.version = ?`,
  );

  /** A release of a STIG as the catalog writes it; null stays. Throws 400 for one that it does not have. */
  function known(slug: string, release: string | null, ...field: string[]): string | null {
    if (release === null) return null;
    const version = release.trim().toUpperCase();
    if (!hasRelease.get(slug, version))
      throw badRequest(`Version not found: ${cut(release)} of ${cut(slug)}`, pointerTo(field));
    return version;
  }

  return {
    /**
     * Appends the STIGs of the catalog that are not in the list yet, in the order given; `notes` and `releases` are by slug.
     * Throws 400 for a release that is not there, or of a STIG that is not among them (rule D36.1).
     */
    add(
      user: User,
      id: string,
      slugs: string[],
      {
        notes = new Map(),
        releases = new Map(),
        match = null,
      }: {
        notes?: ReadonlyMap<string, string>;
        releases?: ReadonlyMap<string, string | null>;
        match?: Match;
      } = {},
    ): Promise<StigsAdded> {
      return db.write(() => {
        lists.own(user, id, match);
        const named = referencesToStigs(stigNames, [...new Set(slugs)]);
        const missing = named.filter(({ seen }) => seen === null).map(({ name }) => name);
        const keys = new Set(named.map(({ key }) => key));
        const pinned = new Map<string, string | null>();
        for (const [name, release] of releases) {
          const field = ['releases', name];
          const key = stigNames.slugOf(name);
          if (!keys.has(key))
            throw badRequest(`releases names a STIG that is not in slugs: ${cut(name)}`, pointerTo(field));
          if (stigNames.ofSlug(key)) pinned.set(key, known(key, release, ...field));
        }
        const entries = named.map(({ key, seen, name }) => {
          return { key, seen: seen && { ...seen, release: pinned.get(key) ?? null }, notes: notes.get(name) };
        });
        return lists.add(id, entries, missing);
      });
    },

    /** Removes STIGs from the list; a STIG that is not in it is no error. */
    remove(user: User, id: string, slugs: string[], match: Match = null): Promise<number> {
      return db.write(() => {
        lists.own(user, id, match);
        return lists.removeEntries(id, referencesToStigs(stigNames, slugs));
      });
    },

    /**
     * Sets notes, position or release of one entry. It moves no other, unless `makesRoom`, as a page does (rule D8.4). Throws
     * 404 without such an entry, 400 for a release that is not there.
     */
    update(
      user: User,
      id: string,
      stigSlug: string,
      change: {
        notes?: string | undefined;
        position?: number | undefined;
        release?: string | null | undefined;
      },
      { match = null, makesRoom = false }: { match?: Match; makesRoom?: boolean } = {},
    ): Promise<ListStigUpdate> {
      return db.write(() => {
        const key = stigNames.slugOf(stigSlug);
        const isEntry = and(eq(listStigs.collectionId, id), eq(slug, key));
        const former = db.orm.select().from(listStigs).where(isEntry).get();
        // A 404 comes before a 412 (rule D36.4): the tag counts only where there is an entry.
        lists.own(user, id, former ? match : null);
        if (!former) throw notFound();
        const { notes = former.notes, position = former.position } = change;
        const release = change.release === undefined ? former.release : known(key, change.release, 'release');
        // Since an import two entries can name one STIG: each keeps the fields that the change leaves out.
        const set = {
          notes: change.notes,
          position: change.position,
          release: change.release === undefined ? undefined : release,
        };
        if (Object.values(set).some((value) => value !== undefined))
          db.orm.update(listStigs).set(set).where(isEntry).run();
        const direction = Math.sign(position - former.position);
        if (makesRoom && direction !== 0) renumber(id, key, direction);
        lists.change(id, {});
        return { stigSlug: key, notes, position, addedAt: former.addedAt, release };
      });
    },
  };
}
