import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { asc, desc, eq, ne } from 'drizzle-orm';
import { realFile } from '../base/files.ts';
import type { Database } from '../db/database.ts';
import { catalogDigest } from '../db/digest.ts';
import { contentBundles, contentSequences } from '../db/user-tables.ts';

/** One exchange of the catalog for a bundle's, as users' data records it. */
export type Exchange = typeof contentBundles.$inferSelect;

/** The file of the catalog from before an exchange. */
export const beforeOf = (db: string, id: number) => `${realFile(db)}.before-${id}`;

/** The file of the catalog that a rollback replaced. */
export const undoneOf = (db: string, id: number) => `${realFile(db)}.undone-${id}`;

/** Removes kept catalogs, with the logs beside them, except one: a site keeps one besides the served catalog. */
export function removeKept(db: string, but: string | null): void {
  const place = realFile(db);
  const kept = but === null ? null : basename(but);
  for (const name of readdirSync(dirname(place))) {
    const [, own] = /^(.*\.(?:before|undone)-\d+)(?:-wal|-shm|-journal)?$/.exec(name) ?? [];
    if (own?.startsWith(`${basename(place)}.`) && own !== kept) rmSync(join(dirname(place), name));
  }
}

/** The record of bundles that a site applied and rolled back (rule D32.3). */
export function createExchanges(db: Database) {
  const { orm } = db;
  const last = () =>
    orm.select().from(contentBundles).orderBy(desc(contentBundles.id)).limit(1).get() ?? null;
  return {
    last,

    all: (): Exchange[] => orm.select().from(contentBundles).orderBy(asc(contentBundles.id)).all(),

    /** Records an exchange that is about to happen; gives its id. */
    begin: (row: Omit<Exchange, 'id' | 'state'>): number =>
      orm
        .insert(contentBundles)
        .values({ ...row, state: 'begun' })
        .returning({ id: contentBundles.id })
        .get().id,

    /** Records a finished exchange; an applied bundle raises the sequence of its channel. */
    settle(exchange: Exchange): void {
      const { id, state, channel, sequence, bundle } = exchange;
      orm.update(contentBundles).set({ state }).where(eq(contentBundles.id, id)).run();
      if (state !== 'applied') return;
      orm
        .insert(contentSequences)
        .values({ channel, sequence, bundle })
        .onConflictDoUpdate({ target: contentSequences.channel, set: { sequence, bundle } })
        .run();
    },

    forget: (id: number): void => void orm.delete(contentBundles).where(eq(contentBundles.id, id)).run(),

    /**
     * Why a bundle may not be applied now; null where it may. Its sequence must be greater than all earlier ones of its
     * channel, or it must be the bundle with the greatest one while another catalog is served (rule D42.8).
     */
    replayProblem(bundle: string, channel: string, sequence: number): string | null {
      const greatest = orm.select().from(contentSequences).where(eq(contentSequences.channel, channel)).get();
      if (greatest === undefined || sequence > greatest.sequence) return null;
      if (bundle !== greatest.bundle)
        return `its sequence ${sequence} is not greater than ${greatest.sequence}, which the channel ${channel} had already`;
      const newest = orm
        .select()
        .from(contentBundles)
        .where(ne(contentBundles.state, 'begun'))
        .orderBy(desc(contentBundles.id))
        .limit(1)
        .get();
      const isServed =
        newest?.bundle === bundle && newest.state === 'applied' && newest.digest === catalogDigest(db);
      return isServed ? `it is applied already: sequence ${sequence} of the channel ${channel}` : null;
    },
  };
}
