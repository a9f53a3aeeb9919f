import { and, count, eq, max, type SQL, sql } from 'drizzle-orm';
import { badRequest } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import {
  type CollectionKind,
  collectionControls,
  collectionDocuments,
  collectionRoles,
  collections,
  listStigs,
} from '../db/user-tables.ts';
import { maxPosition } from './schema.ts';

/** The entries of each kind. */
const entriesOf = {
  list: listStigs,
  'control-collection': collectionControls,
  'regdoc-collection': collectionDocuments,
  'role-collection': collectionRoles,
};

/** An entry to be made: what it is of, and its notes where its kind has some. */
export interface NewEntry {
  reference: string | number;
  notes?: string | null | undefined;
}

/** The number of entries of the collections of a kind, as a column. */
export function countEntries(kind: CollectionKind): SQL<number> {
  const { collectionId } = entriesOf[kind];
  return sql`(SELECT count(*) FROM ${entriesOf[kind]} WHERE ${collectionId} = ${collections}.id)`;
}

/** The entries of the collections of a kind, by position. */
export function createEntries({ orm }: Database, kind: CollectionKind) {
  // Every table of entries has these columns, whatever the type of what they refer to.
  const entries = entriesOf[kind] as typeof collectionControls;
  const ofCollection = eq(entries.collectionId, sql.placeholder('id'));
  const size = orm.select({ entries: count() }).from(entries).where(ofCollection).prepare();
  const last = orm
    .select({ position: max(entries.position) })
    .from(entries)
    .where(ofCollection)
    .prepare();
  const insertEntry = orm
    .insert(entries)
    .values({
      collectionId: sql.placeholder('id'),
      reference: sql.placeholder('reference'),
      position: sql.placeholder('position'),
      notes: sql.placeholder('notes'),
      addedAt: sql.placeholder('addedAt'),
    })
    .onConflictDoNothing()
    .prepare();
  const removeEntry = orm
    .delete(entries)
    .where(and(ofCollection, eq(entries.reference, sql.placeholder('reference'))))
    .prepare();

  return {
    /** How many entries a collection has. */
    sizeOf: (id: string): number => size.get({ id })!.entries,

    /**
     * Appends what is not there yet, in the order given (D8.4), and gives how many that were. Throws a 400 where there is no
     * position after the last entry's: to make room would move entries that nobody asked to move.
     */
    add(id: string, wanted: NewEntry[], addedAt: string): number {
      let position = last.get({ id })!.position ?? 0;
      let added = 0;
      for (const { reference, notes } of wanted) {
        const row = { id, reference, position: position + 1, notes: notes ?? '', addedAt };
        if (insertEntry.run(row).changes === 0) continue;
        added++;
        if (++position > maxPosition) throw noPositionLeft();
      }
      return added;
    },

    /** Takes entries out, and gives how many that were. */
    take(id: string, unwanted: Pick<NewEntry, 'reference'>[]): number {
      let removed = 0;
      for (const { reference } of unwanted) removed += removeEntry.run({ id, reference }).changes;
      return removed;
    },
  };
}

function noPositionLeft(): Error {
  return badRequest(
    `An entry of the list has the highest position, ${maxPosition}: give it a lower one first`,
  );
}
