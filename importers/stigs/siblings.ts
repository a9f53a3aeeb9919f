import { slugOf } from './slug.ts';

/** Names of one maker, which came and went before the name of the product. */
const maker = new Set(['microsoft', 'ms', 'windows']);

/**
 * Whether two titles name two products: each has a word that the other lacks. A later title says more than the former
 * one, or less (`Windows 10`, `Microsoft Windows 10`); those of siblings differ in both (`... Member Server`, `... Domain
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
