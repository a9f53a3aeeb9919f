import { matchOf, readSearchQuery } from '../../src/catalog/search/query.ts';

/** What FTS5 would be asked for a question: all its terms, of each one of its alternatives. Null for no word. */
export function ftsMatch(question: string): string | null {
  const terms = readSearchQuery(question).wants.map(({ patterns }) => patterns.map(matchOf));
  const told = terms.map((each) => (each.length > 1 ? `(${each.join(' OR ')})` : each[0]));
  return told.length === 0 ? null : told.join(' AND ');
}
