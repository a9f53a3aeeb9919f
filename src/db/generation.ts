import type Sqlite from 'better-sqlite3';
import { attachedName } from './connect.ts';

/**
 * A number that is another one once the catalog or a mapping decision changed. `hasUsers` where the connection has users' data,
 * `isAttached` where it has the catalog from a file of its own.
 */
export function createGeneration(sqlite: Sqlite.Database, hasUsers: boolean, isAttached: boolean) {
  // What other connections commit shows in the data versions, what this one writes in the number of changes.
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
  return {
    current(): number {
      const now = versions.map((each) => each.get());
      if (seen.length > 0 && now.every((each, index) => each === seen[index])) return generation;
      const statedNow = stated.get();
      seen = now;
      if (statedNow !== seenStated) generation++;
      seenStated = statedNow;
      return generation;
    },
    /** To be called when another catalog is attached. */
    exchanged(): void {
      seen = [];
      seenStated = undefined;
    },
  };
}
