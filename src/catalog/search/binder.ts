import { badRequest } from '../../base/errors.ts';
import type { FindOwnControl } from '../controls/find-control.ts';
import type { IndexedRule } from './indexed-rules.ts';
import type { SearchQuery } from './query.ts';
import type { IndexQueries } from './sql.ts';

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

/** What the search has to know of the crosswalk. */
export interface Lookup {
  /** The CCIs that lead to a control. */
  ccisOf(control: string): string[];
  /** The identifier that a filter names. Throws 400 and 404 (rule D35.3). */
  filtered(field: 'cci' | 'control', text: string): string;
  /** The CCIs through which a control or CCI has rules; null where it is in no source (rule D35.2). */
  reached(id: { framework: string | null; id: string }): string[] | null;
  ownControl: FindOwnControl;
}

/** Whether a rule is one of those that are wanted. */
export type Test = (rule: IndexedRule) => boolean;

/** A question with its filters looked up. */
export interface Asked {
  query: SearchQuery;
  /** Whether its words say which rules; else filters or a control alone do. */
  byWords: boolean;
  /** The rules of a control or CCI that is the whole question. */
  reached: Set<number> | null;
  /** What `stig`, `list` and exclusions ask of a rule, and what all filters ask; null for nothing. */
  inScope: Test | null;
  passes: Test | null;
  /** The STIGs that `stig` and `list` leave; null for all. */
  slugs: string[] | null;
}

/** One test of several; null for none. */
export const allTests = (tests: (Test | null)[]): Test | null => {
  const given = tests.filter((test) => test !== null);
  return given.length < 2 ? (given[0] ?? null) : (rule) => given.every((test) => test(rule));
};

/** Prepares the reading of questions. `slugsOf` throws 404 for a STIG that is not there. */
export function createBinder(
  { ccisOf, filtered, reached, ownControl }: Lookup,
  slugsOf: (names: string[]) => string[],
  { citing }: Pick<IndexQueries, 'citing'>,
) {
  const given = <T>(value: T | undefined, of: (value: T) => Test): Test | null =>
    value === undefined ? null : of(value);
  const cites = (ccis: string[]): Test => {
    const rules = citing(ccis);
    return ({ id }) => rules.has(id);
  };
  const isOf = (slugs: string[]): Test => {
    const all = new Set(slugs);
    return ({ stig }) => all.has(stig.slug);
  };

  /** Gives null for a question that finds nothing. Throws a 400 for exclusions that stand alone. */
  return (
    query: SearchQuery,
    { q = '', severity, stig, among, cci, control }: SearchQuestion,
  ): Asked | null => {
    const asked = stig && slugsOf(stig);
    const inScope = allTests([given(asked, isOf), given(among, isOf)]);
    const narrow = allTests([
      given(severity, (levels) => (rule) => levels.has(rule.severity)),
      given(cci, (text) => cites([filtered('cci', text)])),
      given(control, (text) => cites(ccisOf(filtered('control', text)))),
    ]);
    const published = query.control === null ? null : reached(query.control);
    const own = published === null ? ownControl(query.wanted) : null;
    const ccis = own === null ? published : reached(own);
    const byWords = ccis === null && query.wants.length > 0;
    if (!byWords && ccis === null) {
      const excludes = query.excluded.length + query.excludedLiterals.length > 0;
      if (q !== '' && !excludes) return null;
      if (excludes && inScope === null && narrow === null)
        throw badRequest('q must have a word to find beside those that it excludes, or a filter', 'q');
    }
    return {
      ...{ query, byWords, inScope },
      reached: ccis && citing(ccis),
      passes: allTests([inScope, narrow]),
      slugs: asked?.filter((slug) => among?.includes(slug) ?? true) ?? among ?? null,
    };
  };
}
