import { LRUCache } from 'lru-cache';
import type { Database } from '../../db/database.ts';
import { bm25, countOf, rarityOf, weightOfLength } from './bm25.ts';
import { columns, createPageReader, type WordRules } from './index-pages.ts';
import type { IndexedRule } from './indexed-rules.ts';
import { numbersIn } from './numbers.ts';
import type { Vocabulary } from './vocabulary.ts';

/** What a word counts in title, discussion, check, fix and ids, by the reading of the question. */
export const weights = {
  first: [10, 2, 1, 1, 4],
  // Ids count nothing, as a person's words are none (measured by `bench search`).
  second: [5, 1, 1, 1, 0],
};
export type Reading = keyof typeof weights;

/** The rules that have a word or phrase: their places in the index in order, and how often it counts in each. */
export interface Postings {
  places: Uint32Array;
  counts: Record<Reading, Uint32Array>;
  rarity: number;
}

/** A word or phrase as FTS5 takes it, and what it counts. */
export interface Weighed {
  match: string;
  share: number;
}

/** The rules that have one of some words by their places, and the bm25 of each place: less is better. */
export interface Scores {
  places: number[];
  scores: Float64Array;
}

/** Of all words: 24 MB. */
const mostKept = 2_000_000;
const lengthsPerTurn = 1000;

/** Where words are in the index, for one generation of the catalog. */
export interface PostingsReader {
  of(match: string): Generator<void, Postings>;
  /** The bm25 of the rules that have one of some words: of all, or of those at some places, which are in order. */
  scores(weighed: Weighed[], reading: Reading, among: number[] | null): Generator<void, Scores>;
  /** Says whether a word or phrase may be in the rule at a place. It is not read again where it is no longer kept. */
  test(match: string): (place: number) => boolean;
}

/**
 * Prepares the reading of the words of the index, which are kept: FTS5 counts all rules of each word for every question
 * (`the` takes 25 ms), and everybody asks for the same. A sum of what is kept is the bm25 of FTS5.
 * `rules`: all of the index, by their places.
 */
export function* preparePostings(
  { sqlite }: Pick<Database, 'sqlite'>,
  rules: IndexedRule[],
  vocabulary: Vocabulary,
): Generator<void, PostingsReader> {
  const scored = sqlite
    .prepare<[string], [id: number, first: number, second: number]>(
      `SELECT rowid, bm25(rule_search, ${weights.first.join()}), bm25(rule_search, ${weights.second.join()})
         FROM rule_search WHERE rule_search MATCH ? ORDER BY rowid`,
    )
    .raw();
  const rulesOf = createPageReader({ sqlite });
  const placeOf = new Map(rules.map(({ id, place }) => [id, place]));
  const lengths = yield* readLengths(sqlite, placeOf);
  const kept = new LRUCache<string, Postings>({
    maxSize: mostKept,
    sizeCalculation: ({ places }) => places.length + 1,
  });

  function counted({ ids, times }: WordRules): Postings {
    const places: number[] = [];
    const counts: Record<Reading, number[]> = { first: [], second: [] };
    for (let at = 0; at < ids.length; at++) {
      let [first, second, all] = [0, 0, 0];
      for (let column = 0; column < columns; column++) {
        const count = times[at * columns + column]!;
        all += count;
        first += count * weights.first[column]!;
        second += count * weights.second[column]!;
      }
      if (all === 0) continue;
      places.push(placeOf.get(ids[at]!)!);
      counts.first.push(first);
      counts.second.push(second);
    }
    return {
      places: Uint32Array.from(places),
      counts: { first: Uint32Array.from(counts.first), second: Uint32Array.from(counts.second) },
      rarity: rarityOf(places.length, rules.length),
    };
  }

  /** A word is read from its pages; FTS5 scores phrases and prefixes, which gives their counts. */
  function* read(match: string): Generator<void, Postings> {
    const word = /^"([^" ]+)"$/.exec(match)?.[1] ?? '';
    if (vocabulary.rulesWith(word) > 0) return counted(yield* rulesOf(word));
    const rows = scored.all(match);
    yield;
    const rarity = rarityOf(rows.length, rules.length);
    const places = Uint32Array.from(rows, ([id]) => placeOf.get(id)!);
    const countsBy = (column: 1 | 2) =>
      Uint32Array.from(rows, (row, at) => countOf(-row[column], rarity, lengths[places[at]!]!));
    return { places, counts: { first: countsBy(1), second: countsBy(2) }, rarity };
  }

  function* of(match: string): Generator<void, Postings> {
    const known = kept.get(match);
    if (known !== undefined) return known;
    const found = yield* read(match);
    kept.set(match, found);
    return found;
  }

  return {
    of,

    *scores(weighed, reading, among) {
      const scores = new Float64Array(rules.length);
      const isIn = new Uint8Array(rules.length);
      const places: number[] = [];
      for (const { match, share } of weighed) {
        const { places: having, counts, rarity } = yield* of(match);
        const add = (place: number, index: number) => {
          if (isIn[place] === 0) {
            isIn[place] = 1;
            places.push(place);
          }
          scores[place]! -= bm25(rarity, counts[reading][index]!, lengths[place]!) * share;
        };
        if (among === null) for (let index = 0; index < having.length; index++) add(having[index]!, index);
        else forBoth(among, having, add);
      }
      return { places, scores };
    },

    test(match) {
      const places = kept.peek(match)?.places;
      return (place) => places === undefined || places[seek(places, 0, place)] === place;
    },
  };
}

/** Does something for each number of an ordered list that is in another, with its index there. */
export function forBoth(
  some: ArrayLike<number>,
  others: Uint32Array,
  work: (number: number, index: number) => void,
): void {
  for (let at = 0, index = 0; at < some.length; at++) {
    index = seek(others, index, some[at]!);
    if (others[index] === some[at]) work(some[at]!, index);
  }
}

/** The first index, `from` or behind it, of a number that is not less than another: in steps that double, then halve. */
function seek(numbers: Uint32Array, from: number, least: number): number {
  let [start, step] = [from, 1];
  while (numbers[start + step]! < least) {
    start += step;
    step *= 2;
  }
  for (let end = Math.min(start + step, numbers.length); start < end; ) {
    const middle = (start + end) >> 1;
    if (numbers[middle]! < least) start = middle + 1;
    else end = middle;
  }
  return start;
}

/** What the length of each rule counts against it, by their places. */
function* readLengths(
  sqlite: Database['sqlite'],
  placeOf: Map<number, number>,
): Generator<void, Float64Array> {
  const totals = sqlite.prepare<[], Buffer>('SELECT block FROM rule_search_data WHERE id = 1').pluck();
  const sizes = sqlite.prepare<[number, number], { id: number; sizes: Buffer }>(
    'SELECT id, sz AS sizes FROM rule_search_docsize WHERE id > ? ORDER BY id LIMIT ?',
  );
  const [rules, ...ofColumns] = numbersIn(totals.get() ?? Buffer.of(0));
  const mean = sum(ofColumns) / rules!;
  const lengths = new Float64Array(placeOf.size);
  for (let last: number | undefined = 0; last !== undefined; ) {
    const rows = sizes.all(last, lengthsPerTurn);
    for (const row of rows) lengths[placeOf.get(row.id)!] = weightOfLength(sum(numbersIn(row.sizes)), mean);
    last = rows.at(-1)?.id;
    yield;
  }
  return lengths;
}

const sum = (numbers: number[]) => numbers.reduce((all, each) => all + each, 0);
