import { stemmer } from 'stemmer';
import type { Database } from '../../db/database.ts';

/** A word of the index, and how many rules have it. */
interface IndexWord {
  word: string;
  rules: number;
}

/** The forms of a word that count; others are rare. */
const mostForms = 8;
/** Words of a shorter stem have little in common. */
const shortestStem = 3;
const lettersOfWords = [...'abcdefghijklmnopqrstuvwxyz0123456789_'];
/** Longer words are no words that a person mistypes. */
const longestGuess = 20;

/** The words of the search index, the number of rules of each, and their stems. */
export type Vocabulary = ReturnType<typeof readVocabulary>;

/** Reads the vocabulary of the search index: a question to the index for each form of each word takes longer. */
export function readVocabulary({ sqlite }: Database) {
  const words = sqlite.prepare<[], IndexWord>('SELECT term AS word, doc AS rules FROM rule_words').all();
  const byStem = Map.groupBy(words, ({ word }) => stemmer(word));
  const known = new Map(words.map(({ word, rules }) => [word, rules]));
  const rulesWith = (word: string): number => known.get(word) ?? 0;

  return {
    rulesWith,

    /** The words of the index with the stem of a word from `indexed`, the commonest first; `[]` for none. */
    forms(word: string): IndexWord[] {
      const stem = stemmer(word);
      if (stem.length >= shortestStem)
        return (byStem.get(stem) ?? []).toSorted((a, b) => b.rules - a.rules).slice(0, mostForms);
      const rules = rulesWith(word);
      return rules === 0 ? [] : [{ word, rules }];
    },

    /** The commonest word of the index that differs in one letter, or two that are swapped; null for none. */
    near(word: string): string | null {
      if (word.length < shortestStem || word.length > longestGuess) return null;
      let best: IndexWord | null = null;
      for (const each of neighbors(word)) {
        const rules = rulesWith(each);
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
