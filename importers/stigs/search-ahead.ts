import type { Database } from '../../src/db/database.ts';
import { createSearchIndex } from './search-index.ts';
import type { StagedRelease } from './write.ts';

/** So many rules are put into the index at once: each savepoint after it makes the index write down what it holds. */
const batch = 2000;

/**
 * Puts releases into the search index while others are still parsed, if they look like being current in the end: the
 * newest of their benchmark id so far. It is a mere hint: `reconcile` puts right what turns out otherwise.
 */
export function createSearchAhead(db: Database): (release: StagedRelease) => void {
  const index = createSearchIndex(db);
  const currentNewness = db.sqlite
    .prepare<[string], string>(
      `SELECT r.newness FROM stig_aliases AS a JOIN stigs AS s ON s.id = a.stig_id
         JOIN stig_releases AS r ON r.id = s.current_release_id WHERE a.id_key = ?`,
    )
    .pluck();
  const newest = new Map<string, StagedRelease>();
  let waiting = new Map<string, StagedRelease>();
  let rules = 0;

  return (release) => {
    const { idKey, newness } = release;
    const known = newest.get(idKey)?.newness ?? currentNewness.get(idKey) ?? '';
    if (newness <= known) return;
    newest.set(idKey, release);
    waiting.set(idKey, release);
    rules += release.findingCount;
    if (rules < batch) return;
    for (const { id } of waiting.values()) index.add(id);
    waiting = new Map();
    rules = 0;
  };
}
