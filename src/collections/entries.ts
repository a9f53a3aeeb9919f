import { and, eq, type SQL, sql } from 'drizzle-orm';
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
import { controlOf, isAmong, keysOf, type Reference, slugOf } from './references.ts';

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

export const removedAnswer = (removed: number) => ({ success: true as const, removed });

/** The entries of the collections of a kind. */
export function createEntries(db: Database, kind: CollectionKind) {
  const { orm } = db;
  const { key } = entriesOf[kind];
  // Only columns that all of them have.
  const entries = entriesOf[kind].table as typeof collectionDocuments;
  const isOf = (id: string | SQL) => eq(entries.collectionId, id);
  const rows = orm
    .select({ key: sql<string>`${key}`, position: entries.position })
    .from(entries)
    .where(isOf(sql`${sql.placeholder('id')}`))
    .prepare();
  const insert = prepareInsert(db, entries as SQLiteTable);

  return {
    /**
     * Appends the new entries that the catalog has, in the order given (D8.4), also after the highest position that a
     * creator may set. Throws a 400 for too many.
     */
    add(id: string, wanted: NewEntry[], addedAt: string): { added: number; total: number } {
      const before = rows.all({ id });
      const known = new Set(before.map((entry) => entry.key));
      let position = before.reduce((last, entry) => Math.max(last, entry.position), 0);
      let added = 0;
      for (const { key, seen, notes } of wanted) {
        if (seen === null || known.has(key)) continue;
        known.add(key);
        if (known.size > mostEntries)
          throw badRequest(
            `At most ${mostEntries.toLocaleString('en-US')} entries fit into one list or collection`,
          );
        insert.run({ ...seen, collectionId: id, position: ++position, notes: notes ?? '', addedAt });
        added++;
      }
      return { added, total: before.length + added };
    },

    remove: (id: string, unwanted: Reference[]): number =>
      orm
        .delete(entries)
        .where(and(isOf(id), isAmong(key, keysOf(unwanted))))
        .run().changes,
  };
}
