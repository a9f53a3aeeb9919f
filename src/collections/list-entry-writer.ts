import { and, eq, sql } from 'drizzle-orm';
import type { User } from '../auth/viewer.ts';
import { notFound } from '../base/errors.ts';
import type { StigNameIndex } from '../catalog/stigs/name-index.ts';
import type { Database } from '../db/database.ts';
import { listStigs } from '../db/user-tables.ts';
import type { Match } from '../http/if-match.ts';
import { createCollectionWriter } from './collection-writer.ts';
import type { ListStigUpdate } from './lists-schema.ts';
import { referencesToStigs, slugOf } from './references.ts';
import type { StigsAdded } from './schema.ts';

export type ListEntryWriter = ReturnType<typeof createListEntryWriter>;

/** Changes the entries of a user's own lists (rule D8). */
export function createListEntryWriter(db: Database, now: () => Date, stigNames: StigNameIndex) {
  const lists = createCollectionWriter(db, 'list', now);

  /** Numbers all entries from 1. The moved one takes the place of another, which goes on to where it came from. */
  function renumber(id: string, moved: string, direction: number): void {
    const place = sql`row_number() OVER (ORDER BY position, iif(${slugOf(listStigs)} = ${moved}, ${direction}, 0),
      ${slugOf(listStigs)})`;
    db.orm.run(sql`UPDATE list_stigs SET position = placed.place
      FROM (SELECT slug, benchmark_id, ${place} AS place FROM list_stigs WHERE list_id = ${id}) AS placed
      WHERE list_id = ${id} AND list_stigs.slug = placed.slug AND list_stigs.benchmark_id = placed.benchmark_id`);
  }

  return {
    /** Appends the STIGs of the catalog that are not in the list yet, in the order given; `notes` are by slug. */
    add(
      user: User,
      id: string,
      slugs: string[],
      notes: ReadonlyMap<string, string> = new Map(),
      match: Match = null,
    ): Promise<StigsAdded> {
      return db.write(() => {
        lists.own(user, id, match);
        const named = referencesToStigs(stigNames, [...new Set(slugs)]);
        const missing = named.filter(({ seen }) => seen === null).map(({ name }) => name);
        const wanted = named.map((each) => ({ ...each, notes: notes.get(each.name) }));
        return lists.add(id, wanted, missing);
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
     * Sets notes, position or both of one entry. It moves no other, unless `makesRoom`, as a page does (rule D8.4). Throws
     * 404 without such an entry.
     */
    update(
      user: User,
      id: string,
      stigSlug: string,
      change: { notes?: string | undefined; position?: number | undefined },
      { match = null, makesRoom = false }: { match?: Match; makesRoom?: boolean } = {},
    ): Promise<ListStigUpdate> {
      return db.write(() => {
        const key = stigNames.slugOf(stigSlug);
        const isEntry = and(eq(listStigs.collectionId, id), eq(slugOf(listStigs), key));
        const former = db.orm.select().from(listStigs).where(isEntry).get();
        // A 404 comes before a 412 (rule D36.4): the tag counts only where there is an entry.
        lists.own(user, id, former ? match : null);
        if (!former) throw notFound();
        const { notes = former.notes, position = former.position } = change;
        db.orm.update(listStigs).set({ notes, position }).where(isEntry).run();
        const direction = Math.sign(position - former.position);
        if (makesRoom && direction !== 0) renumber(id, key, direction);
        lists.change(id, {});
        return { stigSlug: key, notes, position, addedAt: former.addedAt };
      });
    },
  };
}
