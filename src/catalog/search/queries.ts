import { badRequest } from '../../base/errors.ts';
import type { Database } from '../../db/database.ts';
import { offsetOf, type Page, paginationOf } from '../../http/paging.ts';
import type { FindOwnControl } from '../controls/find-control.ts';
import { createStigNameIndex } from '../stigs/name-index.ts';
import { findPlaces, foldInPlace, type Pattern } from './pattern.ts';
import { allOf, anyOf, matchOf, readSearchQuery, type SearchQuery } from './query.ts';
import { createRelaxedSearch, enough, nothingRelaxed } from './relaxed.ts';
import { createRuleQueries, type MatchedRule, type RuleFilter } from './rule-queries.ts';
import {
  type ListedSearch,
  mostExported,
  type SearchAnswer,
  type SearchCounts,
  type SearchOrder,
  type SearchResult,
} from './schema.ts';
import { makeSnippet } from './snippet.ts';

/** A question, filters, or both, and the order of the answer; `among`: only rules of these STIGs, the slugs of a list. */
type RuleQuestion = Omit<ListedSearch, 'list' | keyof Page> & { among?: string[] | undefined };
export type RuleSearch = RuleQuestion & Page;

/** What the search has to know of the crosswalk. */
interface Lookup {
  /** The CCIs that lead to a control. */
  ccisOf(control: string): string[];
  /** The identifier that a filter names. Throws 400 and 404 (rule D35.3). */
  filtered(field: 'cci' | 'control', text: string): string;
  /** The CCIs through which a control or CCI has rules; null where it is in no source (rule D35.2). */
  reached(id: { framework: string | null; id: string }): string[] | null;
  ownControl: FindOwnControl;
}

/** A search result without its snippet. */
export type FoundRule = Omit<SearchResult, 'snippet'>;

const isAscii = /^\p{ASCII}*$/u;

export type SearchService = ReturnType<typeof createSearchService>;

/** Full-text search over the rules of current releases. */
export function createSearchService(db: Database, lookup: Lookup, stigNames = createStigNameIndex(db)) {
  const queries = createRuleQueries(db);
  const relax = createRelaxedSearch(db, queries, stigNames);
  const rowOf = db.sqlite.prepare<[number], Omit<FoundRule, 'ruleIdents' | 'rank'> & { ccis: string }>(
    `SELECT s.slug, s.title AS stigTitle, r.version, f.group_id AS groupId, f.rule_id AS ruleId,
            f.rule_version AS ruleVersion, f.rule_title AS ruleTitle, f.severity, f.ccis
       FROM findings AS f JOIN stigs AS s ON s.current_release_id = f.release_id
       JOIN stig_releases AS r ON r.id = s.current_release_id WHERE f.id = ?`,
  );
  const countedStigs = db.sqlite.prepare<[string], SearchCounts['stigs'][number]>(
    `SELECT s.slug, s.title, count(*) AS rules FROM json_each(?) AS rule JOIN stigs AS s ON s.slug = rule.value
      GROUP BY s.id ORDER BY s.title_fold, s.title, s.slug`,
  );

  /**
   * The test whether the texts of a rule have one phrase of each group, and none that a question excludes: phrases with
   * punctuation, which the index does not have. True where the question quotes none.
   */
  function literalsIn(
    { literals, excludedLiterals }: SearchQuery,
    groups: Pattern[][] = literals.map((each) => [each]),
  ) {
    return ({ id }: MatchedRule): boolean => {
      if (literals.length + excludedLiterals.length === 0) return true;
      // The ids come first: they are short, and mostly have what is asked.
      const { ids, ...others } = queries.texts(id);
      const texts = [ids, ...Object.values(others)].map(foldInPlace);
      const hasAny = (phrases: Pattern[]) =>
        phrases.some((phrase) => texts.some((text) => findPlaces(text, phrase, 1).length > 0));
      return groups.every(hasAny) && !hasAny(excludedLiterals);
    };
  }

  /** Looks up what the filters of a question name. Throws 400 and 404 (rule D35.3). */
  function filterOf(
    { excluded }: SearchQuery,
    { severity, stig, among, cci, control }: RuleQuestion,
  ): RuleFilter {
    const asked = stig && stigNames.filtered(stig);
    return {
      severity: severity === undefined ? null : [...severity],
      stigs: asked?.filter((slug) => among?.includes(slug) ?? true) ?? among ?? null,
      cci: cci === undefined ? null : [lookup.filtered('cci', cci)],
      control: control === undefined ? null : lookup.ccisOf(lookup.filtered('control', control)),
      question: null,
      excluded:
        excluded.length === 0 ? null : anyOf(excluded.flatMap(({ patterns }) => patterns.map(matchOf))),
    };
  }

  /** The CCIs through which the control or CCI that is the whole question has rules; null for another question. */
  function ccisOf({ control, includedText }: SearchQuery): string[] | null {
    const published = control === null ? null : lookup.reached(control);
    const own = published === null ? lookup.ownControl(includedText) : null;
    return own === null ? published : lookup.reached(own);
  }

  /** The rules with all words of a question, the best first. */
  function matching(query: SearchQuery, filter: RuleFilter, sort: SearchOrder): MatchedRule[] {
    // FTS5 leaves out a word of letters that it does not know: it asks for the others alone.
    const isUnknown = (match: string) => !isAscii.test(match) && !queries.isInIndex(match);
    if (query.includedTerms.some((term) => isUnknown(allOf([term])))) return [];
    const rules = queries.rules('match', allOf(query.includedTerms), filter, sort).filter(literalsIn(query));
    if (sort !== 'relevance' || query.ids.length === 0) return rules;
    // Behind the rules that have the id that is asked for come those that have it in another revision, then others.
    const [named, other] = [query.ids, query.unrevised].map((ids) => queries.named(ids, rules));
    const place = ({ id }: MatchedRule) => (named!.has(id) ? 0 : 2) + (other!.has(id) ? 0 : 1);
    return rules.sort((a, b) => place(a) - place(b));
  }

  /** Throws a 400 for exclusions that stand alone, and as `filterOf`. */
  function find(search: RuleQuestion) {
    const { q = '', stig, sort = 'relevance' } = search;
    const query = readSearchQuery(q);
    const filter = filterOf(query, search);
    const ccis = ccisOf(query);
    /** Those with all words come first, then in the order of rules S4.2 and D35.1. */
    const found = (rules: MatchedRule[], relaxed = nothingRelaxed) => ({
      query,
      rules: [...rules, ...relaxed.rules],
      exact: rules.length,
      relaxed,
    });
    if (ccis !== null || query.includedTerms.length === 0) {
      const { excluded, ...narrowing } = filter;
      const excludes = excluded !== null || query.excludedLiterals.length > 0;
      if (ccis === null && q !== '' && !excludes) return found([]);
      if (ccis === null && excludes && Object.values(narrowing).every((each) => each === null))
        throw badRequest('q must have a word to find beside those that it excludes, or a filter', 'q');
      const rules = queries.rules(
        'all',
        null,
        { ...filter, question: ccis },
        sort === 'relevance' ? 'stig' : sort,
      );
      return found(rules.filter(literalsIn(query)));
    }

    const exact = matching(query, filter, sort);
    if (exact.length >= enough || queries.isId(query.includedText)) return found(exact);
    const { severity, cci, control } = filter;
    const isNarrow = severity !== null || cci !== null || control !== null;
    const first = isNarrow
      ? matching(query, { ...filter, severity: null, cci: null, control: null }, sort)
      : exact;
    if (first.length >= enough) return found(exact);
    const relaxed = relax(query, filter, first, stig === undefined, (phrases) =>
      literalsIn(query, query.literals.length === 0 ? [] : [phrases]),
    );
    if (sort === 'relevance') return found(exact, relaxed);
    const ids = JSON.stringify(relaxed.rules.map(({ id }) => id));
    return found(exact, { ...relaxed, rules: queries.rules('ids', ids, filter, sort) });
  }

  /** How many of some rules there are by severity and by STIG (rule D35.1). */
  function countsOf(rules: MatchedRule[]): SearchCounts {
    const severity = { high: 0, medium: 0, low: 0 };
    for (const rule of rules) severity[rule.severity]++;
    return { severity, stigs: countedStigs.all(JSON.stringify(rules.map(({ slug }) => slug))) };
  }

  function foundRule({ id }: MatchedRule, rank: number): FoundRule {
    const { ccis, ...rule } = rowOf.get(id)!;
    return { ...rule, ruleIdents: JSON.parse(ccis), rank };
  }

  return {
    /** A page of what a question finds, in the order of rules S4.2 and D35.1. A question without a word finds nothing. */
    search(search: RuleSearch): Omit<SearchAnswer, 'stigs' | 'answers'> {
      return db.read(() => {
        const { query, rules, exact, relaxed } = find(search);
        const total = rules.length;
        const offset = offsetOf(search, total);
        const all = query.includedTerms.map(({ patterns }) => patterns);
        const any = relaxed.terms.map(({ patterns, synonyms }) => [...patterns, ...synonyms]);
        return {
          results: rules.slice(offset, offset + search.limit).map((rule, index) => {
            const { rank, ...found } = foundRule(rule, offset + index + 1);
            return {
              ...found,
              snippet: makeSnippet(queries.texts(rule.id), rank <= exact ? all : any),
              rank,
            };
          }),
          relaxed: total > exact,
          exact,
          dropped: relaxed.dropped,
          narrowedTo: relaxed.narrowedTo,
          suggestions: relaxed.suggestions,
          counts: countsOf(rules),
          pagination: paginationOf(search, total),
        };
      });
    },

    /**
     * The rules that have all words, in their order; where there is none, those of the relaxed search. Throws a 400 where
     * an export cannot hold them.
     */
    exported(search: RuleQuestion): FoundRule[] {
      return db.read(() => {
        const { rules, exact } = find(search);
        if (rules.length > mostExported)
          throw badRequest(
            `${rules.length.toLocaleString('en-US')} rules were found. An export holds ${mostExported.toLocaleString('en-US')}: add filters`,
          );
        const exported = exact === 0 ? rules : rules.slice(0, exact);
        return exported.map((rule, index) => foundRule(rule, index + 1));
      });
    },
  };
}
