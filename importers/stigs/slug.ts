import { ImportError } from '../errors.ts';

const suffix =
  /[\s\-–—:,;([{]*(?:\bsecurity technical implementation guides?|\bsecurity requirements guides?|\bstig|\bsrg|\bscap benchmark|[-–—\s]\s*ver(?:sion)?\.? \d+)[\s)\]}.]*$/i;
const srgEnding = /\b(security requirements guide|srg)\b[\s)\]}.]*$/i;

/** The form of a benchmark id under which it is known (FORMATS 2.4 step 1). */
export function idKeyOf(benchmarkId: string): string {
  const key = underscores(
    benchmarkId
      .toLowerCase()
      .replace(/^xccdf_mil\.disa\.stig_benchmark_/, '')
      .replace(/^u_/, ''),
  ).replace(/(?:_stig|_srg)+$/, '');
  return key === '' ? underscores(benchmarkId.toLowerCase()) : key;
}

/** Whether a title is that of a requirements guide; the two kinds never share a slug (FORMATS 2.4 step 3). */
export function kindOf(title: string): 'stig' | 'srg' {
  return srgEnding.test(title) ? 'srg' : 'stig';
}

/**
 * The slug of a title (DECISIONS D4.1): endings such as "Security Technical Implementation Guide" or "(STIG)" removed
 * repeatedly, lower case, `&` as `and`, runs of other characters one `_`. Throws `ImportError` when nothing is left.
 */
export function slugOf(title: string): string {
  let rest = title.replace(/^\s*draft\s+/i, '');
  for (let shorter = rest.replace(suffix, ''); shorter !== rest && shorter.trim() !== ''; ) {
    rest = shorter;
    shorter = rest.replace(suffix, '');
  }
  const slug = underscores(rest.toLowerCase().replaceAll('&', ' and ')).slice(0, 200);
  if (slug === '') throw new ImportError(`the title "${title.slice(0, 60)}" gives no slug`);
  return slug;
}

/** True for a text that can be a slug (DECISIONS D9.4). */
export function isSlug(text: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{0,199}$/.test(text);
}

function underscores(text: string): string {
  return text.replace(/[^a-z0-9]+/g, '_').replace(/^_+|_+$/g, '');
}
