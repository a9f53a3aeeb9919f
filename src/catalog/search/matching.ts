import type { IndexMemory } from './index-memory.ts';
import { forBoth } from './postings.ts';
import { matchOf, type Term } from './query.ts';

/** The rules that have one of the alternatives of a term, by their places in order. */
export function* rulesOfTerm(
  { patterns }: Term,
  { postings }: IndexMemory,
): Generator<void, ArrayLike<number>> {
  const [only, ...others] = patterns.map(matchOf);
  const { places } = yield* postings.of(only!);
  if (others.length === 0) return places;
  const all = new Set(places);
  for (const match of others) for (const place of (yield* postings.of(match)).places) all.add(place);
  return [...all].sort((a, b) => a - b);
}

/** The rules that have all of some terms, by their places in order. The rarest come first: mostly no rule has them all. */
export function* matching(terms: Term[], memory: IndexMemory): Generator<void, ArrayLike<number>> {
  const { rulesWith } = memory.vocabulary;
  const most = ({ patterns }: Term) =>
    Math.max(
      ...patterns.map(({ parts, isPrefix }) =>
        Math.min(...(isPrefix ? parts.slice(0, -1) : parts).map(rulesWith), memory.all.length),
      ),
    );
  const rarest = terms.map((term) => ({ term, rules: most(term) })).sort((a, b) => a.rules - b.rules);
  let found: ArrayLike<number> | null = null;
  for (const { term } of rarest) {
    const having: ArrayLike<number> = yield* rulesOfTerm(term, memory);
    const both: number[] = [];
    if (found !== null) forBoth(found, having, (place) => both.push(place));
    found = found === null ? having : both;
    if (found.length === 0) break;
  }
  return found!;
}
