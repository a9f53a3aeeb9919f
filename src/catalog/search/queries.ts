import { badRequest } from '../../base/errors.ts';
import type { Database } from '../../db/database.ts';
import { offsetOf, type Page, paginationOf } from '../../http/paging.ts';
import { createStigNameIndex } from '../stigs/name-index.ts';
import type { Lookup } from './binder.ts';
import { createFinder, type SearchIn } from './finder.ts';
import type { IndexedRule } from './indexed-rules.ts';
import { mostExported, type SearchAnswer, type SearchResult } from './schema.ts';
import { makeSnippet, type SearchedField } from './snippet.ts';

export interface RuleSearch extends SearchIn, Page {}

/** A search result without its snippet. */
export type FoundRule = Omit<SearchResult, 'snippet'>;

interface FoundRow {
  ruleId: string;
  ruleVersion: string;
  ruleTitle: string;
  ccis: string;
}

type Texts = Record<SearchedField, string>;

export type SearchService = ReturnType<typeof createSearchService>;

/** Full-text search over the rules of current releases. */
export function createSearchService(db: Database, lookup: Lookup, stigNames = createStigNameIndex(db)) {
  const find = createFinder(db, lookup, stigNames);
  const rowOf = db.sqlite.prepare<[number], FoundRow>(
    `SELECT rule_id AS ruleId, rule_version AS ruleVersion, rule_title AS ruleTitle, ccis FROM findings WHERE id = ?`,
  );
  const textsOf = db.sqlite.prepare<[number], Texts>(
    'SELECT title, discussion, check_content AS "check", fix_text AS fix, ids FROM searchable_rules WHERE id = ?',
  );

  function foundRule({ id, stig, groupId, severity }: IndexedRule, rank: number): FoundRule {
    const { ccis, ...ids } = rowOf.get(id)!;
    const { slug, title: stigTitle, version } = stig;
    return { slug, stigTitle, version, groupId, ...ids, severity, ruleIdents: JSON.parse(ccis), rank };
  }

  return {
    /** A page of what a question finds, in the order of rules S4.2 and D35.1. A question without a word finds nothing. */
    search(search: RuleSearch): Omit<SearchAnswer, 'stigs' | 'answers'> {
      return db.read(() => {
        const { query, rules, total, exact, wider, counts } = find(search, search);
        const offset = offsetOf(search, total);
        const all = query.wants.map(({ patterns }) => patterns);
        const any = wider.wanted.map(({ patterns, instead }) => [...patterns, ...instead]);
        return {
          results: rules.map((rule, index) => {
            const rank = offset + index + 1;
            const { rank: _, ...found } = foundRule(rule, rank);
            return { ...found, snippet: makeSnippet(textsOf.get(rule.id)!, rank <= exact ? all : any), rank };
          }),
          relaxed: wider.rules.length > 0,
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
    exported(search: SearchIn): FoundRule[] {
      return db.read(() => {
        const { rules, total, exact } = find(search, { page: 1, limit: mostExported });
        if (total > mostExported)
          throw badRequest(
            `${total.toLocaleString('en-US')} rules were found. An export holds ${mostExported.toLocaleString('en-US')}: add filters`,
          );
        const exported = exact === 0 ? rules : rules.slice(0, exact);
        return exported.map((rule, index) => foundRule(rule, index + 1));
      });
    },
  };
}
