import { findPlaces, foldInPlace, type Pattern, type Range } from './pattern.ts';
import { type SearchedField, type Snippet, searchedFields } from './schema.ts';

interface TermPlace extends Range {
  term: number;
}

const length = 240;
const lead = 60;
const maxPlaces = 50;

/** The stretch of a rule's texts that shows the most terms, the first of equals, with `…` where it is cut. */
export function makeSnippet(texts: Record<SearchedField, string>, terms: Pattern[][]): Snippet {
  let best: { field: SearchedField; places: TermPlace[]; terms: number } = {
    field: 'discussion',
    places: [],
    terms: 0,
  };
  for (const field of searchedFields) {
    const folded = foldInPlace(texts[field]);
    const places = terms.flatMap((patterns, term) =>
      patterns
        .flatMap((pattern) => findPlaces(folded, pattern, maxPlaces))
        .map((range) => ({ ...range, term })),
    );
    const found = new Set(places.map(({ term }) => term)).size;
    if (found > best.terms) best = { field, places, terms: found };
    if (best.terms === terms.length) break;
  }
  const { field, places } = best;
  return cutOut(
    field,
    texts[field],
    places.sort((a, b) => a.start - b.start || b.end - a.end),
  );
}

function cutOut(field: SearchedField, text: string, places: TermPlace[]): Snippet {
  const first = densest(places);
  let from = Math.max(0, (first?.start ?? 0) - lead);
  let to = Math.min(text.length, from + length);
  if (to === text.length) from = Math.max(0, Math.min(from, to - length));
  if (first && first.end > to) to = Math.min(first.end, from + 2 * length);
  // From the start of the next word, to the end of the last one; never within a surrogate pair.
  if (from > 0) from += text.slice(from, first?.start).search(/\s\S/) + 1;
  if (isTrail(text, from)) from++;
  if (to < text.length) {
    const least = Math.min(first?.end ?? 0, to);
    let end = to;
    while (end > least && !/\S\s/.test(text.slice(end - 1, end + 1))) end--;
    if (end > least) to = end;
    if (isTrail(text, to)) to--;
  }
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
function densest(places: TermPlace[]): TermPlace | undefined {
  let best = places[0];
  let most = 0;
  for (const [index, place] of places.entries()) {
    const shown = new Set<number>();
    for (const { end, term } of places.slice(index)) {
      if (end > place.start + length - lead) break;
      shown.add(term);
    }
    if (shown.size > most) [best, most] = [place, shown.size];
  }
  return best;
}

function isTrail(text: string, index: number): boolean {
  return /[\udc00-\udfff]/.test(text[index] ?? '');
}
