import { areOneRelease, sharedRules } from './compare-printings.ts';
import type { Printing } from './printings.ts';
import { slugOf } from './slug.ts';

/** Words of a title that name a version, not a product. */
const versionWords = /^(?:x|v|ver|version|r|rel|release|rev|revision|draft|(?:v|ver|r|rel|x)?\d.*)$/;
const fillers = new Set(['a', 'an', 'and', 'for', 'of', 'on', 'the', 'stig', 'srg', 'microsoft', 'ms']);
/** Titles of one maker's products have these words before the product, or not. */
const maker = new Set(['microsoft', 'ms', 'windows']);

/** The words of a title that name its product, sorted: titles of one product give the same text. */
function productOf(title: string): string {
  const words = (slugOf(title) || title.normalize('NFKC').toLowerCase()).split(/[^\p{L}\p{N}]+/u);
  const own = words.filter((word) => word !== '' && !versionWords.test(word) && !fillers.has(word));
  return [...new Set(own)].sort().join(' ');
}

/**
 * Whether two titles name two products: each has a word that the other lacks. A later title of a product only adds or
 * drops words (`Windows 10`, `Microsoft Windows 10`); those of siblings differ (`... Member Server`, `... Domain
 * Controller`).
 */
export function nameTwoProducts(titleA: string, titleB: string): boolean {
  const [a, b] = [wordsOf(titleA), wordsOf(titleB)];
  return a.some((word) => !b.includes(word)) && b.some((word) => !a.includes(word));
}

function wordsOf(title: string): string[] {
  const words = slugOf(title).split('_');
  const first = words.findIndex((word) => !maker.has(word));
  return words.slice(Math.max(first, 0));
}

/** Splits the printings of one benchmark id, the newest first, by product (rule D24.4). */
export function splitByProduct(printings: Printing[]): Printing[][] {
  const products = new Set(printings.map(({ title }) => productOf(title)));
  return products.size < 2 ? [printings] : groupByRules(printings, () => false);
}

/** Splits printings of one benchmark id so that no group has two releases of one version (rule D24.3). */
export function splitByVersion(printings: Printing[]): Printing[][] {
  return groupByRules(printings, (a, b) => a.version === b.version && !areOneRelease(a, b));
}

/**
 * Puts printings together: first those that share most rules, then those whose titles name one product. Never puts
 * together two that clash, or two products without a common rule. Of equal pairs the first counts.
 */
function groupByRules(printings: Printing[], clash: (a: Printing, b: Printing) => boolean): Printing[][] {
  if (printings.length < 2) return [printings];
  const pairs: { a: Printing; b: Printing; shared: number }[] = [];
  const rivals = new Map(printings.map((each) => [each, new Set<Printing>()]));
  for (const [at, a] of printings.entries())
    for (const b of printings.slice(at + 1)) {
      const shared = sharedRules(a, b);
      if ((shared > 0 || productOf(a.title) === productOf(b.title)) && !clash(a, b))
        pairs.push({ a, b, shared });
      else {
        rivals.get(a)!.add(b);
        rivals.get(b)!.add(a);
      }
    }
  const groupOf = new Map(printings.map((each) => [each, [each]]));
  for (const { a, b } of pairs.sort((one, two) => two.shared - one.shared)) {
    const [group, other] = [groupOf.get(a)!, groupOf.get(b)!];
    const isRival = (each: Printing) => other.some((its) => rivals.get(each)!.has(its));
    if (group === other || group.some(isRival)) continue;
    const both = [...group, ...other];
    for (const each of both) groupOf.set(each, both);
  }
  return [...new Set(groupOf.values())].map((group) => printings.filter((each) => group.includes(each)));
}
