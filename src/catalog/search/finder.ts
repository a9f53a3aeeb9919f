import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';
import { offsetOf, type Page } from '../../http/paging.ts';
import type { StigNameIndex } from '../stigs/name-index.ts';
import { type Asked, allTests, createBinder, type Lookup, type SearchQuestion, type Test } from './binder.ts';
import {
  byScore,
  countsOf,
  type IndexedRule,
  inOrder,
  type Ranked,
  readIndexedRules,
} from './indexed-rules.ts';
import { createIdTest } from './known-ids.ts';
import { type FoldedText, findPlaces, foldInPlace } from './pattern.ts';
import { allOf, anyOf, matchOf, readSearchQuery, type SearchQuery, type Term } from './query.ts';
import { readRequirements } from './requirements.ts';
import type { SearchCounts, SearchOrder } from './schema.ts';
import { createIndexQueries, type Scored } from './sql.ts';
import { readVocabulary } from './vocabulary.ts';
import { createWider, type Kept, nothingWider, type PhrasesIn, type Wider } from './wider.ts';

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

/** Fewer rules with all words, and the question is read a second time (rule D35.1). */
const enough = 10;
const isAscii = /^\p{ASCII}*$/u;

/** Prepares the search for rules by a question and filters, which runs inside one read transaction. */
export function createFinder(
  db: Database,
  lookup: Lookup,
  stigNames: Pick<StigNameIndex, 'filtered' | 'said' | 'exactly'>,
) {
  const queries = createIndexQueries(db);
  const bind = createBinder(lookup, stigNames.filtered, queries);
  const isId = createIdTest(db);
  const widen = createWider(db, stigNames, isId, queries);
  const indexed = perGeneration(db, () => readIndexedRules(db));
  const vocabulary = perGeneration(db, () => readVocabulary(db));
  const requirements = perGeneration(db, () => readRequirements(db, indexed().rules));
  const kept = (): Kept => ({ ...indexed(), vocabulary: vocabulary(), requirements: requirements() });
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
  function withoutExcluded(asked: Asked): Asked {
    const { excluded } = asked.query;
    if (excluded.length === 0) return asked;
    const without = new Set(
      queries.matching(anyOf(excluded.flatMap(({ patterns }) => patterns.map(matchOf)))),
    );
    const isLeft: Test = ({ id }) => !without.has(id);
    const { inScope, passes } = asked;
    return { ...asked, inScope: allTests([inScope, isLeft]), passes: allTests([passes, isLeft]) };
  }

  /** The rules of a question that pass a test, in no order: those that have its words with what they score. */
  function rulesOf({ query, byWords, reached }: Asked, passes: Test | null, { rules }: Kept): Ranked[] {
    return (byWords ? matching(query.wants) : Array.from(reached ?? rules.keys(), (id): Scored => [id, 0]))
      .map(([id, score]) => ({ rule: rules.get(id)!, score }))
      .filter(({ rule }) => (passes?.(rule) ?? true) && hasItsLiterals(query, rule));
  }

  function matching(terms: Term[]): Scored[] {
    // FTS5 leaves out a word of letters that it does not know: it asks for the others alone.
    const isNone = (match: string) => !isAscii.test(match) && queries.matching(match).length === 0;
    return terms.some((term) => isNone(allOf([term]))) ? [] : queries.first(allOf(terms));
  }

  function hasItsLiterals({ literals, excludedLiterals }: SearchQuery, rule: IndexedRule): boolean {
    if (literals.length + excludedLiterals.length === 0) return true;
    const hasAny = phrasesIn(rule);
    return literals.every((each) => hasAny([each])) && !hasAny(excludedLiterals);
  }

  function sorted({ query, byWords }: Asked, sort: SearchOrder, all: Ranked[]): IndexedRule[] {
    const rules = (some: Ranked[]) => some.map(({ rule }) => rule);
    if (sort !== 'relevance' || !byWords) return inOrder(rules(all), sort === 'relevance' ? 'stig' : sort);
    return namedFirst(query, rules(all.toSorted(byScore)));
  }

  /** Behind the rules that have the id that is asked for come those that have it in another revision, then others. */
  function namedFirst({ ids, unrevised }: SearchQuery, rules: IndexedRule[]): IndexedRule[] {
    if (ids.length === 0) return rules;
    const [named, other] = [ids, unrevised].map((each) => queries.named(each, rules));
    const rank = ({ id }: IndexedRule) => (named!.has(id) ? 0 : 2) + (other!.has(id) ? 0 : 1);
    return rules.toSorted((a, b) => rank(a) - rank(b));
  }

  function widerOf(asked: Asked, all: Ranked[], { stig, sort }: SearchIn, of: Kept): Wider {
    const { query, byWords, inScope, passes } = asked;
    if (!byWords || all.length >= enough) return nothingWider;
    if (query.isOneId && isId(query.wanted)) return nothingWider;
    const first = passes === inScope ? all : rulesOf(asked, inScope, of);
    if (first.length >= enough) return nothingWider;
    const wider = widen(asked, new Set(first.map(({ rule }) => rule)), phrasesIn, stig === undefined, of);
    return sort === undefined || sort === 'relevance'
      ? wider
      : { ...wider, rules: inOrder(wider.rules, sort) };
  }

  return (search: SearchIn, page: Page): Found => {
    const query = readSearchQuery(search.q ?? '');
    const bound = bind(query, search);
    if (bound === null)
      return { query, rules: [], total: 0, exact: 0, wider: nothingWider, counts: countsOf([]) };
    const asked = withoutExcluded(bound);
    const all = rulesOf(asked, asked.passes, kept());
    const wider = widerOf(asked, all, search, kept());
    const total = all.length + wider.rules.length;
    const offset = offsetOf(page, total);
    const rules = [...sorted(asked, search.sort ?? 'relevance', all), ...wider.rules];
    return {
      ...{ query, wider, total, exact: all.length },
      rules: rules.slice(offset, offset + page.limit),
      counts: countsOf(rules),
    };
  };
}
