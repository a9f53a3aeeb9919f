import type { Database } from '../src/db/database.ts';
import { compareCodePoints } from '../src/text.ts';

/** One thing that a source states, which another source may state anew. */
export interface Statement {
  sourceId: number;
  /** What it is about: the id of a document, a STIG with an occupation. */
  key: string;
  importedAt: string;
  sha256: string;
  /** Orders the statements of one run, so that the order of its files never matters. */
  newness: string;
}

/** The statements that count: of each key the one of the last run that states it. */
export function latestStatements<T extends Statement>(statements: T[], fresh: Set<number>): T[] {
  const order = (each: T) =>
    [Number(fresh.has(each.sourceId)), each.importedAt, each.newness, each.sha256].join(' ');
  const winners = new Map<string, T>();
  for (const each of statements) {
    const known = winners.get(each.key);
    if (!known || compareCodePoints(order(each), order(known)) > 0) winners.set(each.key, each);
  }
  return [...winners.values()];
}

/**
 * The statements that count among all there are. A source of which nothing counts any more is removed, so that
 * importing it again is an import like any other; `superseded` takes it down.
 */
export function winningStatements<T extends Statement>(
  db: Database,
  statements: T[],
  fresh: Set<number>,
  superseded: Map<number, string>,
): T[] {
  const winners = latestStatements(statements, fresh);
  const kept = new Set(winners.map((each) => each.sourceId));
  for (const sourceId of new Set(statements.map((each) => each.sourceId))) {
    if (!kept.has(sourceId))
      removeSource(db, sourceId, 'a later source states all that it states', superseded);
  }
  return winners;
}

/** Removes a source with what it states, and notes why. */
export function removeSource(
  db: Database,
  sourceId: number,
  reason: string,
  superseded: Map<number, string>,
): void {
  db.sqlite.prepare('DELETE FROM sources WHERE id = ?').run(sourceId);
  superseded.set(sourceId, reason);
}
