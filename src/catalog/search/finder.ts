import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';
import { offsetOf, type Page } from '../../http/paging.ts';
import type { StigNameIndex } from '../stigs/name-index.ts';
import { type Asked, type Bound, createBinder, type Lookup, type SearchQuestion } from './binder.ts';
import { createFewRanker } from './few.ts';
import { createIdTest } from './known-ids.ts';
import { type FoldedText, findPlaces, foldInPlace, type Pattern } from './pattern.ts';
import { readSearchQuery, type SearchQuery } from './query.ts';
import type { SearchCounts, SearchOrder } from './schema.ts';
import { bestIds, every, idFirst, matching, orders, relevance, these } from './sql.ts';
import { createTally } from './tally.ts';
import { createVocabulary } from './vocabulary.ts';
import { createWider, nothingWider, type Wider } from './wider.ts';

/** What is asked for, and in which order. */
export interface SearchIn extends SearchQuestion {
  sort?: SearchOrder | undefined;
}

/** A page of what a question finds. */
export interface Found {
  query: SearchQuery;
  ids: number[];
  total: number;
  /** How many have all words: they stand first. */
  exact: number;
  wider: Wider;
  counts: SearchCounts;
}

/** Rules of one score beyond a page that are sorted with it. */
const tiesAtMost = 50;
/** Fewer rules with all words, and the question is read a second time (rule D35.1). */
const enough = 10;

const found = (query: SearchQuery): Found => ({
  ...{ query, ids: [], total: 0, exact: 0, wider: nothingWider },
  counts: { severity: { high: 0, medium: 0, low: 0 }, stigs: [] },
});

function statementsOver({ sqlite }: Database, from: string, byRelevance: string, byIdFirst: string) {
  const idsBy = (order: string) =>
    sqlite
      .prepare<[Bound], number>(`SELECT f.id ${from} ORDER BY ${order} LIMIT :limit OFFSET :offset`)
      .pluck();
  return {
    ids: sqlite.prepare<[Bound], string>(`SELECT json_group_array(f.id) ${from}`).pluck(),
    pages: {
      relevance: idsBy(byRelevance),
      idFirst: idsBy(byIdFirst),
      stig: idsBy(orders.stig),
      severity: idsBy(orders.severity),
      id: idsBy(orders.id),
    },
  };
}

/** Prepares the search for rules by a question and filters. */
export function createFinder(
  db: Database,
  lookup: Lookup,
  stigNames: Pick<StigNameIndex, 'filtered' | 'said' | 'exactly'>,
) {
  const bind = createBinder(lookup, stigNames.filtered);
  const tally = createTally(db);
  const isId = createIdTest(db);
  const vocabulary = createVocabulary(db);
  const widen = createWider(db, stigNames, isId, vocabulary);
  const rankFew = createFewRanker(db, vocabulary);
  const overMatching = statementsOver(db, matching, relevance, idFirst);
  const overEvery = statementsOver(db, every, orders.stig, orders.stig);
  const overThese = statementsOver(db, these, orders.stig, orders.stig);
  const matched = db.sqlite
    .prepare<[Bound], string>(
      'SELECT json_group_array(rowid) FROM rule_search WHERE rule_search MATCH :match',
    )
    .pluck();
  const best = db.sqlite.prepare<[Bound], { id: number; score: number }>(bestIds);
  const textsOf = db.sqlite
    .prepare<[number], string[]>(
      'SELECT ids, title, discussion, check_content, fix_text FROM searchable_rules WHERE id = ?',
    )
    .raw();
  const lastTexts = perGeneration(db, () => new Map<number, FoldedText[]>());
  /** The texts of a rule, those of the last one kept: a question may have many phrases. */
  function foldedTexts(id: number): FoldedText[] {
    const last = lastTexts();
    const texts = last.get(id) ?? textsOf.get(id)!.map(foldInPlace);
    last.clear();
    last.set(id, texts);
    return texts;
  }
  const isIn = (id: number, literal: Pattern) =>
    foldedTexts(id).some((text) => findPlaces(text, literal, 1).length > 0);

  /** All rules of a question, in no order. */
  function allOf(query: SearchQuery, bound: Bound, isFiltered: boolean): number[] {
    const statement = bound.match === null ? overEvery.ids : isFiltered ? overMatching.ids : matched;
    const ids = JSON.parse(statement.get(bound)!) as number[];
    if (!hasLiterals(query)) return ids;
    return ids.filter((id) => query.literals.every((each) => isIn(id, each)) && hasNoneExcluded(query, id));
  }

  const hasNoneExcluded = (query: SearchQuery, id: number) =>
    !query.excludedLiterals.some((each) => isIn(id, each));

  /** A page of rules by relevance: the index sorts; where ties reach over the end of the page, all rules are sorted. */
  function mostRelevant(bound: Bound, limit: number, offset: number): number[] {
    const rows = best.all({ ...bound, limit: offset + limit + 1 + tiesAtMost });
    const end = rows[offset + limit - 1]?.score;
    const isWhole = rows.length <= offset + limit + tiesAtMost || rows.at(-1)!.score !== end;
    if (!isWhole) return overMatching.pages.relevance.all({ ...bound, limit, offset });
    return rows.slice(offset, offset + limit).map(({ id }) => id);
  }

  function pageOf(
    query: SearchQuery,
    { bound, isFiltered }: Asked,
    sort: SearchOrder | undefined,
    all: number[],
    page: { limit: number; offset: number },
  ) {
    if (all.length === 1) return all;
    const over = bound.match === null ? overEvery : overMatching;
    const order = sort ?? (bound.match === null ? 'stig' : 'relevance');
    const isById = order === 'relevance' && query.ids.length > 0;
    if (hasLiterals(query)) {
      const held = new Set(all);
      const ids = over.pages[isById ? 'idFirst' : order].all({ ...bound, limit: -1, offset: 0 });
      return ids.filter((id) => held.has(id)).slice(page.offset, page.offset + page.limit);
    }
    const few = order === 'relevance' && !isById && bound.match !== null ? rankFew(query, all) : null;
    if (few !== null) return few.slice(page.offset, page.offset + page.limit);
    if (order === 'relevance' && !isById && !isFiltered && bound.match !== null)
      return mostRelevant(bound, page.limit, page.offset);
    return over.pages[isById ? 'idFirst' : order].all({ ...bound, ...page });
  }

  function widerOf(query: SearchQuery, asked: Asked, all: number[], { stig, sort }: SearchIn): Wider {
    if (asked.bound.match === null || all.length >= enough) return nothingWider;
    if (query.isOneId && isId(query.wanted)) return nothingWider;
    const inScope = asked.isNarrowed ? allOf(query, asked.inScope, true) : all;
    if (inScope.length >= enough) return nothingWider;
    const wider = widen(query, asked, new Set(inScope), isIn, stig === undefined);
    if (sort === undefined || sort === 'relevance' || wider.ids.length === 0) return wider;
    const ids = overThese.pages[sort].all({ ids: JSON.stringify(wider.ids), limit: -1, offset: 0 });
    return { ...wider, ids };
  }

  return (search: SearchIn, page: Page): Found => {
    const query = readSearchQuery(search.q ?? '');
    const asked = bind(query, search);
    if (asked === null) return found(query);
    const all = allOf(query, asked.bound, asked.isFiltered);
    const wider = widerOf(query, asked, all, search);
    const total = all.length + wider.ids.length;
    const offset = offsetOf(page, total);
    const first =
      offset < all.length ? pageOf(query, asked, search.sort, all, { limit: page.limit, offset }) : [];
    const rest = wider.ids.slice(Math.max(0, offset - all.length)).slice(0, page.limit - first.length);
    return {
      ...{ query, wider, total, ids: [...first, ...rest], exact: all.length },
      counts: tally([...all, ...wider.ids]),
    };
  };
}

const hasLiterals = ({ literals, excludedLiterals }: SearchQuery) =>
  literals.length + excludedLiterals.length > 0;
