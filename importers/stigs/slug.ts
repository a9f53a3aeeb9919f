import { strip } from '../../src/base/text.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { collapseLine } from '../read/source-text.ts';

const endings =
  /(?:\b(?:security technical implementation guides?|security requirements guides?|stig|srg|scap benchmark)|\s-\s*ver(?:sion)?\.? ?\d+)$/i;
const requirementsGuide = /\b(?:security requirements guide|srg)$/i;
const outer = /[\s\-–—:,;.()[\]{}]/;

/** Characters that matter; the longest real title has 150. */
const maxTitleLength = 1000;

/** Folds a benchmark id (rule D24.5, step 1). */
export function idKeyOf(benchmarkId: string): string {
  const key = underscores(
    benchmarkId
      .toLowerCase()
      .replace(/^xccdf_mil\.disa\.stig_benchmark_/, '')
      .replace(/^u_/, ''),
  ).replace(/(?:_stig|_srg)+$/, '');
  // An id without such letters and digits stays as it is.
  return key || underscores(benchmarkId.toLowerCase()) || benchmarkId.toLowerCase();
}

/** The key of a benchmark id: the ids of a STIG and an SRG may differ only in their ending. */
export function aliasKey(benchmarkId: string, kind: 'stig' | 'srg'): string {
  return kind === 'srg' ? `srg:${idKeyOf(benchmarkId)}` : idKeyOf(benchmarkId);
}

/** The kind of a title; a STIG and an SRG never share a slug (rule D24.5, step 4). */
export function kindOf(title: string): 'stig' | 'srg' {
  return endingsOf(title).some((ending) => requirementsGuide.test(ending)) ? 'srg' : 'stig';
}

/**
 * The slug of a title (rule D4.1): without endings such as "Security Technical Implementation Guide" or "(STIG)", in
 * lower case, `&` as `and`, runs of other characters as one `_`. It may be empty.
 */
export function slugOf(title: string): string {
  const whole = bare(bare(title).replace(/^draft\s/i, ''));
  const cut = endingsOf(whole).reduce((rest, ending) => bare(rest.slice(0, -ending.length)), whole);
  return underscores((cut || whole).toLowerCase().replaceAll('&', ' and ')).slice(0, maxSlugLength);
}

/** The slug of the title, or of the id for a title in another script. Throws `ImportError` without either. */
export function slugStemOf({ title, benchmarkId }: { title: string; benchmarkId: string }): string {
  const stem = slugOf(title) || underscores(idKeyOf(benchmarkId)).slice(0, maxSlugLength);
  if (stem === '')
    throw new ImportError(
      `neither the title "${title.slice(0, 60)}" nor the id "${benchmarkId.slice(0, 60)}" gives a slug`,
    );
  return stem;
}

/** Paths below `/stigs`: a STIG with such a slug could not be reached. */
export const reservedSlugs = new Set(['batch', 'changelog', 'changes', 'stats']);

function endingsOf(title: string): string[] {
  const found: string[] = [];
  let rest = bare(title);
  for (let ending = endings.exec(rest)?.[0]; ending !== undefined; ending = endings.exec(rest)?.[0]) {
    found.push(ending);
    rest = bare(rest.slice(0, -ending.length));
  }
  return found;
}

function bare(text: string): string {
  return strip(collapseLine(text).slice(0, maxTitleLength), outer);
}

const maxSlugLength = 200;

/** A slug with a number, no longer than a slug may be. */
export function numbered(slug: string, number: number): string {
  return `${slug.slice(0, maxSlugLength - 8)}_${number}`;
}

/** True for a text that can be a slug (rule D9.4). */
export function isSlug(text: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{0,199}$/.test(text);
}

function underscores(text: string): string {
  return strip(text.replace(/[^a-z0-9]+/g, '_'), /_/);
}
