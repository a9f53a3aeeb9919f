import { sql } from 'drizzle-orm';
import type { Database } from '../db/database.ts';
import { clock } from '../db/user-tables.ts';

/** How long a deleted list can be restored (rule D8.5). */
export const retentionMilliseconds = 30 * 24 * 3600 * 1000;

/** The latest time that a deletion or a purge saw. */
export function latestSeen(db: Database): string {
  return db.orm.select().from(clock).get()!.latest;
}

/**
 * Takes note of a time and gives the latest one seen, so that what is dated by it is never dated too early by a clock
 * that went backwards (rule D8.5). To be called inside a write.
 */
export function seeTime(db: Database, time: Date): string {
  const latest = sql<string>`max(${clock.latest}, ${time.toISOString()})`;
  return db.orm.update(clock).set({ latest }).returning({ latest: clock.latest }).get()!.latest;
}
