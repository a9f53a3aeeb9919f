import { badRequest } from '../base/errors.ts';
import { items, strip } from '../base/text.ts';
import { formOf, type StigByName, type StigNameIndex, splitAtReleases } from '../catalog/stigs/name-index.ts';
import type { StigService } from '../catalog/stigs/queries.ts';
import { mostAtOnce } from './schema.ts';

/** A STIG of a pasted text, with the release that it names, the notes of all its lines, and the numbers of the lines that had any. */
export interface PastedStig {
  slug: string;
  title: string;
  release: string | null;
  notes: string[];
  lines: number[];
}

/** A name that matches no STIG or several, with suggestions. */
export interface Unclear {
  name: string;
  notes: string;
  candidates: Pick<StigByName, 'slug' | 'title' | 'release'>[];
}

/** What a text names: STIGs, names that are unclear, and lines that name a STIG of another line with another release. */
export interface Pasted {
  named: PastedStig[];
  unclear: Unclear[];
  otherwise: PastedStig[];
  /** The first line, where it has the titles of columns and not the name of a STIG. */
  header: string | null;
}

type StigTitle = Pick<StigByName, 'slug' | 'title'>;
type Called = Pick<StigByName, 'slug' | 'title' | 'release'>;

/** How the names of a text are looked up. */
export interface NameLookup {
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

/** A job: what a text names in the catalog. Throws as `readPasted`. */
export const pastedStigs = (
  { stigs, stigNames }: { stigs: StigService; stigNames: StigNameIndex },
  text: string,
): Pasted =>
  readPasted(text, {
    called: stigNames.calledOrFile,
    like: (name) => stigs.list({ called: stigNames.listed(name.slice(0, 200)), page: 1, limit: 8 }).stigs,
    versions: stigs.retained,
  });

/**
 * Reads a pasted column of titles, slugs, benchmark ids or names of files, one in each line, which may end in a release
 * (rule D36.3). Words after that release are notes. So is text after a tab, the next columns of a sheet, but where it is
 * a release and nothing else. A first line of titles of columns is left out. Notes of several lines for one STIG are
 * joined in order. A line may also contain several names between commas, or between blanks. Throws a 400 for more names
 * than one request may add (rule D2.6).
 */
export function readPasted(text: string, lookup: NameLookup): Pasted {
  const header = headerOf(text, lookup);
  const pasted: Pasted = { named: [], unclear: [], otherwise: [], header };
  readLines(header === null ? text : text.replace(header, ''), lookup, pasted);
  return pasted;
}

/** A name in a line, and the words that follow its release. */
interface NameInLine {
  name: string;
  after: string;
}

function readLines(text: string, lookup: NameLookup, { named, unclear, otherwise }: Pasted): void {
  refuseTooMany(items(text, '\n').length);
  const bySlug = new Map<string, PastedStig>();
  let names = 0;
  const known = new Map<string, Called[]>();
  function called(name: string): Called[] {
    let found = known.get(name);
    if (found === undefined) {
      found = name.length > longestName ? [] : lookup.called(name);
      known.set(name, found);
      // `known` contains up to three texts for a line: whole, and in parts at commas and at blanks.
      refuseTooMany(known.size / 3);
    }
    return found;
  }

  const areCalled = (names: string[], how: 'some' | 'every'): boolean =>
    names[how]((name) => called(name).length === 1);

  /** A text as one name; or its parts, where one between commas, or each between blanks, is the name of a STIG. */
  function partsOf(text: string): string[] {
    if (called(text).length > 0) return [text];
    for (const [separator, how] of separators) {
      const parts = items(text, separator);
      refuseTooMany(parts.length);
      if (parts.length > 1 && areCalled(parts, how)) return parts;
    }
    return [text];
  }

  function namesIn(cell: string): NameInLine[] {
    if (cell.length > longestName) {
      const parts = items(cell, separators[0][0]);
      refuseTooMany(parts.length);
      return parts.flatMap((part) => (part.length > longestName ? { name: part, after: '' } : namesIn(part)));
    }
    const [head = '', ...rest] = splitAtReleases(cell);
    refuseTooMany(rest.length);
    const parts = partsOf(head);
    if (rest.length > 0 && !areCalled(parts, 'some')) return [{ name: cell, after: '' }];
    const found = parts.map((name) => ({ name, after: '' }));
    for (const each of rest) {
      const words = strip(each, /[\s,;:."'–—-]/, /[\s,;"']/);
      if (called(words).length === 1) found.push({ name: words, after: '' });
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
    for (const { name, after } of namesIn(first)) {
      const found = called(name);
      names++;
      const notes = joined([after, ...written.slice(beside?.cells ?? 0)]);
      const said = beside === null ? name : `${name} ${beside.release}`;
      const [stig] = found;
      const release = beside?.release ?? (stig ?? formOf(name)).release;
      if (found.length !== 1 || stig === undefined) {
        const isGuessed = found.length > 0 || name.length > longestName || unclear.length >= mostGuessed;
        const guessed = isGuessed ? found : guess(name);
        unclear.push({ name: said, notes, candidates: withReleases(guessed, release) });
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

function headerOf(text: string, { called }: NameLookup): string | null {
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
