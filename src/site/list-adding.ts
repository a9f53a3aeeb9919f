import type { StigTitle } from '../catalog/stigs/called.ts';
import { items } from './collection-pages.ts';
import type { Unclear } from './html/list-overview.tsx';

/** What was pasted: the STIGs that it names with what is to be noted of them, and what it does not name. */
export interface Pasted {
  named: { slug: string; notes: string }[];
  unclear: Unclear[];
}

/** How a name is looked up: in full, and what may be meant by one that is none. */
export interface Lookup {
  called(name: string): StigTitle[];
  like(name: string): StigTitle[];
}

/**
 * Reads a pasted column of titles, slugs or benchmark ids, one in a line; what stands behind a tab, as in a sheet's next
 * column, becomes the notes. A line may also hold several names between commas, or slugs between blanks.
 */
export function readPasted(text: string, { called, like }: Lookup): Pasted {
  const named: Pasted['named'] = [];
  const unclear: Unclear[] = [];
  for (const line of items(text, '\n')) {
    const [first = '', ...cells] = line.split('\t').map((cell) => cell.trim());
    const notes = unquoted(cells.filter((cell) => cell !== '').join(' '));
    for (const name of namesIn(unquoted(first), called)) {
      const found = called(name);
      if (found.length === 1) named.push({ slug: found[0]!.slug, notes });
      else unclear.push({ name, notes, candidates: found.length > 0 ? found : like(name) });
    }
  }
  return { named, unclear };
}

/** The names of a cell: one, or several where it is none itself and any of them is one. */
function namesIn(cell: string, called: Lookup['called']): string[] {
  if (called(cell).length > 0) return [cell];
  for (const separator of [/[,;]+/, /[\s,;]+/]) {
    const names = items(cell, separator);
    if (names.length > 1 && names.some((name) => called(name).length === 1)) return names;
  }
  return [cell];
}

/** A cell without the quotation marks that a sheet puts around it. */
function unquoted(cell: string): string {
  return /^".*"$/.test(cell) ? cell.slice(1, -1).replaceAll('""', '"').trim() : cell;
}

/** In words what was not added, and why. */
export function describeUnclear(unclear: Unclear[], added: number): string {
  const named = (of: Unclear[]) => {
    const first = of.slice(0, 5).map(({ name }) => [...name].slice(0, 64).join(''));
    return `${first.join(', ')}${of.length > 5 ? ` and ${of.length - 5} more` : ''}`;
  };
  const missing = unclear.filter(({ candidates }) => candidates.length === 0);
  const several = unclear.filter(({ candidates }) => candidates.length > 0);
  return [
    ...(missing.length === 0 ? [] : [`Not in the catalog: ${named(missing)}.`]),
    ...(several.length === 0 ? [] : [`No STIG has just this name: ${named(several)}.`]),
    added === 0 ? 'Nothing was added' : 'Everything else was added',
  ].join(' ');
}
