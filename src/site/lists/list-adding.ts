import { badRequest } from '../../base/errors.ts';
import { inSlices } from '../../base/slices.ts';
import { cut, strip } from '../../base/text.ts';
import { formOf, type StigByName, splitAtReleases } from '../../catalog/stigs/name-index.ts';
import { mostAtOnce } from '../../collections/schema.ts';
import { items } from '../parts/typed-text.ts';
import { pastedLine, pinnedName, type Unclear } from './list-page.tsx';

/** A STIG of a pasted text, with the release that it names, the notes of all its lines, and the numbers of the lines that had any. */
interface Named {
  slug: string;
  title: string;
  release: string | null;
  notes: string[];
  lines: number[];
}

/** What a text names: STIGs, names that are unclear, and lines that name a STIG of another line with another release. */
export interface Pasted {
  named: Named[];
  unclear: Unclear[];
  otherwise: Named[];
  /** The first line, where it has the titles of columns and not the name of a STIG. */
  header: string | null;
}

type StigTitle = Pick<StigByName, 'slug' | 'title'>;
type Called = Pick<StigByName, 'slug' | 'title' | 'release'>;

export interface Lookup {
  called(name: string): Called[];
  like(name: string): StigTitle[];
  /** The versions of a STIG of the catalog, the newest first. */
  versions(slug: string): string[];
}

/** Longer names are not looked up: no slug, title or benchmark id is longer. Longer lines are read between commas. */
const longestName = 500;

/** Names that match no STIG and get suggestions: each compares every STIG of the catalog. */
const mostGuessed = 300;

/** Releases of a STIG that are offered where a line names one that the catalog lacks. */
const mostOffered = 8;

/**
 * Reads a pasted column of titles, slugs, benchmark ids or names of files, one in each line, which may end in a release
 * (rule D36.3). Words after that release are notes. So is text after a tab, the next columns of a sheet, but where it is
 * a release and nothing else. A first line of titles of columns is left out. Notes of several lines for one STIG are joined in order. A line may also contain several
 * names between commas, or between blanks. Yields to the event loop. Throws a 400 for more names than one request may add
 * (rule D2.6).
 */
export async function readPasted(text: string, lookup: Lookup): Promise<Pasted> {
  const pasted: Pasted = { named: [], unclear: [], otherwise: [], header: headerOf(text, lookup) };
  const rest = pasted.header === null ? text : text.replace(pasted.header, '');
  await inSlices(reading(rest, lookup, pasted), () => undefined);
  return pasted;
}

/** A name in a line, and the words that follow its release. */
interface NameInLine {
  name: string;
  after: string;
}

function* reading(text: string, lookup: Lookup, { named, unclear, otherwise }: Pasted): Generator<void> {
  refuseTooMany(items(text, '\n').length);
  const bySlug = new Map<string, Named>();
  let names = 0;
  const known = new Map<string, Called[]>();
  function* called(name: string): Generator<void, Called[]> {
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

  function* areCalled(names: string[], how: 'some' | 'every'): Generator<void, boolean> {
    for (const name of names)
      if (((yield* called(name)).length === 1) === (how === 'some')) return how === 'some';
    return how === 'every';
  }

  /** A text as one name; or its parts, where one between commas, or each between blanks, is the name of a STIG. */
  function* partsOf(text: string): Generator<void, string[]> {
    if ((yield* called(text)).length > 0) return [text];
    for (const [separator, how] of separators) {
      const parts = items(text, separator);
      refuseTooMany(parts.length);
      if (parts.length > 1 && (yield* areCalled(parts, how))) return parts;
    }
    return [text];
  }

  function* namesIn(cell: string): Generator<void, NameInLine[]> {
    if (cell.length > longestName) {
      const parts = items(cell, separators[0][0]);
      refuseTooMany(parts.length);
      const names: NameInLine[] = [];
      for (const part of parts)
        names.push(...(part.length > longestName ? [{ name: part, after: '' }] : yield* namesIn(part)));
      return names;
    }
    const [head = '', ...rest] = splitAtReleases(cell);
    refuseTooMany(rest.length);
    const parts = yield* partsOf(head);
    if (rest.length > 0 && !(yield* areCalled(parts, 'some'))) return [{ name: cell, after: '' }];
    const found = parts.map((name) => ({ name, after: '' }));
    for (const each of rest) {
      const words = strip(each, /[\s,;:."'–—-]/, /[\s,;"']/);
      if ((yield* called(words)).length === 1) found.push({ name: words, after: '' });
      else found.at(-1)!.after = joined([found.at(-1)!.after, words]);
    }
    return found;
  }

  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [first = '', ...cells] = line
      .replace(bullet, '')
      .split('\t')
      .map((cell) => unquoted(cell.trim()));
    const written = cells.filter((cell) => cell !== '');
    const beside = releaseBeside(written);
    for (const { name, after } of yield* namesIn(first)) {
      const found = yield* called(name);
      names++;
      const notes = joined([after, ...written.slice(beside?.cells ?? 0)]);
      const said = beside === null ? name : `${name} ${beside.release}`;
      const [stig] = found;
      const release = beside?.release ?? (stig ?? formOf(name)).release;
      if (found.length !== 1 || stig === undefined) {
        const isGuessed = found.length > 0 || name.length > longestName || unclear.length >= mostGuessed;
        const guessed = isGuessed ? found : guess(name);
        unclear.push({ name: said, notes, candidates: withReleases(guessed, release) });
        yield;
      } else if (beside !== null && stig.release !== null && stig.release !== release) {
        const releases = [stig.release, release].filter((each) => !isLacking(stig, each));
        unclear.push({ name: said, notes, candidates: releases.map((each) => ({ ...stig, release: each })) });
      } else if (isLacking(stig, release))
        unclear.push({ name: said, notes, candidates: withReleases([stig], release) });
      else take(stig, release, notes, index + 1);
    }
    refuseTooMany(names);
  }

  /** The STIGs that a name may mean; of `RHEL 9 2.7` the one with that release. */
  function guess(name: string): (StigTitle & { release?: string | null })[] {
    const [, stig, version, release] = /^(.*\S)[\s,]+v?(\d+)[.\s-](\d+)$/i.exec(name) ?? [];
    const found = stig === undefined ? [] : lookup.called(`${stig} V${version}R${release}`);
    return found.length > 0 ? found : lookup.like(name);
  }

  /** The STIGs with a release that was named; the newest, and of a single one all others, where it has none such. */
  function withReleases(stigs: (StigTitle & { release?: string | null })[], asked: string | null): Called[] {
    return stigs.flatMap((stig) => {
      const release = asked ?? stig.release ?? null;
      if (!isLacking(stig, release)) return [{ ...stig, release }];
      const others = stigs.length > 1 ? [] : lookup.versions(stig.slug).slice(0, mostOffered);
      return [null, ...others].map((each) => ({ ...stig, release: each }));
    });
  }

  function isLacking({ slug }: StigTitle, release: string | null): boolean {
    return release !== null && !lookup.versions(slug).includes(release);
  }

  function take({ slug, title }: StigTitle, release: string | null, notes: string, line: number): void {
    const stig = bySlug.get(slug) ?? { slug, title, release, notes: [], lines: [] };
    if (!bySlug.has(slug)) named.push(stig);
    bySlug.set(slug, stig);
    if (release !== null && stig.release !== null && release !== stig.release) {
      otherwise.push({ slug, title, release, notes: notes === '' ? [] : [notes], lines: [line] });
      return;
    }
    stig.release ??= release;
    const says = notes !== '' || release !== null;
    if (says && !stig.lines.includes(line)) stig.lines.push(line);
    if (notes !== '' && !stig.notes.includes(notes)) stig.notes.push(notes);
  }
}

/** Titles that sheets give the columns of names, releases and notes. */
const columnTitles =
  /^(?:#|no\.?|(?:stig|srg|benchmark)s?(?: (?:title|name|id))?|titles?|names?|slugs?|releases?|versions?|notes?|comments?|remarks?)$/i;

function headerOf(text: string, { called }: Lookup): string | null {
  const [line = ''] = text.trimStart().split('\n', 1);
  if (line.length > longestName) return null;
  const cells = line.split('\t').map((cell) => unquoted(cell.trim()));
  return cells.every((cell) => columnTitles.test(cell)) && called(cells[0]!).length === 0 ? line : null;
}

const separators = [
  [/[,;]+/, 'some'],
  [/[\s,;]+/, 'every'],
] as const;

/** What stands before a name in a list or a sheet: a box to tick, a number. */
const bullet = /^[^\p{L}\p{N}"]*(?:\[\w?\]\s*|\d{1,4}(?:[.)]\s+|\t))+/u;

const joined = (texts: string[]) => texts.filter((each) => each !== '').join(' ');

/** The release that the first cell is, or the first two together, and nothing else; and how many cells. */
function releaseBeside(written: string[]): { release: string; cells: number } | null {
  for (const cells of [2, 1]) {
    const text = `x ${written.slice(0, cells).join(' ')}`;
    if (text.length > longestName) continue;
    const { form, release } = formOf(text);
    if (form === 'x' && release !== null && splitAtReleases(text).length === 1) return { release, cells };
  }
  return null;
}

function refuseTooMany(names: number): void {
  if (names > mostAtOnce)
    throw badRequest(`Paste at most ${mostAtOnce.toLocaleString('en-US')} names at once`);
}

/** Removes the quotation marks that a spreadsheet puts around a cell. */
function unquoted(cell: string): string {
  return /^".*"$/.test(cell) ? cell.slice(1, -1).replaceAll('""', '"').trim() : cell;
}

/** How pasted STIGs meet those that a list has. What it has is not written over: it stays in the form. */
export interface Meeting {
  unclear: Unclear[];
  /** Their notes came from several lines. */
  joined: Named[];
  /** The list has them with other notes. */
  there: Named[];
  /** The list, or a line before, has them with another release. */
  otherwise: Named[];
  header: string | null;
}

/** Compares pasted STIGs with those of a list by slug; `notesOf` has their notes as they are written. */
export function meet(
  { named, unclear, otherwise, header }: Pasted,
  notesOf: Map<string, string>,
  before: Map<string, { notes: string; release: string | null }>,
): Meeting {
  const has = named.filter(({ slug }) => before.has(slug));
  const isOther = ({ slug, release }: Named) => release !== null && before.get(slug)?.release !== release;
  return {
    unclear,
    header,
    joined: named.filter(({ slug, notes }) => notes.length > 1 && !before.has(slug)),
    there: has.filter(
      (each) =>
        !isOther(each) && each.notes.length > 0 && before.get(each.slug)?.notes !== notesOf.get(each.slug),
    ),
    otherwise: [...has.filter(isOther), ...otherwise],
  };
}

/** What stays in the form of a pasted text: the names that no STIG has, and the notes and releases that were not taken. */
export function textLeft({ unclear, there, otherwise }: Meeting): string {
  const lineOf = ({ slug, release, notes }: Named) =>
    (notes.length === 0 ? [''] : notes).map((each) => pastedLine(pinnedName(slug, release), each));
  return [
    ...unclear
      .filter(({ candidates }) => candidates.length === 0)
      .map(({ name, notes }) => pastedLine(name, notes)),
    ...[...there, ...otherwise].flatMap(lineOf),
  ].join('\n');
}

/**
 * Says how many STIGs were added, which names were not, and why, and what was not taken. Null where there is nothing more
 * to say than the number.
 */
export function describePasted({ unclear, joined, there, otherwise, header }: Meeting, added: number) {
  if (header === null && unclear.length + joined.length + there.length + otherwise.length === 0) return null;
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
    ...(header === null ? [] : [`Left out as titles of columns: ${items(header, '\t').join(', ')}.`]),
    ...(several.length === 0 ? [] : [`${several.length} ${need} your confirmation: ${named(several)}.`]),
    ...(missing.length === 0 ? [] : [`${missing.length} not in the catalog: ${named(missing)}.`]),
    ...(joined.length === 0 ? [] : [`The notes of several lines were joined: ${titles(joined)}.`]),
    ...(there.length === 0 ? [] : [`Already in the list with other notes, which stay: ${titles(there)}.`]),
    ...(otherwise.length === 0
      ? []
      : [`Already in the list with another release, which stays: ${titles(otherwise)}.`]),
  ].join(' ');
}
