import type { Database } from '../../db/database.ts';
import { offsetOf, type Page } from '../../http/paging.ts';
import type { StigNameIndex } from '../stigs/name-index.ts';
import { bestOf } from './best.ts';
import { type Asked, allTests, createBinder, type Lookup, type SearchQuestion, type Test } from './binder.ts';
import type { IndexMemory } from './index-memory.ts';
import { countsOf, type IndexedRule, inOrder } from './indexed-rules.ts';
import { createIdTest } from './known-ids.ts';
import { matching, rulesOfTerm } from './matching.ts';
import { type FoldedText, findPlaces, foldInPlace, type Pattern } from './pattern.ts';
import { matchOf, readSearchQuery, type SearchQuery } from './query.ts';
import type { SearchCounts, SearchOrder } from './schema.ts';
import type { Wanted } from './second-reading.ts';
import { createIndexQueries } from './sql.ts';
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
  /** What a rule of the second reading has of the question. */
  wantedIn: (rule: IndexedRule) => Pattern[][];
  counts: SearchCounts;
}

/** One of so many rules is few: each is looked for among those that have a word. */
const fewShare = 16;
/** Fewer rules with all words, and the question is read a second time (rule D35.1). */
const enough = 10;

/** Prepares the search for rules by a question and filters. Its work can pause between the texts of rules. */
export function createFinder(
  db: Database,
  lookup: Lookup,
  stigNames: Pick<StigNameIndex, 'filtered' | 'said' | 'exactly'>,
) {
  const queries = createIndexQueries(db);
  const bind = createBinder(lookup, stigNames.filtered, queries);
  const isId = createIdTest(db);
  const widen = createWider(db, stigNames, isId);
  const textsOf = db.sqlite
    .prepare<[number], string[]>(
      'SELECT ids, title, discussion, check_content, fix_text FROM searchable_rules WHERE id = ?',
    )
    .raw();
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
  function* withoutExcluded(asked: Asked, memory: IndexMemory): Generator<void, Asked> {
    const { excluded } = asked.query;
    if (excluded.length === 0) return asked;
    const without = new Uint8Array(memory.all.length);
    for (const term of excluded) {
      const places = yield* rulesOfTerm(term, memory);
      for (let at = 0; at < places.length; at++) without[places[at]!] = 1;
    }
    const isLeft: Test = ({ place }) => without[place] === 0;
    const { inScope, passes } = asked;
    const left = allTests([inScope, isLeft]);
    return { ...asked, inScope: left, passes: passes === inScope ? left : allTests([passes, isLeft]) };
  }

  /** The rules of a question that pass a test, in no order. */
  function* allOf(asked: Asked, passes: Test | null, memory: IndexMemory): Generator<void, IndexedRule[]> {
    const { query, byWords, reached } = asked;
    const rules = !byWords && reached === null ? memory.all : [];
    if (!byWords) for (const id of reached ?? []) rules.push(memory.rules.get(id)!);
    else {
      const places = yield* matching(query.wants, memory);
      for (let at = 0; at < places.length; at++) rules.push(memory.all[places[at]!]!);
    }
    const found = passes === null ? rules : rules.filter(passes);
    return hasLiterals(query) ? yield* filtered(found, (rule) => hasItsLiterals(query, rule)) : found;
  }

  function hasItsLiterals({ literals, excludedLiterals }: SearchQuery, rule: IndexedRule): boolean {
    const hasAny = phrasesIn(rule);
    return literals.every((each) => hasAny([each])) && !hasAny(excludedLiterals);
  }

  /** The rules in an order, those of a page at least. */
  function* sorted(
    { query, byWords }: Asked,
    sort: SearchOrder,
    all: IndexedRule[],
    end: number,
    memory: IndexMemory,
  ): Generator<void, IndexedRule[]> {
    if (sort !== 'relevance' || !byWords) return inOrder(all, sort === 'relevance' ? 'stig' : sort);
    const weighed = query.wants.flatMap(({ patterns }) =>
      patterns.map((pattern) => ({ match: matchOf(pattern), share: 1 })),
    );
    const isFew = all.length * fewShare < memory.all.length;
    const places = isFew ? all.map(({ place }) => place) : null;
    const { scores } = yield* memory.postings.scores(weighed, 'first', places);
    const asked = query.ids.length > 0 ? all.length : end;
    const ranked = bestOf(all, ({ place }) => scores[place]!, asked);
    return namedFirst(
      query,
      ranked.map(({ rule }) => rule),
    );
  }

  /** Behind the rules that have the id that is asked for come those that have it in another revision, then others. */
  function namedFirst({ ids, unrevised }: SearchQuery, rules: IndexedRule[]): IndexedRule[] {
    if (ids.length === 0) return rules;
    const [named, other] = [ids, unrevised].map((each) => queries.named(each, rules));
    const rank = ({ id }: IndexedRule) => (named!.has(id) ? 0 : 2) + (other!.has(id) ? 0 : 1);
    return rules.toSorted((a, b) => rank(a) - rank(b));
  }

  function* widerOf(
    asked: Asked,
    all: IndexedRule[],
    { stig, sort }: SearchIn,
    memory: IndexMemory,
  ): Generator<void, Wider> {
    const { query, byWords, inScope, passes } = asked;
    if (!byWords || all.length >= enough) return nothingWider;
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
      return {
        query,
        rules: [],
        total: 0,
        exact: 0,
        wider: nothingWider,
        wantedIn: () => [],
        counts: countsOf([]),
      };
    const asked = yield* withoutExcluded(bound, memory);
    const all = yield* allOf(asked, asked.passes, memory);
    yield;
    const wider = yield* widerOf(asked, all, search, memory);
    const total = all.length + wider.rules.length;
    const offset = offsetOf(page, total);
    const end = offset + page.limit;
    const first =
      offset < all.length
        ? (yield* sorted(asked, search.sort ?? 'relevance', all, end, memory)).slice(offset, end)
        : [];
    const rest = wider.rules.slice(Math.max(0, offset - all.length), Math.max(0, end - all.length));
    return {
      ...{ query, wider, total, rules: [...first, ...rest], exact: all.length },
      wantedIn: wantedBy(wider.wanted, memory),
      counts: countsOf(wider.rules.length === 0 ? all : [...all, ...wider.rules]),
    };
  };
}

/** A rule has few forms of each word: to look for all of them in its texts takes longer than the search. */
function wantedBy(wanted: Wanted[], { postings }: IndexMemory): (rule: IndexedRule) => Pattern[][] {
  const all = wanted.map(({ patterns, instead }) =>
    [...patterns, ...instead].map((pattern) => ({ pattern, mayBeIn: postings.test(matchOf(pattern)) })),
  );
  return ({ place }) =>
    all.flatMap((forms) => {
      const found = forms.filter(({ mayBeIn }) => mayBeIn(place)).map(({ pattern }) => pattern);
      return found.length === 0 ? [] : [found];
    });
}

const hasLiterals = ({ literals, excludedLiterals }: SearchQuery) =>
  literals.length + excludedLiterals.length > 0;
