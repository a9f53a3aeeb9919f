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
interface NameLookup {
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
    like: (name) => stigs.list({ slugs: stigNames.listed(name.slice(0, 200)), page: 1, limit: 8 }).stigs,
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
  const lines = text.split('\n').map((line, index) => ({ line, number: index + 1 }));
  const rows = lines.filter(({ line }) => line.trim() !== '');
  refuseTooMany(rows.length);
  const known = new Map<string, Called[]>();
  const bounded = {
    ...lookup,
    called(name: string): Called[] {
      const found = known.get(name) ?? (name.length > longestName ? [] : lookup.called(name));
      known.set(name, found);
      // Each name is looked up whole, and in parts at commas and at blanks.
      refuseTooMany(known.size / 3);
      return found;
    },
  };
  const header = rows[0] !== undefined && isHeader(rows[0].line, bounded) ? rows[0].line : null;
  const pasted: Pasted = { named: [], unclear: [], otherwise: [], header };
  let names = 0;
  for (const { line, number } of header === null ? rows : rows.slice(1))
    for (const name of namesInLine(line, bounded)) {
      refuseTooMany(++names);
      addName(pasted, name, number, bounded);
    }
  return pasted;
}

/** A name with what its line says of it: a release in the next cells, and notes. */
interface NameInLine {
  name: string;
  beside: string | null;
  notes: string;
}

function namesInLine(line: string, lookup: NameLookup): NameInLine[] {
  const [first = '', ...cells] = cellsOf(line.replace(bullet, ''));
  const written = cells.filter((cell) => cell !== '');
  const { release, cells: used } = releaseBeside(written);
  return namesInCell(first, lookup).map(({ name, after }) => ({
    name,
    beside: release,
    notes: joined([after, ...written.slice(used)]),
  }));
}

/** The names in a cell, each with the words that follow its release. */
function namesInCell(cell: string, lookup: NameLookup): { name: string; after: string }[] {
  if (cell.length > longestName)
    return partsOf(cell, commas).flatMap((part) =>
      part.length > longestName ? { name: part, after: '' } : namesInCell(part, lookup),
    );
  const isCalled = (name: string) => lookup.called(name).length === 1;
  const [head = '', ...rest] = splitAtReleases(cell);
  const names = namesBefore(head, lookup);
  if (rest.length > 0 && !names.some(isCalled)) return [{ name: cell, after: '' }];
  const found = names.map((name) => ({ name, after: '' }));
  for (const each of rest) {
    const words = strip(each, /[\s,;:."'–—-]/, /[\s,;"']/);
    const last = found.at(-1)!;
    if (isCalled(words)) found.push({ name: words, after: '' });
    else last.after = joined([last.after, words]);
  }
  return found;
}

/** A text as one name; or its parts, where one between commas, or each between blanks, is the name of a STIG. */
function namesBefore(text: string, { called }: NameLookup): string[] {
  if (called(text).length > 0) return [text];
  const isCalled = (name: string) => called(name).length === 1;
  const byCommas = partsOf(text, commas);
  if (byCommas.length > 1 && byCommas.some(isCalled)) return byCommas;
  const byBlanks = partsOf(text, blanks);
  return byBlanks.length > 1 && byBlanks.every(isCalled) ? byBlanks : [text];
}

/** Adds a name to what it is: a STIG, or unclear. */
function addName(
  { named, unclear, otherwise }: Pasted,
  { name, beside, notes }: NameInLine,
  line: number,
  lookup: NameLookup,
): void {
  const isRetained = (stig: StigTitle, release: string | null) =>
    release === null || lookup.versions(stig.slug).includes(release);
  const found = lookup.called(name);
  const [stig] = found;
  const release = beside ?? (stig ?? formOf(name)).release;
  const ask = (candidates: Called[]) =>
    unclear.push({ name: beside === null ? name : `${name} ${beside}`, notes, candidates });

  if (found.length !== 1 || stig === undefined) {
    const isGuessed = found.length === 0 && name.length <= longestName && unclear.length < mostGuessed;
    ask(withReleases(isGuessed ? guess(name, lookup) : found, release, lookup));
    return;
  }
  if (beside !== null && stig.release !== null && stig.release !== beside) {
    const releases = [stig.release, beside].filter((each) => isRetained(stig, each));
    ask(releases.map((each) => ({ ...stig, release: each })));
    return;
  }
  if (!isRetained(stig, release)) {
    ask(withReleases([stig], release, lookup));
    return;
  }
  const { slug, title } = stig;
  const before = named.find((each) => each.slug === slug);
  if (before !== undefined && release !== null && before.release !== null && release !== before.release) {
    otherwise.push({ slug, title, release, notes: notes === '' ? [] : [notes], lines: [line] });
    return;
  }
  const entry = before ?? { slug, title, release, notes: [], lines: [] };
  if (before === undefined) named.push(entry);
  entry.release ??= release;
  if ((notes !== '' || release !== null) && !entry.lines.includes(line)) entry.lines.push(line);
  if (notes !== '' && !entry.notes.includes(notes)) entry.notes.push(notes);
}

/** The STIGs that a name may mean; of `RHEL 9 2.7` the one with that release. */
function guess(name: string, lookup: NameLookup): (StigTitle & { release?: string | null })[] {
  const [, stig, version, release] = /^(.*\S)[\s,]+v?(\d+)[.\s-](\d+)$/i.exec(name) ?? [];
  const found = stig === undefined ? [] : lookup.called(`${stig} V${version}R${release}`);
  return found.length > 0 ? found : lookup.like(name);
}

/** The STIGs with a release that was named; the newest, and of a single one all others, where it has none such. */
function withReleases(
  stigs: (StigTitle & { release?: string | null })[],
  named: string | null,
  { versions }: NameLookup,
): Called[] {
  return stigs.flatMap((stig) => {
    const release = named ?? stig.release ?? null;
    const retained = versions(stig.slug);
    if (release === null || retained.includes(release)) return [{ ...stig, release }];
    const others = stigs.length > 1 ? [] : retained.slice(0, mostOffered);
    return [null, ...others].map((each) => ({ ...stig, release: each }));
  });
}

/** Titles that sheets give the columns of names, releases and notes. */
const columnTitles =
  /^(?:#|no\.?|(?:stig|srg|benchmark)s?(?: (?:title|name|id))?|titles?|names?|slugs?|releases?|versions?|notes?|comments?|remarks?)$/i;

function isHeader(line: string, { called }: NameLookup): boolean {
  if (line.length > longestName) return false;
  const cells = cellsOf(line);
  return cells.every((cell) => columnTitles.test(cell)) && called(cells[0]!).length === 0;
}

const commas = /[,;]+/;
const blanks = /[\s,;]+/;

function partsOf(text: string, separator: RegExp): string[] {
  const parts = items(text, separator);
  refuseTooMany(parts.length);
  return parts;
}

/** What stands before a name in a list or a sheet: a box to tick, a number. */
const bullet = /^[^\p{L}\p{N}"]*(?:\[\w?\]\s*|\d{1,4}(?:[.)]\s+|\t))+/u;

const joined = (texts: string[]) => texts.filter((each) => each !== '').join(' ');

/** The release that the first cell is, or the first two together, and nothing else; and how many cells. */
function releaseBeside(written: string[]): { release: string | null; cells: number } {
  for (const cells of [2, 1]) {
    const text = `x ${written.slice(0, cells).join(' ')}`;
    if (text.length > longestName) continue;
    const { form, release } = formOf(text);
    if (form === 'x' && release !== null && splitAtReleases(text).length === 1) return { release, cells };
  }
  return { release: null, cells: 0 };
}

/** The cells of a line, without the quotation marks that a spreadsheet puts around one. */
const cellsOf = (line: string): string[] => line.split('\t').map((cell) => unquoted(cell.trim()));

function refuseTooMany(names: number): void {
  if (names > mostAtOnce)
    throw badRequest(`Paste at most ${mostAtOnce.toLocaleString('en-US')} names at once`);
}

function unquoted(cell: string): string {
  return /^".*"$/.test(cell) ? cell.slice(1, -1).replaceAll('""', '"').trim() : cell;
}
