import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { User } from '../auth/viewer.ts';
import { AppError, notFound } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import {
  collectionControls,
  favoriteControls,
  favoriteStigs,
  listHosts,
  listStigs,
  removals,
} from '../db/user-tables.ts';
import { createCollectionWriter } from './collection-writer.ts';
import { createVisible } from './collections.ts';
import { controlOf, slugOf } from './references.ts';

/** The rows that a page can remove or change, and put back: of a list, a collection or a person. */
const tables = {
  list_stigs: { table: listStigs, of: listStigs.collectionId, key: slugOf(listStigs), collection: 'list' },
  collection_controls: {
    table: collectionControls,
    of: collectionControls.collectionId,
    key: controlOf(collectionControls),
    collection: 'control-collection',
  },
  list_hosts: { table: listHosts, of: listHosts.collectionId, key: sql`''`, collection: 'list' },
  favorite_stigs: {
    table: favoriteStigs,
    of: favoriteStigs.subject,
    key: slugOf(favoriteStigs),
    collection: null,
  },
  favorite_controls: {
    table: favoriteControls,
    of: favoriteControls.subject,
    key: controlOf(favoriteControls),
    collection: null,
  },
} as const;

export type RemovedFrom = keyof typeof tables;

export interface Removal {
  id: string;
  /** What was removed, in words. */
  label: string;
}

export type UndoService = ReturnType<typeof createUndoService>;

/** Keeps what a person removed last on a page, and puts it back: whole rows, with note, position and time. */
export function createUndoService(db: Database, now: () => Date, newId: () => string) {
  const writers = {
    list: createCollectionWriter(db, 'list', now),
    'control-collection': createCollectionWriter(db, 'control-collection', now),
  };
  const visible = {
    list: createVisible(db, 'list'),
    'control-collection': createVisible(db, 'control-collection'),
  };
  const isOwn = ({ subject }: User) => eq(removals.subject, subject);

  function rowsOf(from: RemovedFrom, owner: string, keys: string[] | null): Record<string, unknown>[] {
    const { table, of, key } = tables[from];
    const wanted: SQL | undefined =
      keys === null ? undefined : sql`${key} IN (SELECT value FROM json_each(${JSON.stringify(keys)}))`;
    return db.orm
      .select()
      .from(table as SQLiteTable)
      .where(and(eq(of, owner), wanted))
      .all();
  }

  return {
    /**
     * Runs a removal or change, and keeps the rows that it is about: those of a collection (its id) or a person (their
     * subject) with some keys, or all with null. Gives the id to put them back with; null where there was none.
     */
    async removing(
      user: User,
      what: { from: RemovedFrom; of: string; keys: string[] | null; label: string },
      remove: () => Promise<unknown>,
    ): Promise<string | null> {
      const { from, of, keys, label } = what;
      const rows = db.read(() => rowsOf(from, of, keys));
      await remove();
      if (rows.length === 0) return null;
      return db.write(() => {
        const { collection } = tables[from];
        const revision = collection === null ? null : visible[collection].find(user, of).revision;
        const id = newId();
        db.orm.delete(removals).where(isOwn(user)).run();
        const kept = { id, label, kind: from, ofCollection: collection === null ? null : of, revision, rows };
        db.orm
          .insert(removals)
          .values({ ...kept, subject: user.subject, removedAt: now().toISOString() })
          .run();
        return id;
      });
    },

    /** The last removal, if it is the one that a page names. */
    last(user: User, id: string): Removal | null {
      const row = db.orm
        .select()
        .from(removals)
        .where(and(isOwn(user), eq(removals.id, id)))
        .get();
      return row ? { id: row.id, label: row.label } : null;
    },

    /** Puts back what was removed last. Throws 404 for another id, 403 and 404 of the collection, 412 for hosts that were changed since. */
    undo(user: User, id: string): Promise<void> {
      return db.write(() => {
        const row = db.orm
          .select()
          .from(removals)
          .where(and(isOwn(user), eq(removals.id, id)))
          .get();
        if (!row) throw notFound();
        const { table, collection } = tables[row.kind];
        if (collection !== null) {
          const { revision } = visible[collection].own(user, row.ofCollection!);
          // A table of hosts is one row: putting it back would undo what came since.
          if (row.kind === 'list_hosts' && revision !== row.revision)
            throw new AppError('PRECONDITION_FAILED', 'The hosts were changed since: nothing was put back');
          writers[collection].own(user, row.ofCollection!);
          writers[collection].change(row.ofCollection!, {});
        } else db.audience.concern(user.subject, null);
        for (const each of row.rows)
          db.orm
            .insert(table as SQLiteTable)
            .values(each)
            .onConflictDoUpdate({ target: conflictOf(row.kind), set: each })
            .run();
        db.orm.delete(removals).where(isOwn(user)).run();
      });
    },
  };
}

/** The primary or unique key of each table. */
function conflictOf(kind: RemovedFrom) {
  return {
    list_stigs: [listStigs.collectionId, listStigs.slug, listStigs.benchmarkId],
    collection_controls: [
      collectionControls.collectionId,
      collectionControls.framework,
      collectionControls.identifier,
    ],
    list_hosts: [listHosts.collectionId],
    favorite_stigs: [favoriteStigs.subject, favoriteStigs.slug, favoriteStigs.benchmarkId],
    favorite_controls: [favoriteControls.subject, favoriteControls.framework, favoriteControls.identifier],
  }[kind];
}
