import { count } from '../src/base/text.ts';
import type { Parsed } from './parsed.ts';

/** Characters of a title: the longest of the publishers has 600. */
const longest = 2000;
const isTitle = /(?:title|heading|label|name|family)$/i;

/**
 * Cuts the titles, names and labels of a source that are longer than 2,000 characters, with a warning: pages and exports
 * read each of them many times.
 */
export function cutTitles(parsed: Parsed): Parsed {
  let cuts = 0;
  function walk(value: object): void {
    for (const [key, each] of Object.entries(value)) {
      if (typeof each === 'object' && each !== null) walk(each);
      else if (typeof each === 'string' && each.length > longest && isTitle.test(key)) {
        (value as Record<string, unknown>)[key] = each
          .slice(0, longest)
          .replace(/[\ud800-\udbff]$/, '')
          .trimEnd();
        cuts++;
      }
    }
  }
  if (parsed.content !== null) walk(parsed.content);
  if (cuts === 0) return parsed;
  const warning = `${count(cuts, 'title')} of more than ${longest.toLocaleString('en-US')} characters cut`;
  return { ...parsed, warnings: [...parsed.warnings, warning] };
}
