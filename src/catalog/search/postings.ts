import { LRUCache } from 'lru-cache';
import type { Database } from '../../db/database.ts';
import { bm25, rarityOf, weightOfLength } from './bm25.ts';
import { columnOf, columns, countInto, createPageReader, placesIn } from './index-pages.ts';
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

/** A word, phrase or prefix as FTS5 takes it (`matchOf`), and what it counts. */
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
const rulesPerTurn = 1000;
/** So few rules stand on few pages: others are not read. Each rule has a `v` and an `sv` in its ids. */
const few = 100;

/** Where words are in the index, for one generation of the catalog. */
export interface PostingsReader {
  /** The rules that have a word, phrase or prefix: those that FTS5 finds, as often in each. */
  of(match: string): Generator<void, Postings>;
  /** The bm25 of the rules that have one of some words: of all, or of those at some places, which are in order. */
  scores(weighed: Weighed[], reading: Reading, among: number[] | null): Generator<void, Scores>;
  /** Says whether a word or phrase may be in the rule at a place. It is not read again where it is no longer kept. */
  test(match: string): (place: number) => boolean;
}

/**
 * Prepares the reading of the words of the index, which are kept: FTS5 counts all rules of each word for every question
 * (`the` takes 25 ms), and everybody asks for the same. A sum of what is kept is the bm25 of FTS5. It cannot pause for a
 * phrase or prefix, which takes it 100 ms. `rules`: all of the index, by their places.
 */
export function* preparePostings(
  { sqlite }: Pick<Database, 'sqlite'>,
  rules: IndexedRule[],
  vocabulary: Vocabulary,
): Generator<void, PostingsReader> {
  const rulesOf = createPageReader({ sqlite });
  const placeOf = new Map(rules.map(({ id, place }) => [id, place]));
  const lengths = yield* readLengths(sqlite, placeOf);
  const kept = new LRUCache<string, Postings>({
    maxSize: mostKept,
    sizeCalculation: ({ places }) => places.length + 1,
  });

  /** `counts`: how often each column of each rule has it. */
  function* postingsOf(counts: Map<number, number[]>): Generator<void, Postings> {
    const places: number[] = [];
    const found: Record<Reading, number[]> = { first: [], second: [] };
    for (const [at, id] of [...counts.keys()].sort((a, b) => a - b).entries()) {
      if (at % rulesPerTurn === 0) yield;
      const ofColumns = counts.get(id)!;
      let [first, second, all] = [0, 0, 0];
      for (let column = 0; column < columns; column++) {
        const count = ofColumns[column]!;
        all += count;
        first += count * weights.first[column]!;
        second += count * weights.second[column]!;
      }
      if (all === 0) continue;
      places.push(placeOf.get(id)!);
      found.first.push(first);
      found.second.push(second);
    }
    return {
      places: Uint32Array.from(places),
      counts: { first: Uint32Array.from(found.first), second: Uint32Array.from(found.second) },
      rarity: rarityOf(places.length, rules.length),
    };
  }

  /** The postings of any of some words: one, or those that begin so. */
  function* ofAny(words: string[]): Generator<void, Postings> {
    const counts = new Map<number, number[]>();
    const own = new Array<number>(columns).fill(0);
    for (const word of words) {
      const { ids, records } = yield* rulesOf(word);
      for (let at = 0; at < ids.length; at++) {
        if (at % rulesPerTurn === 0) yield;
        countInto(own, records[at]!);
        const sums = counts.get(ids[at]!);
        if (sums === undefined) counts.set(ids[at]!, [...own]);
        else for (let column = 0; column < columns; column++) sums[column]! += own[column]!;
      }
    }
    return yield* postingsOf(counts);
  }

  /** The postings of words in a row. `words`: for each place those that may stand there, several for a prefix alone. */
  function* ofRow(words: string[][]): Generator<void, Postings> {
    const rulesWith = (some: string[]) => some.reduce((sum, word) => sum + vocabulary.rulesWith(word), 0);
    const rarest = [...words.keys()].sort((a, b) => rulesWith(words[a]!) - rulesWith(words[b]!));
    // Where the row may begin in each rule.
    let begins: Map<number, number[]> | null = null;
    for (const at of rarest) {
      const left = new Map<number, number[]>();
      const among = begins !== null && begins.size <= few ? [...begins.keys()] : undefined;
      for (const word of words[at]!) {
        const { ids, records } = yield* rulesOf(word, among);
        for (let index = 0; index < ids.length; index++) {
          if (index % rulesPerTurn === 0) yield;
          const id = ids[index]!;
          const before: number[] | undefined = begins?.get(id);
          if (begins !== null && before === undefined) continue;
          const own = placesIn(records[index]!).map((place) => place - at);
          const have = before && new Set(before);
          const both = have === undefined ? own : own.filter((place) => have.has(place));
          if (both.length > 0) left.set(id, left.has(id) ? [...left.get(id)!, ...both] : both);
        }
      }
      begins = left;
      if (left.size === 0) break;
    }
    const counts = new Map<number, number[]>();
    for (const [id, places] of begins!) {
      const ofColumns = new Array<number>(columns).fill(0);
      for (const place of places) ofColumns[columnOf(place)]!++;
      counts.set(id, ofColumns);
    }
    return yield* postingsOf(counts);
  }

  function* read(match: string): Generator<void, Postings> {
    const [, row = '', prefix] = /^"(.*)"( \*)?$/.exec(match)!;
    const words = row.split(' ');
    const last = words.pop()!;
    const ends = prefix === undefined ? [last] : vocabulary.beginningWith(last);
    return yield* words.length === 0 ? ofAny(ends) : ofRow([...words.map((word) => [word]), ends]);
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
  others: ArrayLike<number>,
  work: (number: number, index: number) => void,
): void {
  for (let at = 0, index = 0; at < some.length; at++) {
    index = seek(others, index, some[at]!);
    if (others[index] === some[at]) work(some[at]!, index);
  }
}

/** The first index, `from` or behind it, of a number that is not less than another: in steps that double, then halve. */
function seek(numbers: ArrayLike<number>, from: number, least: number): number {
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
    const rows = sizes.all(last, rulesPerTurn);
    for (const row of rows) lengths[placeOf.get(row.id)!] = weightOfLength(sum(numbersIn(row.sizes)), mean);
    last = rows.at(-1)?.id;
    yield;
  }
  return lengths;
}

const sum = (numbers: number[]) => numbers.reduce((all, each) => all + each, 0);
