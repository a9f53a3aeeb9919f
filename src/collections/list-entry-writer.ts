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
    update(
      user: User,
      id: string,
      stigSlug: string,
      change: { notes?: string | undefined; position?: number | undefined },
      match: Match = null,
    ): Promise<ListStigUpdate> {
      return db.write(() => {
        lists.own(user, id, match);
        const { notes = sql`${listStigs.notes}`, position = sql`${listStigs.position}` } = change;
        const key = stigNames.slugOf(stigSlug);
        const row = db.orm
          .update(listStigs)
          .set({ notes, position })
          .where(and(eq(listStigs.collectionId, id), eq(slugOf(listStigs), key)))
          .returning({ notes: listStigs.notes, position: listStigs.position, addedAt: listStigs.addedAt })
          .get();
        if (!row) throw notFound();
        lists.change(id, {});
        return { stigSlug: key, ...row };
      });
    },
  };
}
