import { stemmer } from 'stemmer';
import type { Database } from '../../db/database.ts';
import { perCatalogVersion } from '../../db/per-catalog-version.ts';

/** The longest name that stands for another (`removable media`), in words. */
const longest = 4;

const stemsOf = (parts: string[]) => parts.map(stemmer);

/**
 * Prepares the synonyms of a question (rule D35.1). It takes the words of each term, `[]` for one that has none, and
 * gives what else may stand for the name that begins at a term, in words.
 */
export function createSynonyms(db: Database): (terms: string[][]) => Map<number, string[][]> {
  const groups = db.sqlite.prepare<[], string>('SELECT words FROM synonym_groups ORDER BY words').pluck();
  const byName = perCatalogVersion(db, () => {
    const others = new Map<string, string[][]>();
    for (const text of groups.all()) {
      const names = (JSON.parse(text) as string[]).map((name) => name.split(' '));
      for (const name of names) {
        const key = stemsOf(name).join(' ');
        others.set(key, [...(others.get(key) ?? []), ...names.filter((each) => each !== name)]);
      }
    }
    return others;
  });

  return (terms) => {
    const others = byName();
    const found = new Map<number, string[][]>();
    const stems = terms.map(stemsOf);
    for (let from = 0; from < terms.length; from++) {
      const parts: string[] = [];
      for (let to = from; to < terms.length && stems[to]!.length > 0 && parts.length < longest; to++) {
        parts.push(...stems[to]!);
        const instead = others.get(parts.join(' '));
        if (instead) found.set(from, [...(found.get(from) ?? []), ...instead]);
      }
    }
    return found;
  };
}
