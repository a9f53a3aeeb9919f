import { AppError } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import { latestSeen, retentionMilliseconds, seeTime } from './clock.ts';

export type PurgeService = ReturnType<typeof createPurgeService>;

/**
 * Removes lists for good that were deleted more than 30 days ago (specification, "States and transitions"; DECISIONS
 * D8.5). Control collections are kept: nothing is documented that purges them.
 */
export function createPurgeService(db: Database, now: () => Date) {
  const due = `FROM bundles WHERE kind = 'list' AND deleted_at < ?`;
  const countDue = db.sqlite.prepare<[string], number>(`SELECT count(*) ${due}`).pluck();
  const removeDue = db.sqlite.prepare<[string]>(`DELETE ${due}`);
  const setLatest = db.sqlite.prepare<[string]>('UPDATE clock SET latest = ?');

  return {
    /**
     * Gives how many lists were removed, or would be under `dryRun`. Throws UNAVAILABLE while the clock is behind the
     * latest time that a deletion or purge saw; `acceptClock` is the operator's word that the clock is right now.
     */
    purge({ dryRun = false, acceptClock = false } = {}): Promise<number> {
      return db.write(() => {
        const time = now();
        if (time.toISOString() < latestSeen(db)) {
          if (!acceptClock) {
            throw new AppError(
              'UNAVAILABLE',
              'The clock is earlier than the latest time in the database: nothing was purged',
              {
                'Retry-After': '3600',
              },
            );
          }
          if (!dryRun) setLatest.run(time.toISOString());
        }
        const before = new Date(time.getTime() - retentionMilliseconds).toISOString();
        if (dryRun) return countDue.get(before)!;
        seeTime(db, time);
        return removeDue.run(before).changes;
      });
    },
  };
}
