import { badRequest } from '../../base/errors.ts';
import type { FoundId } from '../controls/id-grammar.ts';
import type { SearchQuery } from './query.ts';

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

/** The parameters of the statements of `sql.ts`. */
export type Bound = Record<string, unknown>;

/** What the search has to know of the crosswalk. */
export interface Lookup {
  /** The CCIs that lead to a control. */
  ccisOf(control: string): string[];
  /** The identifier that a filter names. Throws 400 and 404 (rule D35.3). */
  filtered(field: 'cci' | 'control', text: string): string;
  /** The CCIs through which a control or CCI has rules; null where it is in no source (rule D35.2). */
  reached(id: FoundId): string[] | null;
}

/** A question as its statements take it. */
export interface Asked {
  bound: Bound;
  /** The same without the filters that do not count for the second reading (rule D35.1). */
  inScope: Bound;
  /** Whether there are such filters. */
  isNarrowed: boolean;
  isFiltered: boolean;
  /** The STIGs that `stig` and `among` leave; null for all. */
  slugs: string[] | null;
}

/** Prepares the reading of questions. `slugsOf` throws 404 for a STIG that is not there. */
export function createBinder({ ccisOf, filtered, reached }: Lookup, slugsOf: (names: string[]) => string[]) {
  const given = <T>(value: T | undefined, of: (value: T) => string): string | null =>
    value === undefined ? null : of(value);

  /** Gives null for a question that finds nothing. Throws a 400 for exclusions that stand alone. */
  return (
    query: SearchQuery,
    { q = '', severity, stig, among, cci, control }: SearchQuestion,
  ): Asked | null => {
    const asked = stig && slugsOf(stig);
    const narrow = {
      severities: given(severity, (levels) => JSON.stringify([...levels])),
      cci: given(cci, (text) => filtered('cci', text)),
      ccis: given(control, (text) => JSON.stringify(ccisOf(filtered('control', text)))),
    };
    const scope = {
      slugs: given(asked, (slugs) => JSON.stringify(slugs)),
      among: given(among, (slugs) => JSON.stringify(slugs)),
    };
    const ccis = query.control === null ? null : reached(query.control);
    const match = ccis === null ? query.match : null;
    const excludes = query.excluded !== null || query.excludedLiterals.length > 0;
    if (match === null && ccis === null && q !== '' && !excludes) return null;
    const isNarrowed = Object.values(narrow).some((each) => each !== null);
    const hasFilter = isNarrowed || Object.values(scope).some((each) => each !== null);
    if (match === null && ccis === null && !hasFilter && excludes)
      throw badRequest('q must have a word to find beside those that it excludes, or a filter', 'q');
    const [ids, unrevised] = [JSON.stringify(query.ids), JSON.stringify(query.unrevised)];
    const { excluded } = query;
    const question = { match, excluded, ids, unrevised, reached: ccis && JSON.stringify(ccis) };
    return {
      bound: { ...question, ...scope, ...narrow },
      inScope: { ...question, ...scope, severities: null, cci: null, ccis: null },
      isNarrowed,
      isFiltered: hasFilter || excludes,
      slugs: asked?.filter((slug) => among?.includes(slug) ?? true) ?? among ?? null,
    };
  };
}
