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

interface EntryChange {
  notes?: string | undefined;
  position?: number | undefined;
}

/** Changes the entries of a user's own lists (rule D8). */
export function createListEntryWriter(db: Database, now: () => Date, stigNames: StigNameIndex) {
  const lists = createCollectionWriter(db, 'list', now);

  function set(id: string, key: string, { notes, position }: EntryChange) {
    const isEntry = and(eq(listStigs.collectionId, id), eq(slugOf(listStigs), key));
    const former = db.orm.select().from(listStigs).where(isEntry).get();
    if (!former) throw notFound();
    const { addedAt } = former;
    const now = { notes: notes ?? former.notes, position: position ?? former.position };
    db.orm.update(listStigs).set(now).where(isEntry).run();
    lists.change(id, {});
    const row: ListStigUpdate = { stigSlug: key, ...now, addedAt };
    return { row, from: former.position };
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

    /** Sets notes, position or both of one entry and moves no other. Throws 404 without such an entry. */
    update: (user: User, id: string, stigSlug: string, change: EntryChange, match: Match = null) =>
      db.write(() => {
        lists.own(user, id, match);
        return set(id, stigNames.slugOf(stigSlug), change).row;
      }),

    /** The same for a page: the others make room, and all are numbered from 1 where one moved (rule D8.4). */
    move: (user: User, id: string, stigSlug: string, change: EntryChange) =>
      db.write(() => {
        lists.own(user, id);
        const key = stigNames.slugOf(stigSlug);
        const { row, from } = set(id, key, change);
        if (row.position === from) return;
        // The moved entry takes the place of the one that has the position, which goes on to where it came from.
        const isMoved = sql`iif(${slugOf(listStigs)} = ${key}, ${Math.sign(row.position - from)}, 0)`;
        const order = sql`${listStigs.position}, ${isMoved}, ${slugOf(listStigs)}`;
        db.orm.run(sql`UPDATE list_stigs SET position = placed.place
          FROM (SELECT slug, benchmark_id, row_number() OVER (ORDER BY ${order}) AS place
                  FROM list_stigs WHERE list_id = ${id}) AS placed
          WHERE list_stigs.list_id = ${id} AND list_stigs.slug = placed.slug
            AND list_stigs.benchmark_id = placed.benchmark_id`);
      }),
  };
}
