import { slugOf } from './slug.ts';

/** Titles of one maker's products have these words before the product, or not. */
const maker = new Set(['microsoft', 'ms', 'windows']);

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

/** Whether two folded ids are roles of one server (`..._ms`, `..._dc`), published under one title (rule F2.3). */
export function areTwoRoles(idKeyA: string, idKeyB: string): boolean {
  const [a, b] = [/^(.*)_(ms|dc)$/.exec(idKeyA), /^(.*)_(ms|dc)$/.exec(idKeyB)];
  return a !== null && b !== null && a[1] === b[1] && a[2] !== b[2];
}
