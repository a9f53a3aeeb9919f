import type { Database } from '../../src/db/database.ts';
import type { Stated } from '../read/stated.ts';
import type { SynonymGroup } from './synonyms-csv.ts';

/** Stores the synonyms of one source, inside the run's transaction; gives the ledger's target and counts. */
export function stageSynonyms({ sqlite }: Database, sourceId: number, groups: SynonymGroup[]): Stated {
  const insert = sqlite.prepare('INSERT INTO synonym_groups VALUES (?, ?, ?, ?)');
  for (const { row, words, reason } of groups) insert.run(sourceId, row, JSON.stringify(words), reason);
  const words = new Set(groups.flatMap((group) => group.words));
  return { target: 'synonyms', counts: { groups: groups.length, words: words.size } };
}
