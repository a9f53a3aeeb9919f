import { and, count, eq, max, type SQL, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { badRequest } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import { prepareInsert } from '../db/insert.ts';
import {
  type CollectionKind,
  collectionControls,
  collectionDocuments,
  collectionRoles,
  collections,
  listStigs,
} from '../db/user-tables.ts';
import { controlOf, isAmong, type Reference, slugOf } from './references.ts';
import { maxPosition } from './schema.ts';

/** The table of the entries of each kind, and the key of an entry in its collection. */
const entriesOf = {
  list: { table: listStigs, key: slugOf(listStigs) },
  'control-collection': { table: collectionControls, key: controlOf(collectionControls) },
  'regdoc-collection': { table: collectionDocuments, key: sql`${collectionDocuments.documentId}` },
  'role-collection': { table: collectionRoles, key: sql`${collectionRoles.occupationCode}` },
};

export interface NewEntry extends Reference {
  notes?: string | null | undefined;
}

/** The most entries of one list or collection (rule D8.7). */
const mostEntries = 10_000;

/** The number of entries of the collections of a kind, as a column. */
export function countEntries(kind: CollectionKind): SQL<number> {
  const { table } = entriesOf[kind];
  const { collectionId } = table;
  return sql`(SELECT count(*) FROM ${table} WHERE ${collectionId} = ${collections}.id)`;
}

/** The answer to an addition; `missing` is what the catalog does not have. */
export function addedAnswer<T>(added: number, total: number, missing: T[]) {
  return { success: true as const, added, total, ...(missing.length === 0 ? {} : { notFound: missing }) };
}

/** The entries of the collections of a kind. */
export function createEntries(db: Database, kind: CollectionKind) {
  const { orm } = db;
  const { key } = entriesOf[kind];
  // Only columns that all of them have.
  const entries = entriesOf[kind].table as typeof collectionDocuments;
  const isOf = (id: string | SQL) => eq(entries.collectionId, id);
  const ofCollection = isOf(sql`${sql.placeholder('id')}`);
  const size = orm.select({ entries: count() }).from(entries).where(ofCollection).prepare();
  const last = orm
    .select({ position: max(entries.position) })
    .from(entries)
    .where(ofCollection)
    .prepare();
  const keys = orm
    .select({ key: sql<string>`${key}` })
    .from(entries)
    .where(ofCollection)
    .prepare();
  const insert = prepareInsert(db, entries as SQLiteTable);

  return {
    sizeOf: (id: string): number => size.get({ id })!.entries,

    /**
     * Appends the new entries that the catalog has, in the order given (D8.4), and returns their number. Throws a 400 for too
     * many, and where no position follows the last entry's: only the creator moves entries.
     */
    add(id: string, wanted: NewEntry[], addedAt: string): number {
      const known = new Set(keys.all({ id }).map((entry) => entry.key));
      let position = last.get({ id })!.position ?? 0;
      let added = 0;
      for (const { key, seen, notes } of wanted) {
        if (seen === null || known.has(key)) continue;
        known.add(key);
        if (known.size > mostEntries)
          throw badRequest(
            `At most ${mostEntries.toLocaleString('en-US')} entries fit into one list or collection`,
          );
        insert.run({ ...seen, collectionId: id, position: position + 1, notes: notes ?? '', addedAt });
        added++;
        if (++position > maxPosition)
          throw badRequest(
            `An entry of the list has the highest position, ${maxPosition}: give it a lower one first`,
          );
      }
      return added;
    },

    remove: (id: string, keys: string[]): number =>
      orm
        .delete(entries)
        .where(and(isOf(id), isAmong(key, keys)))
        .run().changes,
  };
}
