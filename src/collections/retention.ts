import { and, count, eq, lt, sql } from 'drizzle-orm';
import { AppError } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import { clock, collections } from '../db/user-tables.ts';

/** How long a deleted list can be restored (rule D8.5). */
export const retentionMilliseconds = 30 * 24 * 3600 * 1000;

/**
 * Takes note of a time and gives the latest one seen, so that what is dated by it is never dated too early by a clock
 * that went backwards (rule D8.5). To be called inside a write.
 */
export function seeTime({ orm }: Database, time: Date): string {
  const latest = sql<string>`max(${clock.latest}, ${time.toISOString()})`;
  return orm.update(clock).set({ latest }).returning({ latest: clock.latest }).get()!.latest;
}

export type PurgeService = ReturnType<typeof createPurgeService>;

/**
 * Removes lists for good that were deleted more than 30 days ago (rule D8.5). Control
 * collections are kept: nothing is documented that purges them.
 */
export function createPurgeService(db: Database, now: () => Date) {
  const { orm } = db;
  return {
    /**
     * Gives how many lists were removed, or would be under `dryRun`. Throws UNAVAILABLE while the clock is behind the
     * latest time that a deletion or purge saw; `acceptClock` is the operator's word that the clock is right now.
     */
    purge({ dryRun = false, acceptClock = false } = {}): Promise<number> {
      return db.write(() => {
        const time = now();
        if (time.toISOString() < orm.select().from(clock).get()!.latest) {
          if (!acceptClock) {
            throw new AppError(
              'UNAVAILABLE',
              'The clock is earlier than the latest time in the database: nothing was purged',
              {
                'Retry-After': '3600',
              },
            );
          }
          if (!dryRun) orm.update(clock).set({ latest: time.toISOString() }).run();
        }
        const before = new Date(time.getTime() - retentionMilliseconds).toISOString();
        const due = and(eq(collections.kind, 'list'), lt(collections.deletedAt, before));
        if (dryRun) return orm.select({ due: count() }).from(collections).where(due).get()!.due;
        seeTime(db, time);
        return orm.delete(collections).where(due).run().changes;
      });
    },
  };
}
