import { ImportError } from '../../src/read/import-error.ts';
import { collapseLine } from '../read/source-text.ts';

const endings =
  /(?:\b(?:security technical implementation guides?|security requirements guides?|stig|srg|scap benchmark)|\s-\s*ver(?:sion)?\.? ?\d+)$/i;
const requirementsGuide = /\b(?:security requirements guide|srg)$/i;
const outer = /^[\s\-–—:,;.()[\]{}]+|[\s\-–—:,;.()[\]{}]+$/g;

/** How much of a title is looked at; the longest real one has 150 characters. */
const maxTitleLength = 1000;

/** The form of a benchmark id under which it is known (rule F2.4 step 1). */
export function idKeyOf(benchmarkId: string): string {
  const key = underscores(
    benchmarkId
      .toLowerCase()
      .replace(/^xccdf_mil\.disa\.stig_benchmark_/, '')
      .replace(/^u_/, ''),
  ).replace(/(?:_stig|_srg)+$/, '');
  // An id without a letter or digit of ours stands for itself.
  return key || underscores(benchmarkId.toLowerCase()) || benchmarkId.toLowerCase();
}

/** The key under which a benchmark id is remembered: a STIG and an SRG may have ids that differ by their ending alone. */
export function aliasKey(benchmarkId: string, kind: 'stig' | 'srg'): string {
  return kind === 'srg' ? `srg:${idKeyOf(benchmarkId)}` : idKeyOf(benchmarkId);
}

/** Whether a title is that of a requirements guide; the two kinds never share a slug (rule F2.4 step 3). */
export function kindOf(title: string): 'stig' | 'srg' {
  return endingsOf(title).some((ending) => requirementsGuide.test(ending)) ? 'srg' : 'stig';
}

/**
 * The slug of a title (rule D4.1): endings such as "Security Technical Implementation Guide" or "(STIG)" removed
 * repeatedly, lower case, `&` as `and`, runs of other characters one `_`. Empty when nothing is left.
 */
export function slugOf(title: string): string {
  const whole = bare(bare(title).replace(/^draft\s/i, ''));
  const cut = endingsOf(whole).reduce((rest, ending) => bare(rest.slice(0, -ending.length)), whole);
  return underscores((cut || whole).toLowerCase().replaceAll('&', ' and ')).slice(0, maxSlugLength);
}

/**
 * What the slugs of a benchmark are made from: the slug of its title, or of its id where the title gives none (one
 * written in another script). Throws `ImportError` when neither does.
 */
export function slugStemOf({ title, benchmarkId }: { title: string; benchmarkId: string }): string {
  const stem = slugOf(title) || underscores(idKeyOf(benchmarkId)).slice(0, maxSlugLength);
  if (stem === '')
    throw new ImportError(
      `neither the title "${title.slice(0, 60)}" nor the id "${benchmarkId.slice(0, 60)}" gives a slug`,
    );
  return stem;
}

/** The words that stand where a slug does in the paths below `/stigs`: a STIG of that name could not be reached. */
export const reservedSlugs = new Set(['batch', 'changelog', 'changes', 'stats']);

/** The endings of a title, the last first. */
function endingsOf(title: string): string[] {
  const found: string[] = [];
  let rest = bare(title);
  for (let ending = endings.exec(rest)?.[0]; ending !== undefined; ending = endings.exec(rest)?.[0]) {
    found.push(ending);
    rest = bare(rest.slice(0, -ending.length));
  }
  return found;
}

/** A text on one line, without the blanks, dashes and brackets around it. */
function bare(text: string): string {
  return collapseLine(text).slice(0, maxTitleLength).replace(outer, '');
}

const maxSlugLength = 200;

/** A slug with a number behind it, no longer than a slug may be. */
export function numbered(slug: string, number: number): string {
  return `${slug.slice(0, maxSlugLength - 8)}_${number}`;
}

/** True for a text that can be a slug (rule D9.4). */
export function isSlug(text: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{0,199}$/.test(text);
}

function underscores(text: string): string {
  return text.replace(/[^a-z0-9]+/g, '_').replace(/^_+|_+$/g, '');
}
