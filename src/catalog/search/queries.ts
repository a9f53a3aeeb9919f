import { badRequest } from '../../base/errors.ts';
import { yieldToEventLoop } from '../../base/slices.ts';
import type { Database } from '../../db/database.ts';
import { inOneGeneration } from '../../db/one-generation.ts';
import { offsetOf, type Page, paginationOf } from '../../http/paging.ts';
import { createStigNameIndex } from '../stigs/name-index.ts';
import type { Lookup } from './binder.ts';
import { createFinder, type SearchIn } from './finder.ts';
import type { Pattern } from './pattern.ts';
import { mostExported, type SearchAnswer, type SearchResult } from './schema.ts';
import { makeSnippet } from './snippet.ts';

export interface RuleSearch extends SearchIn, Page {}

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

export type SearchService = ReturnType<typeof createSearchService>;

/** Full-text search over the rules of current releases. */
export function createSearchService(db: Database, lookup: Lookup, stigNames = createStigNameIndex(db)) {
  const find = createFinder(db, lookup, stigNames);
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
    /** A page of what a question finds, in the order of rules S4.2 and D35.1. A question without a word finds nothing. */
    search(search: RuleSearch): Omit<SearchAnswer, 'stigs' | 'answers'> {
      return db.read(() => {
        const { query, ids, total, exact, wider, counts } = find(search, search);
        const offset = offsetOf(search, total);
        const all = query.wants.map(({ patterns }) => patterns);
        const any = wider.wanted.map(({ patterns, instead }) => [...patterns, ...instead]);
        return {
          results: ids.map((id, index) => {
            const rank = offset + index + 1;
            return toResult(rowOf.get(id)!, rank <= exact ? all : any, rank);
          }),
          relaxed: wider.ids.length > 0,
          exact,
          dropped: wider.dropped,
          narrowedTo: wider.narrowedTo,
          suggestions: wider.suggestions,
          counts,
          pagination: paginationOf(search, total),
        };
      });
    },

    /**
     * The rules that have all words, in their order; where there is none, those of the second reading. Throws a 400 where
     * an export cannot hold them.
     */
    exported(search: SearchIn): Promise<FoundRule[]> {
      return inOneGeneration(db, async () => {
        const { ids, total, exact } = db.read(() => find(search, { page: 1, limit: mostExported }));
        if (total > mostExported)
          throw badRequest(
            `${total.toLocaleString('en-US')} rules were found. An export holds ${mostExported.toLocaleString('en-US')}: add filters`,
          );
        const kept = exact === 0 ? ids : ids.slice(0, exact);
        const rows: FoundRule[] = [];
        while (rows.length < kept.length) {
          const from = rows.length;
          const part = kept.slice(from, from + rowsPerTurn);
          rows.push(...db.read(() => part.map((id, index) => toFound(foundOf.get(id)!, from + index + 1))));
          await yieldToEventLoop();
        }
        return rows;
      });
    },
  };
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
