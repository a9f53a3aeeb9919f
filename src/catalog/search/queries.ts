import { badRequest } from '../../base/errors.ts';
import { yieldToEventLoop } from '../../base/slices.ts';
import type { Database } from '../../db/database.ts';
import { offsetOf, type Page, paginationOf, slice } from '../../http/paging.ts';
import { canonicalIdentifier } from '../controls/identifier.ts';
import { createStigNameIndex } from '../stigs/name-index.ts';
import { findPlaces, foldInPlace, type Pattern } from './pattern.ts';
import { readSearchQuery, type SearchQuery } from './query.ts';
import { mostExported, type SearchAnswer, type SearchOrder, type SearchResult } from './schema.ts';
import { makeSnippet } from './snippet.ts';
import { every, idFirst, matching, orders, relevance } from './sql.ts';

/** What is searched for: a question or none, and what the rules are narrowed to. */
export interface SearchQuestion {
  /** Without one all rules are found that the filters leave. */
  q?: string | undefined;
  severity?: Set<string> | undefined;
  /** Slugs of STIGs. */
  stig?: string[] | undefined;
  /** The slugs of a list, to which the rules are narrowed besides. */
  among?: string[] | undefined;
  /** A CCI in any spelling. */
  cci?: string | undefined;
  /** A control of nist-800-53 in any spelling. */
  control?: string | undefined;
}

export interface RuleSearch extends SearchQuestion, Page {
  sort?: SearchOrder | undefined;
}

/** A rule that was found, without what is shown of its texts. */
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

/** Rows of an export that are read before others have their turn. */
const rowsPerTurn = 500;

/** How many STIGs are offered to narrow a search to. */
const mostStigs = 100;

export type SearchService = ReturnType<typeof createSearchService>;

/** Full-text search over the rules of current releases; `lookup` says which CCIs lead to a control. */
export function createSearchService(
  db: Database,
  lookup: { ccisOf(control: string): string[] },
  { slugOf } = createStigNameIndex(db),
) {
  const { sqlite } = db;
  const countAll = sqlite
    .prepare<[Record<string, unknown>], number>(
      'SELECT count(*) FROM rule_search WHERE rule_search MATCH :match',
    )
    .pluck();
  /** The statements over what a question matches, or over every rule. */
  function statementsOver(found: string, byRelevance: string, byIdFirst: string) {
    const pageIn = (order: string) =>
      sqlite
        .prepare<[Record<string, unknown>], number>(
          `SELECT f.id ${found} ORDER BY ${order} LIMIT :limit OFFSET :offset`,
        )
        .pluck();
    return {
      count: sqlite.prepare<[Record<string, unknown>], number>(`SELECT count(*) ${found}`).pluck(),
      pages: {
        relevance: pageIn(byRelevance),
        idFirst: pageIn(byIdFirst),
        stig: pageIn(orders.stig),
        severity: pageIn(orders.severity),
        id: pageIn(orders.id),
      },
      stigs: sqlite.prepare<[Record<string, unknown>], { slug: string; title: string }>(
        `SELECT slug, title FROM (
           SELECT s.slug, s.title, s.title_fold ${found}
              AND (:held IS NULL OR f.id IN (SELECT value FROM json_each(:held)))
            GROUP BY s.id ORDER BY count(*) DESC, s.slug LIMIT :most)
          ORDER BY title_fold, title, slug`,
      ),
    };
  }
  const overMatching = statementsOver(matching, relevance, idFirst);
  const overEvery = statementsOver(every, orders.stig, orders.stig);
  const rowWith = <T>(columns: string, join: string) =>
    sqlite.prepare<[number], T>(
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
  const textsOf = sqlite
    .prepare<[number], string[]>(
      'SELECT title, discussion, check_content, fix_text, ids FROM searchable_rules WHERE id = ?',
    )
    .raw();

  return {
    /**
     * A page of the rules that a question finds within its filters, in the order of rule S4.2. Never throws for what the
     * question says: one without a word finds nothing.
     */
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

    /**
     * All that a question finds, in its order, giving way to other requests in between; made anew where the catalog changes
     * meanwhile. Throws a 400 where that is more than an export holds.
     */
    async exported(search: Omit<RuleSearch, keyof Page>): Promise<FoundRule[]> {
      for (;;) {
        const generation = db.generation();
        const { ids, total } = db.read(() => find(search, { page: 1, limit: mostExported }));
        if (total > mostExported)
          throw badRequest(
            `${total.toLocaleString('en-US')} rules were found. An export holds ${mostExported.toLocaleString('en-US')}: add filters`,
          );
        const rows: FoundRule[] = [];
        while (rows.length < ids.length && db.generation() === generation) {
          const from = rows.length;
          const part = ids.slice(from, from + rowsPerTurn);
          rows.push(...db.read(() => part.map((id, index) => toFound(foundOf.get(id)!, from + index + 1))));
          await yieldToEventLoop();
        }
        if (db.generation() === generation) return rows;
      }
    },

    /** The STIGs of all the rules that a search finds, by title; of more than `most` those with most of the rules. */
    stigs(search: SearchQuestion, most = mostStigs): { slug: string; title: string }[] {
      const query = readSearchQuery(search.q ?? '');
      return db.read(() => {
        const asked = askedOf(query, search);
        if (asked === null) return [];
        const over = asked.match === null ? overEvery : overMatching;
        const literal = query.literals.length > 0;
        const held = literal ? JSON.stringify(literallyFound(over.pages.relevance, asked, query)) : null;
        return over.stigs.all({ ...asked, held, most });
      });
    },
  };

  /** A page of what a question finds, as ids of findings, and how many there are in all. */
  function find(search: Omit<RuleSearch, keyof Page>, page: Page) {
    const query = readSearchQuery(search.q ?? '');
    const asked = askedOf(query, search);
    if (asked === null) return { query, ids: [], total: 0 };
    const over = asked.match === null ? overEvery : overMatching;
    const { sort = asked.match === null ? 'stig' : 'relevance' } = search;
    const pages = over.pages[sort === 'relevance' && query.ids.length > 0 ? 'idFirst' : sort];
    if (query.literals.length > 0) {
      const all = literallyFound(pages, asked, query);
      return { query, ids: slice(all, page), total: all.length };
    }
    const { match: _, ids: __, unrevised: ___, ...filters } = asked;
    const isFiltered = Object.values(filters).some((each) => each !== null);
    const total = (asked.match === null || isFiltered ? over.count : countAll).get(asked)!;
    const ids = pages.all({ ...asked, limit: page.limit, offset: offsetOf(page, total) });
    return { query, ids, total };
  }

  /** What the statements take; null where nothing can be found. */
  function askedOf(query: SearchQuery, search: SearchQuestion) {
    const filters = filtersOf(search);
    const isUnasked = (search.q ?? '') === '';
    if (filters === null || (query.match === null && !isUnasked)) return null;
    const [ids, unrevised] = [JSON.stringify(query.ids), JSON.stringify(query.unrevised)];
    return { ...filters, match: query.match, ids, unrevised };
  }

  /** All that a statement finds and that holds the phrases of a question to the letter. */
  function literallyFound(
    page: typeof overMatching.pages.relevance,
    asked: object,
    { literals }: SearchQuery,
  ): number[] {
    return page.all({ ...asked, limit: -1, offset: 0 }).filter((id) => holds(textsOf.get(id)!, literals));
  }

  /** The filters as the statements take them; null where one can match nothing. */
  function filtersOf({ severity, stig, among, cci, control }: SearchQuestion) {
    const canonical = cci === undefined ? undefined : canonicalIdentifier('cci', cci);
    const identifier = control === undefined ? undefined : canonicalIdentifier('nist-800-53', control);
    if (canonical === null || identifier === null) return null;
    return {
      severities: severity === undefined ? null : JSON.stringify([...severity]),
      slugs: stig === undefined ? null : JSON.stringify(stig.map(slugOf)),
      among: among === undefined ? null : JSON.stringify(among),
      cci: canonical ?? null,
      ccis: identifier === undefined ? null : JSON.stringify(lookup.ccisOf(identifier)),
    };
  }
}

function holds(texts: string[], literals: Pattern[]): boolean {
  return literals.every((literal) =>
    texts.some((text) => findPlaces(foldInPlace(text), literal, 1).length > 0),
  );
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
