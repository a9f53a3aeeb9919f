import { type SQL, sql } from 'drizzle-orm';
import { badRequest } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import { prepareInsert } from '../db/insert.ts';
import type { CollectionKind } from '../db/user-tables.ts';
import { controlOf, keysOf, type Reference, slugOf } from './references.ts';

/** The table of the entries of each kind, its column of the collection, and the key of an entry in its collection. */
const entriesOf: Record<CollectionKind, { table: string; of: string; key: string }> = {
  list: { table: 'list_stigs', of: 'list_id', key: slugOf('list_stigs') },
  'control-collection': {
    table: 'collection_controls',
    of: 'collection_id',
    key: controlOf('collection_controls'),
  },
  'regdoc-collection': { table: 'collection_documents', of: 'collection_id', key: 'document_id' },
  'role-collection': { table: 'collection_roles', of: 'collection_id', key: 'occupation_code' },
};

export interface NewEntry extends Reference {
  notes?: string | null | undefined;
}

/** The most entries of one list or collection (rule D8.7). */
const mostEntries = 10_000;

/** The number of entries of the collections of a kind, as a column. */
export function countEntries(kind: CollectionKind): SQL<number> {
  const { table, of } = entriesOf[kind];
  return sql.raw(`(SELECT count(*) FROM ${table} WHERE ${of} = bundles.id)`) as SQL<number>;
}

/** The answer to an addition; `missing` is what the catalog does not have. */
export function addedAnswer<T>(added: number, total: number, missing: T[]) {
  return { success: true as const, added, total, ...(missing.length === 0 ? {} : { notFound: missing }) };
}

export const removedAnswer = (removed: number) => ({ success: true as const, removed });

/** The entries of the collections of a kind. */
export function createEntries(db: Database, kind: CollectionKind) {
  const { sqlite } = db;
  const { table, of, key } = entriesOf[kind];
  const rows = sqlite.prepare<[string], { key: string; position: number }>(
    `SELECT ${key} AS key, position FROM ${table} WHERE ${of} = ?`,
  );
  const insert = prepareInsert(db, table);
  const remove = sqlite.prepare<[string, string]>(
    `DELETE FROM ${table} WHERE ${of} = ? AND ${key} IN (SELECT value FROM json_each(?))`,
  );

  return {
    /**
     * Appends the new entries that the catalog has, in the order given (D8.4), also after the highest position that a
     * creator may set. Throws a 400 for too many.
     */
    add(id: string, references: NewEntry[], addedAt: string): { added: number; total: number } {
      const before = rows.all(id);
      const known = new Set(before.map((entry) => entry.key));
      let position = before.reduce((last, entry) => Math.max(last, entry.position), 0);
      let added = 0;
      for (const { key, seen, notes } of references) {
        if (seen === null || known.has(key)) continue;
        known.add(key);
        if (known.size > mostEntries)
          throw badRequest(
            `At most ${mostEntries.toLocaleString('en-US')} entries fit into one list or collection`,
          );
        const entry = { position: ++position, notes: notes ?? '', addedAt };
        insert({ listId: id, collectionId: id, ...seen, ...entry });
        added++;
      }
      return { added, total: before.length + added };
    },

    remove: (id: string, unwanted: Reference[]): number => remove.run(id, keysOf(unwanted)).changes,
  };
}
