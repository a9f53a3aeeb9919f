import { compareCodePoints } from '../../src/base/text.ts';
import type { Database } from '../../src/db/database.ts';
import { excerpt } from '../read/source-text.ts';

/** One fact of a source that another source may state too. */
export interface Statement {
  sourceId: number;
  key: string;
  importedAt: string;
  sha256: string;
}

/** The statements that count: for each key, that of the last run that states it. */
export function latestStatements<T extends Statement>(statements: T[], fresh: Set<number>): T[] {
  const order = (each: T) => [Number(fresh.has(each.sourceId)), each.importedAt, each.sha256].join(' ');
  const winners = new Map<string, T>();
  for (const each of statements) {
    const known = winners.get(each.key);
    if (!known || compareCodePoints(order(each), order(known)) > 0) winners.set(each.key, each);
  }
  return [...winners.values()];
}

/** Gives each source a number for digests: greater than that of each source that it replaces, else 0. */
export function precedence(statements: Statement[]): Map<number, number> {
  const winnerOf = new Map(
    latestStatements(statements, new Set()).map(({ key, sourceId }) => [key, sourceId]),
  );
  const rank = new Map<number, number>();
  // Repeats while winners lose to others elsewhere; it ends, because import order has no circle.
  for (let isStable = false; !isStable; ) {
    isStable = true;
    for (const { key, sourceId } of statements) {
      const winner = winnerOf.get(key)!;
      const least = (rank.get(sourceId) ?? 0) + 1;
      if (winner === sourceId || (rank.get(winner) ?? 0) >= least) continue;
      rank.set(winner, least);
      isStable = false;
    }
  }
  return rank;
}

/** The statements that count. Removes a source without one, so that a later import may read it again. */
export function winningStatements<T extends Statement>(
  db: Database,
  statements: T[],
  fresh: Set<number>,
  superseded: Map<number, string>,
): T[] {
  const winners = latestStatements(statements, fresh);
  const kept = new Set(winners.map((each) => each.sourceId));
  const winnerOf = new Map(winners.map((each) => [each.key, each.sourceId]));
  for (const { sourceId, key } of statements) {
    if (kept.has(sourceId) || superseded.has(sourceId)) continue;
    const reason = fresh.has(sourceId)
      ? `another source of this import contains everything in it: ${nameOf(db, winnerOf.get(key)!)}`
      : 'a later source contains everything in it';
    removeSource(db, sourceId, reason, superseded);
  }
  return winners;
}

function nameOf(db: Database, sourceId: number): string {
  return excerpt(
    db.sqlite.prepare<[number], string>('SELECT source FROM sources WHERE id = ?').pluck().get(sourceId)!,
    300,
  );
}

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
