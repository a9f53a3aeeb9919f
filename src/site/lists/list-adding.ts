import { badRequest } from '../../base/errors.ts';
import { inSlices } from '../../base/slices.ts';
import { cut } from '../../base/text.ts';
import type { StigByName } from '../../catalog/stigs/name-index.ts';
import { mostAtOnce } from '../../collections/schema.ts';
import { items } from '../parts/typed-text.ts';
import { pastedLine, type Unclear } from './list-page.tsx';

/** A STIG of a pasted text, with the notes of all its lines, and the numbers of the lines that had any. */
interface Named {
  slug: string;
  title: string;
  notes: string[];
  lines: number[];
}

export interface Pasted {
  named: Named[];
  unclear: Unclear[];
}

type StigTitle = Pick<StigByName, 'slug' | 'title'>;

export interface Lookup {
  called(name: string): StigTitle[];
  like(name: string): StigTitle[];
}

/** Longer names are not looked up: no slug, title or benchmark id is longer. */
const longestName = 1000;

/** Names that match no STIG and get suggestions: each compares every STIG of the catalog. */
const mostGuessed = 50;

/**
 * Reads a pasted column of titles, slugs or benchmark ids, one in each line. Text after a tab, the next column of a
 * sheet, becomes the notes; of several lines for one STIG they are joined in order. A line may also contain several
 * names between commas, or slugs between blanks. Yields to the event loop. Throws a 400 for more names than one request
 * may add (rule D2.6).
 */
export async function readPasted(text: string, lookup: Lookup): Promise<Pasted> {
  const pasted: Pasted = { named: [], unclear: [] };
  await inSlices(reading(text, lookup, pasted), () => undefined);
  return pasted;
}

function* reading(text: string, lookup: Lookup, { named, unclear }: Pasted): Generator<void> {
  refuseTooMany(items(text, '\n').length);
  const bySlug = new Map<string, Named>();
  let names = 0;
  const known = new Map<string, StigTitle[]>();
  function* called(name: string): Generator<void, StigTitle[]> {
    let found = known.get(name);
    if (found === undefined) {
      found = name.length > longestName ? [] : lookup.called(name);
      known.set(name, found);
      // `known` contains up to three texts for a line: whole, and in parts at commas and at blanks.
      refuseTooMany(known.size / 3);
      yield;
    }
    return found;
  }

  /** The cell as one name; or its parts, if it matches no STIG and one of its parts does. */
  function* namesIn(cell: string): Generator<void, string[]> {
    if ((yield* called(cell)).length > 0) return [cell];
    for (const separator of [/[,;]+/, /[\s,;]+/]) {
      const names = items(cell, separator);
      refuseTooMany(names.length);
      if (names.length < 2) continue;
      for (const name of names) if ((yield* called(name)).length === 1) return names;
    }
    return [cell];
  }

  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [first = '', ...cells] = line.split('\t').map((cell) => cell.trim());
    const notes = cells
      .map(unquoted)
      .filter((cell) => cell !== '')
      .join(' ');
    for (const name of yield* namesIn(unquoted(first))) {
      const found = yield* called(name);
      names++;
      if (found.length === 1) {
        const { slug, title } = found[0]!;
        const stig = bySlug.get(slug) ?? { slug, title, notes: [], lines: [] };
        if (!bySlug.has(slug)) named.push(stig);
        bySlug.set(slug, stig);
        if (notes !== '' && !stig.lines.includes(index + 1)) stig.lines.push(index + 1);
        if (notes !== '' && !stig.notes.includes(notes)) stig.notes.push(notes);
      } else {
        const guessed = found.length > 0 || name.length > longestName || unclear.length >= mostGuessed;
        unclear.push({ name, notes, candidates: guessed ? found : lookup.like(name) });
        yield;
      }
    }
    refuseTooMany(names);
  }
}

function refuseTooMany(names: number): void {
  if (names > mostAtOnce)
    throw badRequest(`Paste at most ${mostAtOnce.toLocaleString('en-US')} names at once`);
}

/** Removes the quotation marks that a spreadsheet puts around a cell. */
function unquoted(cell: string): string {
  return /^".*"$/.test(cell) ? cell.slice(1, -1).replaceAll('""', '"').trim() : cell;
}

/**
 * Of the pasted STIGs, those whose notes came from several lines, and those that the list has already with other notes;
 * `before` has the notes of all that it has. These are not written over: they stay in the form.
 */
export function meetNotes(named: Named[], notesOf: Map<string, string>, before: Map<string, string>) {
  return {
    joined: named.filter(({ slug, notes }) => notes.length > 1 && !before.has(slug)),
    there: named.filter(
      ({ slug, notes }) => notes.length > 0 && before.has(slug) && before.get(slug) !== notesOf.get(slug),
    ),
  };
}

/** What stays in the form of a pasted text: the names that no STIG has, and the notes that were not taken. */
export function textLeft(unclear: Unclear[], there: Named[]): string {
  return [
    ...unclear.filter(({ candidates }) => candidates.length === 0),
    ...there.flatMap(({ slug, notes }) => notes.map((each) => ({ name: slug, notes: each }))),
  ]
    .map(({ name, notes }) => pastedLine(name, notes))
    .join('\n');
}

/**
 * Says how many STIGs were added, which names were not, and why, of which the notes were `joined`, and which are `there`
 * already with other notes. Null where there is nothing more to say than the number.
 */
export function describePasted(unclear: Unclear[], joined: Named[], there: Named[], added: number) {
  if (unclear.length + joined.length + there.length === 0) return null;
  const firstOf = (texts: string[]) =>
    `${texts.slice(0, 5).join(', ')}${texts.length > 5 ? ` and ${texts.length - 5} more` : ''}`;
  const named = (of: Unclear[]) => firstOf(of.map(({ name }) => cut(name)));
  const titles = (of: Named[]) =>
    firstOf(
      of.map(
        ({ title, lines }) => `${title} (line${lines.length === 1 ? '' : 's'} ${firstOf(lines.map(String))})`,
      ),
    );
  const missing = unclear.filter(({ candidates }) => candidates.length === 0);
  const several = unclear.filter(({ candidates }) => candidates.length > 0);
  const need = several.length === 1 ? 'needs' : 'need';
  return [
    `${added} added.`,
    ...(several.length === 0 ? [] : [`${several.length} ${need} your confirmation: ${named(several)}.`]),
    ...(missing.length === 0 ? [] : [`${missing.length} not in the catalog: ${named(missing)}.`]),
    ...(joined.length === 0 ? [] : [`The notes of several lines were joined: ${titles(joined)}.`]),
    ...(there.length === 0 ? [] : [`Already in the list with other notes, which stay: ${titles(there)}.`]),
  ].join(' ');
}
