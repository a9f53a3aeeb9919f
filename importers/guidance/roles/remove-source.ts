import type { Database } from '../../../src/db/database.ts';

/** Removes a source with its statements, and notes why. */
export function removeSource(
  db: Database,
  sourceId: number,
  reason: string,
  superseded: Map<number, string>,
): void {
  db.sqlite.prepare('DELETE FROM sources WHERE id = ?').run(sourceId);
  superseded.set(sourceId, reason);
}
