import type { Database } from '../../db/database.ts';
import { createSlugOf } from '../../db/stig-slugs.ts';
import { offsetOf, type Page, paginationOf, slice } from '../../http/paging.ts';
import { canonicalIdentifier } from '../controls/identifier.ts';
import { findPlaces, foldInPlace, type Pattern } from './pattern.ts';
import { readQuery, type SearchQuery } from './query.ts';
import type { SearchAnswer, SearchResult } from './schema.ts';
import { makeSnippet } from './snippet.ts';

/** What is searched for: a question, and what the rules are narrowed to. */
export interface Search extends Page {
  q: string;
  severity?: Set<string> | undefined;
  /** The slug of a STIG. */
  stig?: string | undefined;
  /** A CCI in any spelling. */
  cci?: string | undefined;
  /** A control of nist-800-53 in any spelling. */
  control?: string | undefined;
}

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

// CROSS JOIN keeps the full-text index first: another order would ask it once for every rule.
const found = `
  FROM rule_search
 CROSS JOIN findings AS f ON f.id = rule_search.rowid
 CROSS JOIN stig_releases AS r ON r.id = f.release_id
 CROSS JOIN stigs AS s ON s.id = r.stig_id
 WHERE rule_search MATCH :match
   AND (:severities IS NULL OR f.severity IN (SELECT value FROM json_each(:severities)))
   AND (:slug IS NULL OR s.slug = :slug)
   AND (:cci IS NULL OR f.id IN (SELECT finding_id FROM rule_ccis WHERE cci = :cci))
   AND (:ccis IS NULL OR f.id IN (SELECT finding_id FROM rule_ccis WHERE cci IN (SELECT value FROM json_each(:ccis))))`;

/** How many STIGs are offered to narrow a search to. */
const maxStigs = 100;

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
  const countFiltered = sqlite.prepare<[Record<string, unknown>], number>(`SELECT count(*) ${found}`).pluck();
  const pageIn = (order: string) =>
    sqlite
      .prepare<[Record<string, unknown>], number>(
        `SELECT f.id ${found} ORDER BY ${order} LIMIT :limit OFFSET :offset`,
      )
      .pluck();
  const relevance = `bm25(rule_search, ${weights}), s.slug, f.ordinal`;
  const pageByRelevance = pageIn(relevance);
  const pageByIdFirst = pageIn(`${isCalled(':ids')} DESC, ${isCalled(':unrevised')} DESC, ${relevance}`);
  const stigsFound = sqlite.prepare<[Record<string, unknown>], { slug: string; title: string }>(
    `SELECT slug, title FROM (
       SELECT s.slug, s.title, s.title_fold ${found}
          AND (:held IS NULL OR f.id IN (SELECT value FROM json_each(:held)))
        GROUP BY s.id ORDER BY count(*) DESC, s.slug LIMIT ${maxStigs})
      ORDER BY title_fold, title, slug`,
  );
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
     * The rules that a question finds: exact ids first, then those of its SV-id in another revision, then by bm25, slug
     * and document order. Never throws for what the question says: one without a word finds nothing.
     */
    search(search: Search): SearchAnswer {
      const query = readQuery(search.q);
      return db.read(() => {
        const asked = askedOf(query, search);
        if (asked === null) return { results: [], pagination: paginationOf(search, 0) };
        const page = query.ids.length > 0 ? pageByIdFirst : pageByRelevance;
        if (query.literals.length > 0) {
          const all = literallyFound(page, asked, query);
          return answer(slice(all, search), all.length);
        }
        const isFiltered = [asked.severities, asked.slug, asked.cci, asked.ccis].some(
          (each) => each !== null,
        );
        const total = (isFiltered ? countFiltered : countAll).get(asked)!;
        const { limit } = search;
        return answer(page.all({ ...asked, limit, offset: offsetOf(search, total) }), total);
      });

      function answer(ids: number[], total: number): SearchAnswer {
        const first = offsetOf(search, total) + 1;
        return {
          results: ids.map((id, index) => toResult(rowOf.get(id)!, query.terms, first + index)),
          pagination: paginationOf(search, total),
        };
      }
    },

    /** The STIGs of all the rules that a search finds, by title; of more than 100 those with most of the rules. */
    stigs(search: Omit<Search, keyof Page>): { slug: string; title: string }[] {
      const query = readQuery(search.q);
      return db.read(() => {
        const asked = askedOf(query, search);
        if (asked === null) return [];
        const held =
          query.literals.length === 0 ? null : JSON.stringify(literallyFound(pageByRelevance, asked, query));
        return stigsFound.all({ ...asked, held });
      });
    },
  };

  /** What the statements take; null where nothing can be found. */
  function askedOf(query: SearchQuery, search: Omit<Search, keyof Page>) {
    const filters = filtersOf(search);
    if (query.match === null || filters === null) return null;
    const [ids, unrevised] = [JSON.stringify(query.ids), JSON.stringify(query.unrevised)];
    return { ...filters, match: query.match, ids, unrevised };
  }

  /** All that a statement finds and that holds the phrases of a question to the letter. */
  function literallyFound(page: typeof pageByRelevance, asked: object, { literals }: SearchQuery): number[] {
    return page.all({ ...asked, limit: -1, offset: 0 }).filter((id) => holds(textsOf.get(id)!, literals));
  }

  /** The filters as the statements take them; null where one can match nothing. */
  function filtersOf({ severity, stig, cci, control }: Omit<Search, keyof Page>) {
    const canonical = cci === undefined ? undefined : canonicalIdentifier('cci', cci);
    const identifier = control === undefined ? undefined : canonicalIdentifier('nist-800-53', control);
    if (canonical === null || identifier === null) return null;
    return {
      severities: severity === undefined ? null : JSON.stringify([...severity]),
      slug: stig === undefined ? null : slugOf(stig),
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
  const { slug, stigTitle, version, groupId, ruleId, ruleVersion, severity, title: ruleTitle } = row;
  return {
    slug,
    stigTitle,
    version,
    groupId,
    ruleId,
    ruleVersion,
    ruleTitle,
    severity,
    ruleIdents: JSON.parse(row.ccis) as string[],
    snippet: makeSnippet(row, terms),
    rank,
  };
}
