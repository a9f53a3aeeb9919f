import { LRUCache } from 'lru-cache';
import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';
import { indexed } from './pattern.ts';
import type { SearchQuery, Term } from './query.ts';
import type { IndexQueries } from './sql.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Of more words the rarest are asked first: mostly no rule has them all, and common words take longest. */
const probed = 3;
/** A word is common where so many rules have it. */
const common = 2000;
const mostKept = 60;

/** Prepares the search for the rules that have all words of a question, which gives them by number. */
export function createMatching(db: Database, { matching, isAny }: Pick<IndexQueries, 'matching' | 'isAny'>) {
  // Which rules have a common word is kept, a byte for each: `the` and `system` took longer than all else of a title.
  const kept = perGeneration(db, () => new LRUCache<string, Uint8Array>({ max: mostKept }));
  function rulesOf(match: string): Uint8Array {
    const known = kept().get(match);
    if (known !== undefined) return known;
    const ids = matching(match);
    const rules = new Uint8Array(ids.at(-1)! + 1);
    for (const id of ids) rules[id] = 1;
    kept().set(match, rules);
    return rules;
  }

  return ({ wants }: Pick<SearchQuery, 'wants'>, { rulesWith }: Vocabulary): number[] => {
    const least = ({ patterns: [pattern], isPlain }: Term) =>
      isPlain ? Math.min(...pattern!.parts.map(indexed).map(rulesWith)) : Number.POSITIVE_INFINITY;
    const isWord = ({ patterns: [pattern], isPlain }: Term) => isPlain && pattern!.parts.length === 1;
    const rarest = wants
      .map((term) => ({ match: term.match, rules: least(term), isWord: isWord(term) }))
      .sort((a, b) => a.rules - b.rules);
    if (rarest[0]!.rules === 0) return [];
    const isCommon = (term: (typeof rarest)[number]) => term.isWord && term.rules >= common;
    const others = rarest.filter(isCommon).map(({ match }) => rulesOf(match));
    const asked = rarest.filter((term) => !isCommon(term)).map(({ match }) => match);
    if (asked.length > probed && !isAny(asked.slice(0, probed).join(' AND '))) return [];
    const ids = asked.length === 0 ? numbersIn(others.shift()!) : matching(asked.join(' AND '));
    return others.length === 0 ? ids : ids.filter((id) => others.every((rules) => rules[id] === 1));
  };
}

function numbersIn(rules: Uint8Array): number[] {
  const numbers: number[] = [];
  for (let id = rules.indexOf(1); id >= 0; id = rules.indexOf(1, id + 1)) numbers.push(id);
  return numbers;
}
