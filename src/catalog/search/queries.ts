import { badRequest } from '../../base/errors.ts';
import { yieldToEventLoop } from '../../base/slices.ts';
import type { Database } from '../../db/database.ts';
import { inOneGeneration } from '../../db/one-generation.ts';
import { offsetOf, type Page, paginationOf, slice } from '../../http/paging.ts';
import { createStigNameIndex } from '../stigs/name-index.ts';
import { findPlaces, foldInPlace, type Pattern } from './pattern.ts';
import { readSearchQuery, type SearchQuery } from './query.ts';
import { mostExported, type SearchAnswer, type SearchOrder, type SearchResult } from './schema.ts';
import { makeSnippet } from './snippet.ts';
import { every, idFirst, matching, orders, relevance } from './sql.ts';

/** A question, filters, or both. */
export interface SearchQuestion {
  q?: string | undefined;
  severity?: Set<string> | undefined;
  stig?: string[] | undefined;
  /** The slugs of a list: only rules of its STIGs. */
  among?: string[] | undefined;
  cci?: string | undefined;
  /** A control of nist-800-53 in any spelling. */
  control?: string | undefined;
}

export interface RuleSearch extends SearchQuestion, Page {
  sort?: SearchOrder | undefined;
}

/** A search result without its snippet. */
export type FoundRule = Omit<SearchResult, 'snippet'>;

interface FoundRow {
  slug: string;
  stigTitle: string;
  version: string;
  groupId: string;
  ruleId: string;
  ruleVersion: string;
  severity: 'high' | 'medium' | 'low';
  ccis: string;
  title: string;
}

interface Row extends FoundRow {
  discussion: string;
  check: string;
  fix: string;
  ids: string;
}

const rowsPerTurn = 500;

const mostStigs = 100;

export type SearchService = ReturnType<typeof createSearchService>;

type Bound = Record<string, unknown>;

/** What the search has to know of the crosswalk: which CCIs lead to a control, and what a filter names. */
interface Lookup {
  ccisOf(control: string): string[];
  filtered(field: 'cci' | 'control', text: string): string;
}

/** Full-text search over the rules of current releases. */
export function createSearchService(db: Database, lookup: Lookup, { filtered } = createStigNameIndex(db)) {
  const { find, stigs } = createFinder(db, createBinder(lookup, filtered));
  const rowWith = <T>(columns: string, join: string) =>
    db.sqlite.prepare<[number], T>(
      `SELECT s.slug, s.title AS stigTitle, r.version, f.group_id AS groupId, f.rule_id AS ruleId,
              f.rule_version AS ruleVersion, f.severity, f.ccis, ${columns}
         FROM findings AS f ${join}
         JOIN stig_releases AS r ON r.id = f.release_id JOIN stigs AS s ON s.id = r.stig_id
        WHERE f.id = ?`,
    );
  const foundOf = rowWith<FoundRow>('f.rule_title AS title', '');
  const rowOf = rowWith<Row>(
    't.title, t.discussion, t.check_content AS "check", t.fix_text AS fix, t.ids',
    'JOIN searchable_rules AS t ON t.id = f.id',
  );

  return {
    /** A page of what a question finds, in the order of rule S4.2. A question without a word finds nothing. */
    search(search: RuleSearch): Omit<SearchAnswer, 'stigs'> {
      return db.read(() => {
        const { query, ids, total } = find(search, search);
        const first = offsetOf(search, total) + 1;
        return {
          results: ids.map((id, index) => toResult(rowOf.get(id)!, query.terms, first + index)),
          pagination: paginationOf(search, total),
        };
      });
    },

    /** All rules that a question finds, in its order. Throws a 400 where an export cannot hold them. */
    exported(search: Omit<RuleSearch, keyof Page>): Promise<FoundRule[]> {
      return inOneGeneration(db, async () => {
        const { ids, total } = db.read(() => find(search, { page: 1, limit: mostExported }));
        if (total > mostExported)
          throw badRequest(
            `${total.toLocaleString('en-US')} rules were found. An export holds ${mostExported.toLocaleString('en-US')}: add filters`,
          );
        const rows: FoundRule[] = [];
        while (rows.length < ids.length) {
          const from = rows.length;
          const part = ids.slice(from, from + rowsPerTurn);
          rows.push(...db.read(() => part.map((id, index) => toFound(foundOf.get(id)!, from + index + 1))));
          await yieldToEventLoop();
        }
        return rows;
      });
    },

    stigs,
  };
}

function createBinder({ ccisOf, filtered }: Lookup, slugsOf: (names: string[]) => string[]) {
  const given = <T>(value: T | undefined, of: (value: T) => string): string | null =>
    value === undefined ? null : of(value);
  return (query: SearchQuery, { q = '', severity, stig, among, cci, control }: SearchQuestion) => {
    const filters = {
      severities: given(severity, (levels) => JSON.stringify([...levels])),
      slugs: given(stig, (names) => JSON.stringify(slugsOf(names))),
      among: given(among, (slugs) => JSON.stringify(slugs)),
      cci: given(cci, (text) => filtered('cci', text)),
      ccis: given(control, (text) => JSON.stringify(ccisOf(filtered('control', text)))),
    };
    const excludes = query.excluded !== null || query.excludedLiterals.length > 0;
    if (query.match === null && q !== '' && !excludes) return null;
    const hasFilter = Object.values(filters).some((each) => each !== null);
    if (query.match === null && !hasFilter && excludes)
      throw badRequest('q must have a word to find beside those that it excludes, or a filter', 'q');
    const [ids, unrevised] = [JSON.stringify(query.ids), JSON.stringify(query.unrevised)];
    const bound = { ...filters, match: query.match, excluded: query.excluded, ids, unrevised };
    return { isFiltered: hasFilter || excludes, bound };
  };
}

function statementsOver({ sqlite }: Database, found: string, byRelevance: string, byIdFirst: string) {
  const pageIn = (order: string) =>
    sqlite
      .prepare<[Bound], number>(`SELECT f.id ${found} ORDER BY ${order} LIMIT :limit OFFSET :offset`)
      .pluck();
  return {
    count: sqlite.prepare<[Bound], number>(`SELECT count(*) ${found}`).pluck(),
    pages: {
      relevance: pageIn(byRelevance),
      idFirst: pageIn(byIdFirst),
      stig: pageIn(orders.stig),
      severity: pageIn(orders.severity),
      id: pageIn(orders.id),
    },
    stigs: sqlite.prepare<[Bound], { slug: string; title: string }>(
      `SELECT slug, title FROM (
         SELECT s.slug, s.title, s.title_fold ${found}
            AND (:held IS NULL OR f.id IN (SELECT value FROM json_each(:held)))
          GROUP BY s.id ORDER BY count(*) DESC, s.slug LIMIT :most)
        ORDER BY title_fold, title, slug`,
    ),
  };
}

function createFinder(db: Database, bind: ReturnType<typeof createBinder>) {
  const overMatching = statementsOver(db, matching, relevance, idFirst);
  const overEvery = statementsOver(db, every, orders.stig, orders.stig);
  const countAll = db.sqlite
    .prepare<[Bound], number>('SELECT count(*) FROM rule_search WHERE rule_search MATCH :match')
    .pluck();
  const textsOf = db.sqlite
    .prepare<[number], string[]>(
      'SELECT title, discussion, check_content, fix_text, ids FROM searchable_rules WHERE id = ?',
    )
    .raw();

  /** All ids that a statement finds whose texts have and lack the phrases of a question to the letter. */
  const literallyFound = (page: typeof countAll, bound: Bound, query: SearchQuery) =>
    page.all({ ...bound, limit: -1, offset: 0 }).filter((id) => {
      const found = (literal: Pattern) => isIn(textsOf.get(id)!, literal);
      return query.literals.every(found) && !query.excludedLiterals.some(found);
    });

  return {
    find(search: Omit<RuleSearch, keyof Page>, page: Page) {
      const query = readSearchQuery(search.q ?? '');
      const asked = bind(query, search);
      if (asked === null) return { query, ids: [], total: 0 };
      const { bound, isFiltered } = asked;
      const over = bound.match === null ? overEvery : overMatching;
      const { sort = bound.match === null ? 'stig' : 'relevance' } = search;
      const pages = over.pages[sort === 'relevance' && query.ids.length > 0 ? 'idFirst' : sort];
      if (hasLiterals(query)) {
        const all = literallyFound(pages, bound, query);
        return { query, ids: slice(all, page), total: all.length };
      }
      const total = (bound.match === null || isFiltered ? over.count : countAll).get(bound)!;
      const ids = pages.all({ ...bound, limit: page.limit, offset: offsetOf(page, total) });
      return { query, ids, total };
    },

    /** The STIGs of all the rules that a search finds, by title; of more than `most` those with most of the rules. */
    stigs(search: SearchQuestion, most = mostStigs): { slug: string; title: string }[] {
      const query = readSearchQuery(search.q ?? '');
      return db.read(() => {
        const bound = bind(query, search)?.bound;
        if (bound === undefined) return [];
        const over = bound.match === null ? overEvery : overMatching;
        const held = hasLiterals(query)
          ? JSON.stringify(literallyFound(over.pages.relevance, bound, query))
          : null;
        return over.stigs.all({ ...bound, held, most });
      });
    },
  };
}

const hasLiterals = ({ literals, excludedLiterals }: SearchQuery) =>
  literals.length + excludedLiterals.length > 0;

function isIn(texts: string[], literal: Pattern): boolean {
  return texts.some((text) => findPlaces(foldInPlace(text), literal, 1).length > 0);
}

function toResult(row: Row, terms: Pattern[][], rank: number): SearchResult {
  const { rank: _, ...found } = toFound(row, rank);
  return { ...found, snippet: makeSnippet(row, terms), rank };
}

function toFound(row: FoundRow, rank: number): FoundRule {
  const { slug, stigTitle, version, groupId, ruleId, ruleVersion, severity, title: ruleTitle } = row;
  const ruleIdents = JSON.parse(row.ccis) as string[];
  return { slug, stigTitle, version, groupId, ruleId, ruleVersion, ruleTitle, severity, ruleIdents, rank };
}
