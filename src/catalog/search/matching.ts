import type { IndexMemory } from './index-memory.ts';
import { forBoth } from './postings.ts';
import type { SearchQuery, Term } from './query.ts';
import type { IndexQueries } from './sql.ts';

/** Of more words the rarest are asked first: mostly no rule has them all, and common words take longest. */
const probed = 3;
/** A word is common where so many rules have it. */
const common = 2000;

/** Prepares the search for the rules that have all words of a question, by their places in order. */
export function createMatching({ matching, isAny }: Pick<IndexQueries, 'matching' | 'isAny'>) {
  return function* (
    { wants }: Pick<SearchQuery, 'wants'>,
    { vocabulary: { rulesWith }, postings, rules }: IndexMemory,
  ): Generator<void, ArrayLike<number>> {
    const least = ({ patterns: [pattern], isPlain }: Term) =>
      isPlain ? Math.min(...pattern!.parts.map(rulesWith)) : Number.POSITIVE_INFINITY;
    const isWord = ({ patterns: [pattern], isPlain }: Term) => isPlain && pattern!.parts.length === 1;
    const rarest = wants
      .map((term) => ({ match: term.match, rules: least(term), isWord: isWord(term) }))
      .sort((a, b) => a.rules - b.rules);
    if (rarest[0]!.rules === 0) return [];
    const isCommon = (term: (typeof rarest)[number]) => term.isWord && term.rules >= common;
    const asked = rarest.filter((term) => !isCommon(term)).map(({ match }) => match);
    if (asked.length > probed && !isAny(asked.slice(0, probed).join(' AND '))) return [];
    const others = rarest.filter(isCommon).map(({ match }) => match);
    let found: ArrayLike<number> =
      asked.length === 0
        ? (yield* postings.of(others.shift()!)).places
        : matching(asked.join(' AND ')).map((id) => rules.get(id)!.place);
    for (const match of others) {
      if (found.length === 0) break;
      const both: number[] = [];
      forBoth(found, (yield* postings.of(match)).places, (place) => both.push(place));
      found = both;
    }
    return found;
  };
}
