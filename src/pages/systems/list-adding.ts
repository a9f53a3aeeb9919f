import { cut, items } from '../../base/text.ts';
import type { Pasted, PastedStig, Unclear } from '../../collections/pasted.ts';
import { pastedLine, pinnedName } from './list-page.tsx';

/** What a paste adds to a list, and what stays in the form: what the list has is not written over. */
interface PasteResult {
  unclear: Unclear[];
  /** Their notes came from several lines. */
  joined: PastedStig[];
  /** The list has them with other notes. */
  there: PastedStig[];
  /** The list, or a line before, has them with another release. */
  otherwise: PastedStig[];
  header: string | null;
}

/** Compares pasted STIGs with those of a list by slug; `notesOf` has their notes as they are written. */
export function comparePasted(
  { named, unclear, otherwise, header }: Pasted,
  notesOf: Map<string, string>,
  before: Map<string, { notes: string; release: string | null }>,
): PasteResult {
  const has = named.filter(({ slug }) => before.has(slug));
  const isOther = ({ slug, release }: PastedStig) =>
    release !== null && before.get(slug)?.release !== release;
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
export function textLeft({ unclear, there, otherwise }: PasteResult): string {
  const lineOf = ({ slug, release, notes }: PastedStig) =>
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
export function describePasted({ unclear, joined, there, otherwise, header }: PasteResult, added: number) {
  if (header === null && unclear.length + joined.length + there.length + otherwise.length === 0) return null;
  const firstOf = (texts: string[]) =>
    `${texts.slice(0, 5).join(', ')}${texts.length > 5 ? ` and ${texts.length - 5} more` : ''}`;
  const named = (of: Unclear[]) => firstOf(of.map(({ name }) => cut(name)));
  const titles = (of: PastedStig[]) =>
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
