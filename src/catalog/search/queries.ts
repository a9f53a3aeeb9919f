import { badRequest } from '../../base/errors.ts';
import type { Database } from '../../db/database.ts';
import { createSlugOf } from '../../db/stig-slugs.ts';
import { offsetOf, type Page, paginationOf, slice } from '../../http/paging.ts';
import { canonicalIdentifier } from '../controls/identifier.ts';
import { findPlaces, foldInPlace, type Pattern } from './pattern.ts';
import { readQuery, type SearchQuery } from './query.ts';
import { mostExported, type SearchAnswer, type SearchOrder, type SearchResult } from './schema.ts';
import { makeSnippet } from './snippet.ts';

/** What is searched for: a question or none, and what the rules are narrowed to. */
export interface Question {
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

export interface Search extends Question, Page {
  sort?: SearchOrder | undefined;
}

/** A rule that was found, without what is shown of its texts. */
export type FoundRule = Omit<SearchResult, 'snippet'>;

interface Row {
  slug: string;
  stigTitle: string;
  version: string;
  groupId: string;
  ruleId: string;
  ruleVersion: string;
  severity: 'high' | 'medium' | 'low';
  ccis: string;
  title: string;
  discussion: string;
  check: string;
  fix: string;
  ids: string;
}

/** How much a word counts in title, discussion, check, fix, ids. */
const weights = '10.0, 2.0, 1.0, 1.0, 4.0';

const isWanted = `
       (:slugs IS NULL OR s.slug IN (SELECT value FROM json_each(:slugs)))
   AND (:among IS NULL OR s.slug IN (SELECT value FROM json_each(:among)))
   AND (:cci IS NULL OR f.id IN (SELECT finding_id FROM rule_ccis WHERE cci = :cci))
   AND (:ccis IS NULL OR f.id IN (SELECT finding_id FROM rule_ccis WHERE cci IN (SELECT value FROM json_each(:ccis))))
   AND (:severities IS NULL OR f.severity IN (SELECT value FROM json_each(:severities)))`;
// CROSS JOIN keeps the full-text index first: another order would ask it once for every rule.
const matching = `
  FROM rule_search
 CROSS JOIN findings AS f ON f.id = rule_search.rowid
 CROSS JOIN stig_releases AS r ON r.id = f.release_id
 CROSS JOIN stigs AS s ON s.id = r.stig_id
 WHERE rule_search MATCH :match AND ${isWanted}`;
/** Without a question: every rule of a current release. */
const every = `
  FROM stigs AS s
 CROSS JOIN stig_releases AS r ON r.id = s.current_release_id
 CROSS JOIN findings AS f ON f.release_id = r.id
 WHERE ${isWanted}`;

/** The orders of rule S4.2; what is relevant is said by a question alone. */
const byStig = 's.title_fold, s.title, s.slug, f.ordinal';
const orders = {
  stig: byStig,
  severity: `CASE f.severity WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END, ${byStig}`,
  id: "CAST(substr(f.group_id, instr(f.group_id, '-') + 1) AS INTEGER), f.group_id, s.slug, f.ordinal",
};
const relevance = `bm25(rule_search, ${weights}), s.slug, f.ordinal`;

/** How many STIGs are offered to narrow a search to. */
const mostStigs = 100;

/** Whether a rule has one of the ids of a list; an SV-id without its revision counts whichever revision the rule has. */
const isCalled = (ids: ':ids' | ':unrevised') => `EXISTS (SELECT 1 FROM json_each(${ids}) AS id
   WHERE id.value IN (lower(f.group_id), lower(f.rule_id), lower(f.rule_version))
      OR substr(lower(f.rule_id), 1, length(id.value) + 1) = id.value || 'r'
      OR id.value IN (SELECT lower(value) FROM json_each(f.legacy_ids))
      OR id.value IN (SELECT lower(value) FROM json_each(f.ccis)))`;

export type SearchService = ReturnType<typeof createSearchService>;

/** Full-text search over the rules of current releases; `lookup` says which CCIs lead to a control. */
export function createSearchService(db: Database, lookup: { ccisOf(control: string): string[] }) {
  const { sqlite } = db;
  const slugOf = createSlugOf(db);
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
  const idFirst = `${isCalled(':ids')} DESC, ${isCalled(':unrevised')} DESC, ${relevance}`;
  const overMatching = statementsOver(matching, relevance, idFirst);
  const overEvery = statementsOver(every, orders.stig, orders.stig);
  const rowOf = sqlite.prepare<[number], Row>(
    `SELECT s.slug, s.title AS stigTitle, r.version, f.group_id AS groupId, f.rule_id AS ruleId,
            f.rule_version AS ruleVersion, f.severity, f.ccis,
            t.title, t.discussion, t.check_content AS "check", t.fix_text AS fix, t.ids
       FROM findings AS f JOIN searchable_rules AS t ON t.id = f.id
       JOIN stig_releases AS r ON r.id = f.release_id JOIN stigs AS s ON s.id = r.stig_id
      WHERE f.id = ?`,
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
    search(search: Search): Omit<SearchAnswer, 'stigs'> {
      return db.read(() => {
        const { query, ids, total } = find(search, search);
        const first = offsetOf(search, total) + 1;
        return {
          results: ids.map((id, index) => toResult(rowOf.get(id)!, query.terms, first + index)),
          pagination: paginationOf(search, total),
        };
      });
    },

    /** All that a question finds, in its order. Throws a 400 where that is more than an export holds. */
    exported(search: Omit<Search, keyof Page>): FoundRule[] {
      return db.read(() => {
        const { ids, total } = find(search, { page: 1, limit: mostExported });
        if (total > mostExported)
          throw badRequest(
            `${total.toLocaleString('en-US')} rules were found. An export holds ${mostExported.toLocaleString('en-US')}: add filters`,
          );
        return ids.map((id, index) => toFound(rowOf.get(id)!, index + 1));
      });
    },

    /** The STIGs of all the rules that a search finds, by title; of more than `most` those with most of the rules. */
    stigs(search: Question, most = mostStigs): { slug: string; title: string }[] {
      const query = readQuery(search.q ?? '');
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
  function find(search: Omit<Search, keyof Page>, page: Page) {
    const query = readQuery(search.q ?? '');
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
  function askedOf(query: SearchQuery, search: Question) {
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
  function filtersOf({ severity, stig, among, cci, control }: Question) {
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

function toFound(row: Row, rank: number): FoundRule {
  const { slug, stigTitle, version, groupId, ruleId, ruleVersion, severity, title: ruleTitle } = row;
  const ruleIdents = JSON.parse(row.ccis) as string[];
  return { slug, stigTitle, version, groupId, ruleId, ruleVersion, ruleTitle, severity, ruleIdents, rank };
}
