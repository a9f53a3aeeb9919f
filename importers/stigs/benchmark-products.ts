import { common, isOneRelease } from './evidence.ts';
import type { Printing } from './printing.ts';
import { slugOf } from './slug.ts';

/** Words of a title that name a version, not a product. */
const versionWords = /^(?:x|v|ver|version|r|rel|release|rev|revision|draft|(?:v|ver|r|rel|x)?\d.*)$/;
const fillers = new Set(['a', 'an', 'and', 'for', 'of', 'on', 'the', 'stig', 'srg', 'microsoft', 'ms']);

/** The words of a title that name its product, sorted: titles of one product give the same text. */
export function productOf(title: string): string {
  const words = (slugOf(title) || title.normalize('NFKC').toLowerCase()).split(/[^\p{L}\p{N}]+/u);
  const own = words.filter((word) => word !== '' && !versionWords.test(word) && !fillers.has(word));
  return [...new Set(own)].sort().join(' ');
}

/** How many rules two printings share: by STIG id, V- or SV-number, former numbers included. */
export function sharedRules(a: Printing, b: Printing): number {
  return Math.min(rulesIn(a, b), rulesIn(b, a));
}

/**
 * How many rules of a printing are in the one of others with which it shares most, where that is less than a tenth of
 * them; else null.
 */
export function fewShared(printing: Printing, others: Printing[]): number | null {
  const { rules } = printing.evidence();
  const isTenth = (shared: number) => shared * 10 >= rules.length;
  if (others.some(({ stigIds }) => isTenth(common(printing.stigIds, stigIds)))) return null;
  const most = Math.max(...others.map((other) => rulesIn(printing, other)));
  return isTenth(most) ? null : most;
}

function rulesIn(a: Printing, b: Printing): number {
  const { ids } = b.identifiers();
  return a.identifiers().rules.filter((rule) => rule.some((id) => ids.has(id))).length;
}

/** Splits the printings of one benchmark id, the newest first, by product (rule D24.4). */
export function splitByProduct(printings: Printing[]): Printing[][] {
  const products = new Set(printings.map(({ title }) => productOf(title)));
  return products.size < 2 ? [printings] : cluster(printings, () => false);
}

/** Splits printings that were set apart, so that no part has two releases of one version. */
export function splitApart(printings: Printing[]): Printing[][] {
  return cluster(printings, (a, b) => a.version === b.version && !isOneRelease(a, b));
}

interface Part {
  printings: Printing[];
  foes: Set<Printing>;
}

/**
 * Puts printings together: first those that share most rules, then those whose titles name one product. Never puts
 * together two that clash, or two products without a common rule. Of equal pairs the first counts.
 */
function cluster(printings: Printing[], clash: (a: Printing, b: Printing) => boolean): Printing[][] {
  if (printings.length < 2) return [printings];
  const nodes = printings.map((printing) => ({ printing, product: productOf(printing.title) }));
  const parts = new Map(
    printings.map((each): [Printing, Part] => [each, { printings: [each], foes: new Set() }]),
  );
  const links: { a: Printing; b: Printing; shared: number }[] = [];
  for (const [at, one] of nodes.entries())
    for (const two of nodes.slice(at + 1)) {
      const [a, b] = [one.printing, two.printing];
      const shared = sharedRules(a, b);
      if ((shared > 0 || one.product === two.product) && !clash(a, b)) links.push({ a, b, shared });
      else {
        parts.get(a)!.foes.add(b);
        parts.get(b)!.foes.add(a);
      }
    }
  for (const { a, b } of links.sort((one, two) => two.shared - one.shared)) {
    const [part, other] = [parts.get(a)!, parts.get(b)!];
    if (part === other || other.printings.some((each) => part.foes.has(each))) continue;
    part.printings.push(...other.printings);
    for (const foe of other.foes) part.foes.add(foe);
    for (const each of other.printings) parts.set(each, part);
  }
  return [...new Set(parts.values())].map((part) => printings.filter((each) => parts.get(each) === part));
}
