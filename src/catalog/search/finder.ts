import { LRUCache } from 'lru-cache';
import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';
import { offsetOf, type Page } from '../../http/paging.ts';
import type { StigNameIndex } from '../stigs/name-index.ts';
import { type Asked, allTests, createBinder, type Lookup, type SearchQuestion, type Test } from './binder.ts';
import { createFewScorer } from './few.ts';
import type { IndexMemory } from './index-memory.ts';
import { byScore, countsOf, type IndexedRule, inOrder } from './indexed-rules.ts';
import { createIdTest } from './known-ids.ts';
import { createMatching } from './matching.ts';
import { type FoldedText, findPlaces, foldInPlace } from './pattern.ts';
import { readSearchQuery, type SearchQuery } from './query.ts';
import type { SearchCounts, SearchOrder } from './schema.ts';
import { createIndexQueries, type Scored } from './sql.ts';
import { createWider, filtered, nothingWider, type PhrasesIn, type Wider } from './wider.ts';

/** What is asked for, and in which order. */
export interface SearchIn extends SearchQuestion {
  sort?: SearchOrder | undefined;
}

/** A page of what a question finds. */
export interface Found {
  query: SearchQuery;
  rules: IndexedRule[];
  total: number;
  /** How many have all words: they stand first. */
  exact: number;
  wider: Wider;
  counts: SearchCounts;
}

/** Rules of one score beyond a page that are sorted with it. */
const tiesAtMost = 50;
/** Longer lists of best rules are not kept. */
const keptAtMost = 200;
/** Fewer rules with all words, and the question is read a second time (rule D35.1). */
const enough = 10;

/** Prepares the search for rules by a question and filters. Its work can pause between the texts of rules. */
export function createFinder(
  db: Database,
  lookup: Lookup,
  stigNames: Pick<StigNameIndex, 'filtered' | 'said' | 'exactly'>,
) {
  const queries = createIndexQueries(db);
  const matching = createMatching(db, queries);
  const bind = createBinder(lookup, stigNames.filtered, queries);
  const isId = createIdTest(db);
  const widen = createWider(db, stigNames, isId, queries);
  const scoreFew = createFewScorer(db);
  const textsOf = db.sqlite
    .prepare<[number], string[]>(
      'SELECT ids, title, discussion, check_content, fix_text FROM searchable_rules WHERE id = ?',
    )
    .raw();
  // To score the 19,000 rules with "the" takes 10 ms, and everybody asks for the same common words.
  const bestOfCommon = perGeneration(db, () => new LRUCache<string, Scored[]>({ max: 500 }));
  /** Its ids come first: they are short, and mostly have those that are asked. */
  const phrasesIn: PhrasesIn = ({ id }) => {
    const texts = textsOf.get(id)!;
    const folded: FoldedText[] = [];
    return (phrases) =>
      phrases.length > 0 &&
      texts.some((text, at) => {
        const each = folded[at] ?? foldInPlace(text);
        folded[at] = each;
        return phrases.some((phrase) => findPlaces(each, phrase, 1).length > 0);
      });
  };

  /** What is asked, without the rules that it excludes. */
  function* withoutExcluded(asked: Asked): Generator<void, Asked> {
    const { excluded } = asked.query;
    if (excluded.length === 0) return asked;
    const without = new Set<number>();
    for (const match of excluded) {
      for (const id of queries.matching(match)) without.add(id);
      yield;
    }
    const isLeft: Test = ({ id }) => !without.has(id);
    const { inScope, passes } = asked;
    const left = allTests([inScope, isLeft]);
    return { ...asked, inScope: left, passes: passes === inScope ? left : allTests([passes, isLeft]) };
  }

  /** The rules of a question that pass a test, in no order. */
  function* allOf(asked: Asked, passes: Test | null, memory: IndexMemory): Generator<void, IndexedRule[]> {
    const { query, match, reached } = asked;
    const ids = match === null ? (reached ?? memory.rules.keys()) : matching(query, memory.vocabulary);
    const found: IndexedRule[] = [];
    for (const id of ids) {
      const rule = memory.rules.get(id)!;
      if (passes?.(rule) ?? true) found.push(rule);
    }
    return hasLiterals(query) ? yield* filtered(found, (rule) => hasItsLiterals(query, rule)) : found;
  }

  function hasItsLiterals({ literals, excludedLiterals }: SearchQuery, rule: IndexedRule): boolean {
    const hasAny = phrasesIn(rule);
    return literals.every((each) => hasAny([each])) && !hasAny(excludedLiterals);
  }

  /** The rules in an order, those of a page at least: the index alone sorts where nothing else takes rules away. */
  function sorted(asked: Asked, sort: SearchOrder, all: IndexedRule[], end: number, memory: IndexMemory) {
    const { query, match, passes } = asked;
    if (sort !== 'relevance' || match === null) return inOrder(all, sort === 'relevance' ? 'stig' : sort);
    const isAlone = passes === null && !hasLiterals(query) && query.ids.length === 0;
    const few = scoreFew(query, all, memory.vocabulary);
    const scored = few ?? (isAlone ? mostRelevant(match, end) : null) ?? scoresOf(match, all);
    const rules = scored.map(({ id, score }) => ({ rule: memory.rules.get(id)!, score })).sort(byScore);
    return namedFirst(
      query,
      rules.map(({ rule }) => rule),
    );
  }

  function scoresOf(match: string, of: IndexedRule[]): Scored[] {
    const ids = new Set(of.map(({ id }) => id));
    return queries.scores.all(match).filter(({ id }) => ids.has(id));
  }

  /** Behind the rules that have the id that is asked for come those that have it in another revision, then others. */
  function namedFirst({ ids, unrevised }: SearchQuery, rules: IndexedRule[]): IndexedRule[] {
    if (ids.length === 0) return rules;
    const [named, other] = [ids, unrevised].map((each) => queries.named(each, rules));
    const rank = ({ id }: IndexedRule) => (named!.has(id) ? 0 : 2) + (other!.has(id) ? 0 : 1);
    return rules.toSorted((a, b) => rank(a) - rank(b));
  }

  /** Null where rules of one score reach beyond what is asked and would have to be sorted too. */
  function mostRelevant(match: string, end: number): Scored[] | null {
    const limit = end + 1 + tiesAtMost;
    const rows = bestOfCommon().get(`${limit} ${match}`) ?? queries.scores.best(match, limit);
    if (limit <= keptAtMost) bestOfCommon().set(`${limit} ${match}`, rows);
    const isWhole = rows.length <= end + tiesAtMost || rows.at(-1)!.score !== rows[end - 1]!.score;
    return isWhole ? rows : null;
  }

  function* widerOf(
    asked: Asked,
    all: IndexedRule[],
    { stig, sort }: SearchIn,
    memory: IndexMemory,
  ): Generator<void, Wider> {
    const { query, match, inScope, passes } = asked;
    if (match === null || all.length >= enough) return nothingWider;
    if (query.isOneId && isId(query.wanted)) return nothingWider;
    const first = passes === inScope ? all : yield* allOf(asked, inScope, memory);
    if (first.length >= enough) return nothingWider;
    const wider = yield* widen(asked, new Set(first), phrasesIn, stig === undefined, memory);
    return sort === undefined || sort === 'relevance'
      ? wider
      : { ...wider, rules: inOrder(wider.rules, sort) };
  }

  return function* (search: SearchIn, page: Page, memory: IndexMemory): Generator<void, Found> {
    const query = readSearchQuery(search.q ?? '');
    const bound = bind(query, search);
    if (bound === null)
      return { query, rules: [], total: 0, exact: 0, wider: nothingWider, counts: countsOf([]) };
    const asked = yield* withoutExcluded(bound);
    const all = yield* allOf(asked, asked.passes, memory);
    yield;
    const wider = yield* widerOf(asked, all, search, memory);
    const total = all.length + wider.rules.length;
    const offset = offsetOf(page, total);
    const end = offset + page.limit;
    const first =
      offset < all.length
        ? sorted(asked, search.sort ?? 'relevance', all, end, memory).slice(offset, end)
        : [];
    const rest = wider.rules.slice(Math.max(0, offset - all.length), Math.max(0, end - all.length));
    return {
      ...{ query, wider, total, rules: [...first, ...rest], exact: all.length },
      counts: countsOf(wider.rules.length === 0 ? all : [...all, ...wider.rules]),
    };
  };
}

const hasLiterals = ({ literals, excludedLiterals }: SearchQuery) =>
  literals.length + excludedLiterals.length > 0;
