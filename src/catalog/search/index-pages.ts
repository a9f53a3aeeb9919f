import { LRUCache } from 'lru-cache';
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
 * `among`: only these rules are wanted.
 */
export function createPageReader({
  sqlite,
}: Pick<Database, 'sqlite'>): (word: string, among?: number[]) => Generator<void, WordRules> {
  const block = sqlite.prepare<[number], Buffer>('SELECT block FROM rule_search_data WHERE id = ?').pluck();
  const pageOf = sqlite
    .prepare<[number, Buffer], number>(
      'SELECT pgno / 2 FROM rule_search_idx WHERE segid = ? AND term <= ? ORDER BY term DESC LIMIT 1',
    )
    .pluck();

  /** Where rules of a word begin. A reader is made for one generation of the catalog. */
  const kept = new LRUCache<string, Beginning[]>({ max: 100 });

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

  return function* (word, among) {
    const term = Buffer.from(ofWords + word);
    const parts: WordRules[] = [];
    for (const { id, first, last } of segments()) {
      const page = (number: number) => block.get(id * pagesOfSegment + number)!;
      const pages = { first: Math.max(first, pageOf.get(id, term) ?? 0), last };
      function* beginnings(read: () => Generator<void, Beginning[]>): Generator<void, Beginning[]> {
        const found = kept.get(`${id} ${word}`) ?? (yield* read());
        kept.set(`${id} ${word}`, found);
        return found;
      }
      parts.push(yield* rulesOf(term, page, pages, beginnings, among));
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

/** A rule that is written whole, as the first of a term and of a page are: its number, and where it stands. */
interface Beginning {
  rule: number;
  number: number;
  at: number;
}

/** Where a term is read: a page with its number, and where the term ends on it. */
interface Position {
  number: number;
  page: Buffer;
  numbers: Numbers;
  end: number;
}

/** The rules of a term in one segment, from the page that has the term if one has it. */
function* rulesOf(
  term: Buffer,
  pageAt: (number: number) => Buffer,
  { first, last }: { first: number; last: number },
  beginnings: (read: () => Generator<void, Beginning[]>) => Generator<void, Beginning[]>,
  among?: number[],
): Generator<void, WordRules> {
  const rules: WordRules = { ids: [], records: [] };
  const place = placeOf(term, pageAt(first));
  if (place === null) return rules;
  const positionAt = (number: number, at: number): Position => {
    const page = pageAt(number);
    const other = () => (endOf(page) < page.length ? new Numbers(page, endOf(page)).next() : endOf(page));
    return { number, page, numbers: new Numbers(page, at), end: number === first ? place.end : other() };
  };
  let now = positionAt(first, place.start);
  const wanted = among === undefined ? null : new Set(among);

  /** Goes to the next page, where the term continues up to the first of other terms. */
  function turn(): boolean {
    if (now.end < endOf(now.page) || now.number === last) return false;
    now = positionAt(now.number + 1, headOfPage);
    return now.end > headOfPage;
  }
  /** The next bytes, which may stand on several pages. */
  function take(length: number): Numbers {
    const from = now.numbers.at;
    const to = from + length;
    now.numbers.at = Math.min(to, now.end);
    if (to <= now.end) return new Numbers(now.page, from, to);
    const parts = [now.page.subarray(from, now.end)];
    for (let left = to - now.end; left > 0; left -= now.numbers.at - headOfPage) {
      turn();
      now.numbers.at = Math.min(headOfPage + left, now.end);
      parts.push(now.page.subarray(headOfPage, now.numbers.at));
    }
    return new Numbers(Buffer.concat(parts), 0);
  }
  /** Whether the first rule of a page is next, which is written whole; others are by their distance from it. */
  const isFirst = () => now.number > first && now.numbers.at === now.page.readUInt16BE(0);
  function* read(isOnePage: boolean): Generator<void> {
    for (let id = 0; now.numbers.at < now.end || turn(); ) {
      if (isFirst()) {
        if (isOnePage && id > 0) return;
        yield;
        id = 0;
      }
      id += now.numbers.next();
      // Half of the size is the length of the places; an odd one says that an older entry was taken out.
      const record = take(now.numbers.next() >> 1);
      if (wanted !== null && !wanted.has(id)) continue;
      rules.ids.push(id);
      rules.records.push(record);
    }
  }
  function* readBeginnings(): Generator<void, Beginning[]> {
    const begins = ({ number, page, numbers: { at } }: Position): Beginning => {
      return { number, at, rule: new Numbers(page, at).next() };
    };
    const found = [begins(now)];
    while (turn()) {
      now.numbers.at = now.page.readUInt16BE(0);
      if (now.numbers.at > 0 && now.numbers.at < now.end) found.push(begins(now));
      yield;
    }
    return found;
  }

  if (among === undefined) yield* read(false);
  else {
    const pages = (yield* beginnings(readBeginnings)).filter(({ rule }, index, all) => {
      const next = all[index + 1]?.rule ?? Number.POSITIVE_INFINITY;
      return among.some((id) => id >= rule && id < next);
    });
    for (const { number, at } of pages) {
      now = positionAt(number, at);
      yield* read(true);
    }
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
