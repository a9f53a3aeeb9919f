import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { User } from '../auth/viewer.ts';
import { AppError, notThere } from '../base/errors.ts';
import { cut } from '../base/text.ts';
import { type ChecklistHost, keyOfHost, maxHosts } from '../catalog/stigs/host-schema.ts';
import type { Database } from '../db/database.ts';
import {
  collectionControls,
  favoriteControls,
  favoriteStigs,
  listStigs,
  removals,
} from '../db/user-tables.ts';
import { createCollectionWriter } from './collection-writer.ts';
import { createHostTables } from './list-hosts.ts';
import { controlOf, slugOf } from './references.ts';

export type RemovedFrom = (typeof removals.$inferSelect)['kind'];

export interface Removal {
  id: string;
  /** What was removed, in words. */
  label: string;
}

/** One kind of what a page removes; the owner is a list, a collection or a person. */
interface Removable {
  collection: 'list' | 'control-collection' | null;
  read(owner: string, keys: string[]): object[];
  /** Throws 412 where something else came in its place. */
  putBack(owner: string, rows: Record<string, unknown>[]): void;
}

export type UndoService = ReturnType<typeof createUndoService>;

/** Keeps what a person removed last on a page, and puts it back as it was: with note, position, release and time. */
export function createUndoService(db: Database, now: () => Date, newId: () => string) {
  const { orm } = db;
  const removables = createRemovables(db);
  const writers = {
    list: createCollectionWriter(db, 'list', now),
    'control-collection': createCollectionWriter(db, 'control-collection', now),
  };
  const isOwn = ({ subject }: User) => eq(removals.subject, subject);
  const lastOf = (user: User, id: string) =>
    orm
      .select()
      .from(removals)
      .where(and(isOwn(user), eq(removals.id, id)))
      .get();

  return {
    /**
     * Runs a removal, and keeps what it removes: that with some keys of a collection (its id) or of a person (their
     * subject). Gives the id to put it back with; null where there was none.
     */
    async removing(
      user: User,
      { from, of, keys, label }: { from: RemovedFrom; of: string; keys: string[]; label: string },
      remove: () => Promise<unknown>,
    ): Promise<string | null> {
      const { read, collection } = removables[from];
      const rows = db.read(() => read(of, keys)) as Record<string, unknown>[];
      await remove();
      if (rows.length === 0) return null;
      return db.write(() => {
        const id = newId();
        orm.delete(removals).where(isOwn(user)).run();
        const kept = { id, label, kind: from, ofCollection: collection === null ? null : of, rows };
        orm
          .insert(removals)
          .values({ ...kept, subject: user.subject, removedAt: now().toISOString() })
          .run();
        return id;
      });
    },

    /** The last removal, if it is the one that a page names. */
    last(user: User, id: string): Removal | null {
      const row = lastOf(user, id);
      return row ? { id, label: row.label } : null;
    },

    /**
     * Puts back what was removed last. Throws 404 for another id, 403 and 404 of the collection, 412 where something else
     * came in its place.
     */
    undo(user: User, id: string): Promise<void> {
      return db.write(() => {
        const row = lastOf(user, id);
        if (!row)
          throw notThere(undefined, 'Nothing to undo: it is back, or you removed something else since');
        const { collection, putBack } = removables[row.kind];
        const owner = row.ofCollection ?? user.subject;
        if (collection === null) db.audience.concern(user.subject, null);
        else {
          writers[collection].own(user, owner);
          writers[collection].change(owner, {});
        }
        putBack(owner, row.rows);
        orm.delete(removals).where(isOwn(user)).run();
      });
    },
  };
}

const changedSince = (what: string) =>
  new AppError('PRECONDITION_FAILED', `${what} since: nothing was put back`);

function createRemovables(db: Database): Record<RemovedFrom, Removable> {
  const { orm } = db;

  /** Whole rows. One that was added again gives way. */
  function wholeRows(
    collection: Removable['collection'],
    { table, of, key }: { table: SQLiteTable; of: SQLiteColumn; key: SQL<string> },
  ): Removable {
    const areOf = (owner: string, keys: string[]) =>
      and(eq(of, owner), sql`${key} IN (SELECT value FROM json_each(${JSON.stringify(keys)}))`);
    return {
      collection,
      read: (owner, keys) =>
        orm
          .select({ row: table, key })
          .from(table)
          .where(areOf(owner, keys))
          .all()
          .map(({ row, key }) => ({ ...(row as object), key })),
      putBack(owner, rows) {
        const keys = rows.map((row) => String(row.key));
        orm.delete(table).where(areOf(owner, keys)).run();
        for (const row of rows) orm.insert(table).values(row).onConflictDoNothing().run();
      },
    };
  }

  const hostTables = createHostTables(db);
  const entries = {
    table: listStigs,
    of: listStigs.collectionId,
    key: sql.raw(slugOf('list_stigs')) as SQL<string>,
  };
  const isEntry = (list: string, slug: string) => and(eq(entries.of, list), eq(entries.key, slug));
  return {
    list_stigs: wholeRows('list', entries),
    collection_controls: wholeRows('control-collection', {
      ...{ table: collectionControls, of: collectionControls.collectionId },
      key: sql.raw(controlOf('collection_controls')) as SQL<string>,
    }),
    favorite_stigs: wholeRows(null, {
      ...{ table: favoriteStigs, of: favoriteStigs.subject },
      key: sql.raw(slugOf('favorite_stigs')) as SQL<string>,
    }),
    favorite_controls: wholeRows(null, {
      ...{ table: favoriteControls, of: favoriteControls.subject },
      key: sql.raw(controlOf('favorite_controls')) as SQL<string>,
    }),

    /** The note alone: position and release may have changed since. */
    list_notes: {
      collection: 'list',
      read: (list, [slug = '']) =>
        orm
          .select({ slug: entries.key, notes: listStigs.notes })
          .from(listStigs)
          .where(isEntry(list, slug))
          .all(),
      putBack(list, rows) {
        const { slug, notes } = rows[0] as { slug: string; notes: string };
        const isEmpty = and(isEntry(list, slug), eq(listStigs.notes, ''));
        if (orm.update(listStigs).set({ notes }).where(isEmpty).run().changes === 0)
          throw changedSince('The entry got another note, or was removed,');
      },
    },

    list_hosts: {
      collection: 'list',
      read: (list, names) =>
        hostTables.read(list).flatMap((host, at) => (names.includes(host.hostName) ? [{ host, at }] : [])),
      putBack(list, rows) {
        const hosts = hostTables.read(list);
        for (const { host, at } of rows as { host: ChecklistHost; at: number }[]) {
          if (hosts.some((each) => keyOfHost(each) === keyOfHost(host)))
            throw changedSince(`Another host is called ${cut(host.hostName)}`);
          hosts.splice(at, 0, host);
        }
        if (hosts.length > maxHosts) throw changedSince(`The list has ${maxHosts} hosts`);
        hostTables.write(list, hosts);
      },
    },
  };
}
