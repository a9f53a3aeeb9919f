import type Sqlite from 'better-sqlite3';
import { attachedName } from './connect.ts';

/**
 * Tracks changes of the catalog and of mapping decisions as one number. `hasUsers`: the connection has users' data;
 * `isAttached`: the catalog is an attached file.
 */
export function createGeneration(sqlite: Sqlite.Database, hasUsers: boolean, isAttached: boolean) {
  // data_version shows commits of other connections, total_changes those of this one.
  const versions = [
    sqlite.prepare('PRAGMA main.data_version').pluck(),
    ...(isAttached ? [sqlite.prepare(`PRAGMA ${attachedName}.data_version`).pluck()] : []),
    sqlite.prepare('SELECT total_changes()').pluck(),
  ];
  const stated = sqlite
    .prepare<[], string>(
      `SELECT generation || ' ' || ${hasUsers ? '(SELECT changes FROM mapping_changes)' : "''"} FROM catalog`,
    )
    .pluck();
  let seen: unknown[] = [];
  let seenStated = stated.get();
  let generation = 0;
  let isReading = false;
  let isKnown = false;

  function look(): void {
    const now = versions.map((each) => each.get());
    if (seen.length > 0 && now.every((each, index) => each === seen[index])) return;
    const statedNow = stated.get();
    seen = now;
    if (statedNow !== seenStated) generation++;
    seenStated = statedNow;
  }

  return {
    current(): number {
      if (!isKnown) look();
      isKnown = isReading;
      return generation;
    },
    /** Runs a transaction that only reads. It sees one state, so one look is enough: a search asks a hundred times. */
    reading<T>(transaction: () => T): T {
      isReading = true;
      try {
        return transaction();
      } finally {
        isReading = false;
        isKnown = false;
      }
    },
    exchanged(): void {
      seen = [];
      seenStated = undefined;
    },
  };
}
