import { and, count, eq, lt, sql } from 'drizzle-orm';
import { AppError } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import { clock, collections, removals, userTokens } from '../db/user-tables.ts';

/** How long a deleted list can be restored (rule D8.5). */
export const retentionDays = 30;
export const retentionMilliseconds = retentionDays * 24 * 3600 * 1000;

/** Stores a time, and returns the latest stored one: a clock that went backwards dates nothing too early (rule D8.5). */
export function seeTime({ orm }: Database, time: Date): string {
  const latest = sql<string>`max(${clock.latest}, ${time.toISOString()})`;
  return orm.update(clock).set({ latest }).returning({ latest: clock.latest }).get()!.latest;
}

export type PurgeService = ReturnType<typeof createPurgeService>;

/**
 * Removes the lists that were deleted more than 30 days ago (rule D8.5), and users' tokens that expired then; no rule
 * purges control collections.
 */
export function createPurgeService(db: Database, now: () => Date) {
  const { orm } = db;
  return {
    /**
     * Returns how many lists it removed, or would remove with `dryRun`. Throws UNAVAILABLE while the clock is behind the
     * latest time of a deletion or purge; with `acceptClock` the operator confirms that the clock is right.
     */
    purge({ dryRun = false, acceptClock = false } = {}): Promise<number> {
      return db.write(() => {
        const time = now();
        if (time.toISOString() < orm.select().from(clock).get()!.latest) {
          if (!acceptClock) {
            const problem = 'The clock is earlier than the latest time in the database: nothing was purged';
            throw new AppError('UNAVAILABLE', problem, { 'Retry-After': '3600' });
          }
          if (!dryRun) orm.update(clock).set({ latest: time.toISOString() }).run();
        }
        const before = new Date(time.getTime() - retentionMilliseconds).toISOString();
        const due = and(eq(collections.kind, 'list'), lt(collections.deletedAt, before));
        if (dryRun) return orm.select({ due: count() }).from(collections).where(due).get()!.due;
        seeTime(db, time);
        // Nobody undoes that late, and what was removed is not to stay.
        orm.delete(removals).where(lt(removals.removedAt, before)).run();
        // Those that were revoked would have expired within a month, too.
        orm.delete(userTokens).where(lt(userTokens.expiresAt, before)).run();
        return orm.delete(collections).where(due).run().changes;
      });
    },
  };
}
