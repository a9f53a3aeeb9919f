import { and, count, eq, lt } from 'drizzle-orm';
import { AppError } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import { collections, userTokens } from '../db/user-tables.ts';

/** How long a deleted list can be restored (rule D8.5). */
export const retentionDays = 30;
export const retentionMilliseconds = retentionDays * 24 * 3600 * 1000;

/** Stores a time, and returns the latest stored one: a clock that went backwards dates nothing too early (rule D8.5). */
export function seeTime({ sqlite }: Database, time: Date): string {
  return sqlite
    .prepare<[string], string>('UPDATE clock SET latest = max(latest, ?) RETURNING latest')
    .pluck()
    .get(time.toISOString())!;
}

export type PurgeService = ReturnType<typeof createPurgeService>;

/**
 * Removes the lists that were deleted more than 30 days ago (rule D8.5), and users' tokens that expired then; no rule
 * purges control collections.
 */
export function createPurgeService(db: Database, now: () => Date) {
  const { orm, sqlite } = db;
  return {
    /**
     * Returns how many lists it removed, or would remove with `dryRun`. Throws UNAVAILABLE while the clock is behind the
     * latest time of a deletion or purge; with `acceptClock` the operator confirms that the clock is right.
     */
    purge({ dryRun = false, acceptClock = false } = {}): Promise<number> {
      return db.write(() => {
        const time = now();
        const latest = sqlite.prepare<[], string>('SELECT latest FROM clock').pluck().get()!;
        if (time.toISOString() < latest) {
          if (!acceptClock) {
            const problem = 'The clock is earlier than the latest time in the database: nothing was purged';
            throw new AppError('UNAVAILABLE', problem, { 'Retry-After': '3600' });
          }
          if (!dryRun) sqlite.prepare('UPDATE clock SET latest = ?').run(time.toISOString());
        }
        const before = new Date(time.getTime() - retentionMilliseconds).toISOString();
        const due = and(eq(collections.kind, 'list'), lt(collections.deletedAt, before));
        if (dryRun) return orm.select({ due: count() }).from(collections).where(due).get()!.due;
        seeTime(db, time);
        // Those that were revoked would have expired within a month, too.
        orm.delete(userTokens).where(lt(userTokens.expiresAt, before)).run();
        return orm.delete(collections).where(due).run().changes;
      });
    },
  };
}
