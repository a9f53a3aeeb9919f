import type { Database } from '../../db/database.ts';
import { Numbers } from './numbers.ts';

/** The rules that have a word, by their numbers in order, and the record of where each has it: empty if taken out. */
export interface WordRules {
  ids: number[];
  records: Numbers[];
}

interface Segment {
  id: number;
  first: number;
  last: number;
}

export const columns = 5;
const ofStructure = 10;
/** The number of a page is that of its segment times this, and its own. */
const pagesOfSegment = 2 ** 37;
/** A page begins with two numbers of two bytes: where its first rule begins, and where its terms end. */
const headOfPage = 4;
/** What each word begins with, as it is no prefix. */
const ofWords = '0';

/**
 * Prepares the reading of the rules of a word, in order, from the pages of FTS5 (fts5_index.c of SQLite describes them:
 * its functions take six times as long, and cannot pause).
 */
export function createPageReader({
  sqlite,
}: Pick<Database, 'sqlite'>): (word: string) => Generator<void, WordRules> {
  const block = sqlite.prepare<[number], Buffer>('SELECT block FROM rule_search_data WHERE id = ?').pluck();
  const pageOf = sqlite
    .prepare<[number, Buffer], number>(
      'SELECT pgno / 2 FROM rule_search_idx WHERE segid = ? AND term <= ? ORDER BY term DESC LIMIT 1',
    )
    .pluck();

  /** The parts of the index, the newest first. */
  function segments(): Segment[] {
    const numbers = new Numbers(block.get(ofStructure)!, 4);
    const next = () => numbers.next();
    // Behind the number of levels stand those of all segments and of writes; a level begins with that of its merges.
    const [levels] = [next(), next(), next()];
    return Array.from({ length: levels }, () => {
      next();
      return Array.from({ length: next() }, () => ({ id: next(), first: next(), last: next() })).reverse();
    }).flat();
  }

  return function* (word) {
    const term = Buffer.from(ofWords + word);
    const parts: WordRules[] = [];
    for (const { id, first, last } of segments()) {
      const page = (number: number) => (number > last ? null : block.get(id * pagesOfSegment + number)!);
      parts.push(yield* rulesOf(term, page, Math.max(first, pageOf.get(id, term) ?? 0)));
    }
    return newestOf(parts.filter(({ ids }) => ids.length > 0));
  };
}

/** What the newest of some parts say of each rule. */
function newestOf(parts: WordRules[]): WordRules {
  if (parts.length === 1) return parts[0]!;
  const records = new Map<number, Numbers>();
  for (const part of parts.toReversed())
    for (const [at, id] of part.ids.entries()) records.set(id, part.records[at]!);
  const ids = [...records.keys()].sort((a, b) => a - b);
  return { ids, records: ids.map((id) => records.get(id)!) };
}

/** The rules of a term in one segment, from the page that has the term if one has it. */
function* rulesOf(
  term: Buffer,
  pageAt: (number: number) => Buffer | null,
  first: number,
): Generator<void, WordRules> {
  const rules: WordRules = { ids: [], records: [] };
  let [number, page] = [first, pageAt(first)];
  const place = page && placeOf(term, page);
  if (page === null || place === null) return rules;
  let [numbers, end, id] = [new Numbers(page, place.start), place.end, 0];

  /** Goes to the next page, where the term continues up to the first of other terms. */
  function turn(): boolean {
    page = end === endOf(page!) ? pageAt(++number) : null;
    if (page === null) return false;
    numbers = new Numbers(page, headOfPage);
    end = endOf(page) < page.length ? new Numbers(page, endOf(page)).next() : endOf(page);
    return end > headOfPage;
  }
  /** The next bytes, which may stand on several pages. */
  function take(length: number): Numbers {
    const from = numbers.at;
    numbers.at += length;
    if (numbers.at <= end) return new Numbers(page!, from, numbers.at);
    const parts = [page!.subarray(from, end)];
    for (let left = numbers.at - end; left > 0; ) {
      turn();
      numbers.at = Math.min(headOfPage + left, end);
      left -= numbers.at - headOfPage;
      parts.push(page!.subarray(headOfPage, numbers.at));
    }
    return new Numbers(Buffer.concat(parts), 0);
  }

  while (numbers.at < end || turn()) {
    // The first rule of a page is written whole, others by their distance from the one before.
    const isFirst = number > first && numbers.at === page.readUInt16BE(0);
    id = (isFirst ? 0 : id) + numbers.next();
    rules.ids.push(id);
    // Half of the size is the length of the places; an odd one says that an older entry was taken out.
    rules.records.push(take(numbers.next() >> 1));
    if (isFirst) yield;
  }
  return rules;
}

/** Between the places in one column and those in the next: no text has so many words. */
const column = 2 ** 32;

/** Where a rule has a word: the number of the word in its column, and 2^32 times that of the column. */
export function placesIn(record: Numbers): number[] {
  const places: number[] = [];
  const numbers = record.again();
  for (let last = 0; numbers.at < numbers.end; ) {
    const step = numbers.next();
    // 1 stands before the number of another column; other numbers are the distance from the last place, and 2.
    last = step === 1 ? numbers.next() * column : last + step - 2;
    if (step !== 1) places.push(last);
  }
  return places;
}

/** The column of a place. */
export const columnOf = (place: number): number => Math.floor(place / column);

/** Sets how often each column has a word. */
export function countInto(counts: number[], record: Numbers): void {
  const numbers = record.again();
  counts.fill(0);
  for (let at = 0; numbers.at < numbers.end; ) {
    if (numbers.next() === 1) at = numbers.next();
    else counts[at]!++;
  }
}

/** Where the terms of a page end, and the numbers of where they begin follow. */
const endOf = (page: Buffer): number => page.readUInt16BE(2);

/**
 * Where the rules of a term are on a page; null where it is not there. Terms are in order, each without what it shares
 * with the one before.
 */
function placeOf(term: Buffer, page: Buffer): { start: number; end: number } | null {
  const starts = new Numbers(page, endOf(page));
  let same = 0;
  for (let at = 0; starts.at < page.length; ) {
    const isFirst = at === 0;
    at += starts.next();
    const numbers = new Numbers(page, at);
    const shared = isFirst ? 0 : numbers.next();
    const length = numbers.next();
    if (shared < same) return null;
    if (shared > same) continue;
    const own = page.subarray(numbers.at, numbers.at + length);
    while (same < term.length && own[same - shared] === term[same]) same++;
    if (same < term.length || same < shared + length) continue;
    return { start: numbers.at + length, end: starts.at < page.length ? at + starts.next() : endOf(page) };
  }
  return null;
}
