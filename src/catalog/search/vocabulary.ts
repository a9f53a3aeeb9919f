import { LRUCache } from 'lru-cache';
import { stemmer } from 'stemmer';
import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';

/** A word of the index, and how many rules have it. */
export interface IndexWord {
  word: string;
  rules: number;
}

/** The forms of a word that count; others are rare. */
const mostForms = 8;
/** A shorter beginning would read much of the vocabulary. */
const shortestStem = 3;
const lettersOfWords = [...'abcdefghijklmnopqrstuvwxyz0123456789_'];
/** Longer words have too many neighbors to look up. */
const longestGuess = 20;

export type Vocabulary = ReturnType<typeof createVocabulary>;

/** Prepares the questions to the vocabulary of the search index. */
export function createVocabulary(db: Database) {
  const between = db.sqlite.prepare<[string, string], IndexWord>(
    'SELECT term AS word, doc AS rules FROM rule_words WHERE term >= ? AND term < ?',
  );
  const one = db.sqlite.prepare<[string], number>('SELECT doc FROM rule_words WHERE term = ?').pluck();
  const counted = perGeneration(db, () => new LRUCache<string, number>({ max: 5000 }));
  const known = perGeneration(db, () => new LRUCache<string, IndexWord[]>({ max: 5000 }));

  function rulesWith(word: string): number {
    const rules = counted().get(word) ?? one.get(word) ?? 0;
    counted().set(word, rules);
    return rules;
  }

  function formsOf(word: string): IndexWord[] {
    const stem = stemmer(word);
    let same = 0;
    while (same < stem.length && stem[same] === word[same]) same++;
    if (same < shortestStem || stem.length > longestGuess) return [{ word, rules: rulesWith(word) }];
    const beginning = stem.slice(0, same);
    return between
      .all(beginning, `${beginning}\u{10ffff}`)
      .filter((each) => stemmer(each.word) === stem)
      .sort((a, b) => b.rules - a.rules)
      .slice(0, mostForms);
  }

  return {
    rulesWith,

    /** The words of the index with the stem of a word from `indexed`, the commonest first; `[]` for none. */
    forms(word: string): IndexWord[] {
      const forms = known().get(word) ?? formsOf(word).filter(({ rules }) => rules > 0);
      known().set(word, forms);
      return forms;
    },

    /** The commonest word of the index that differs in one letter, or two that are swapped; null for none. */
    near(word: string): string | null {
      if (word.length < shortestStem || word.length > longestGuess) return null;
      let best: IndexWord | null = null;
      for (const each of neighbors(word)) {
        const rules = one.get(each) ?? 0;
        if (rules > (best?.rules ?? 0)) best = { word: each, rules };
      }
      return best?.word ?? null;
    },
  };
}

/** The words that differ from a word in one letter: left out, added, replaced, or swapped with the next. */
function neighbors(word: string): Set<string> {
  const found = new Set<string>();
  for (let at = 0; at <= word.length; at++) {
    const [before, after] = [word.slice(0, at), word.slice(at)];
    found.add(before + after.slice(1));
    if (after.length > 1) found.add(before + after[1] + after[0] + after.slice(2));
    for (const letter of lettersOfWords) {
      found.add(before + letter + after);
      found.add(before + letter + after.slice(1));
    }
  }
  found.delete('');
  found.delete(word);
  return found;
}
