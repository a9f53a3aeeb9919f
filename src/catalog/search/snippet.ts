import { type FoldedText, findPlaces, foldInPlace, type Pattern, type Range } from './pattern.ts';

/** The searched texts of a rule, by their names in answers, in the order of the search. */
export const searchedFields = ['title', 'discussion', 'check', 'fix', 'ids'] as const;
export type SearchedField = (typeof searchedFields)[number];

/** A part of a text with the matches in it: half-open ranges of UTF-16 code units, in order. */
export interface Snippet {
  field: SearchedField;
  text: string;
  marks: [start: number, end: number][];
}

interface Place extends Range {
  term: number;
}

const length = 240;
const lead = 60;
const maxPlaces = 50;

/** The stretch of a rule's texts that shows the most terms, the first of equals, with `…` where it is cut. */
export function makeSnippet(texts: Record<SearchedField, string>, terms: Pattern[][]): Snippet {
  let best = { field: 'discussion' as SearchedField, folded: foldInPlace(''), terms: 0 };
  for (const field of searchedFields) {
    const folded = foldInPlace(texts[field]);
    const isIn = (pattern: Pattern) => findPlaces(folded, pattern, 1).length > 0;
    const found = terms.filter((patterns) => patterns.some(isIn)).length;
    if (found > best.terms) best = { field, folded, terms: found };
    if (best.terms === terms.length) break;
  }
  return cutOut(best.field, texts[best.field], placesIn(best.folded, terms));
}

function placesIn(folded: FoldedText, terms: Pattern[][]): Place[] {
  const places: Place[] = [];
  for (const [term, patterns] of terms.entries())
    for (const pattern of patterns)
      for (const { start, end } of findPlaces(folded, pattern, maxPlaces)) places.push({ start, end, term });
  return places.sort((a, b) => a.start - b.start || b.end - a.end);
}

function cutOut(field: SearchedField, text: string, places: Place[]): Snippet {
  const first = densest(places);
  let from = Math.max(0, (first?.start ?? 0) - lead);
  let to = Math.min(text.length, from + length);
  if (to === text.length) from = Math.max(0, Math.min(from, to - length));
  if (first && first.end > to) to = Math.min(first.end, from + 2 * length);
  if (from > 0) from = afterBlank(text, from, first?.start ?? text.length);
  if (to < text.length) to = beforeBlank(text, to, Math.min(first?.end ?? 0, to));
  const before = from > 0 ? '…' : '';
  const after = to < text.length ? '…' : '';
  const shift = before.length - from;
  const marks: [number, number][] = [];
  for (const { start, end } of places) {
    if (start < from || end > to) continue;
    const last = marks.at(-1);
    if (last && start + shift <= last[1]) last[1] = Math.max(last[1], end + shift);
    else marks.push([start + shift, end + shift]);
  }
  return { field, text: `${before}${text.slice(from, to)}${after}`, marks };
}

/** The first place from which a snippet shows the most different terms. */
function densest(places: Place[]): Place | undefined {
  let best = places[0];
  let most = 0;
  for (const [index, place] of places.entries()) {
    const rest = places.slice(index);
    const beyond = rest.findIndex(({ end }) => end > place.start + length - lead);
    const shown = beyond < 0 ? rest : rest.slice(0, beyond);
    const { size } = new Set(shown.map(({ term }) => term));
    if (size > most) [best, most] = [place, size];
  }
  return best;
}

/** The start of the next word from a place on, but not beyond a limit; never within a surrogate pair. */
function afterBlank(text: string, from: number, limit: number): number {
  const found = text.slice(from, limit).search(/\s\S/);
  if (found >= 0) return from + found + 1;
  return isTrail(text, from) ? from + 1 : from;
}

/** The end of the last word before a place, but not before a limit; never within a surrogate pair. */
function beforeBlank(text: string, to: number, limit: number): number {
  for (let at = to; at > limit; at--) if (/\s/.test(text[at]!) && /\S/.test(text[at - 1]!)) return at;
  return isTrail(text, to) ? to - 1 : to;
}

function isTrail(text: string, index: number): boolean {
  return /[\udc00-\udfff]/.test(text[index] ?? '');
}
