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

/**
 * Whether two folded benchmark ids are the two roles of one server (`windows_server_2019_ms`, `..._dc`): those that are
 * published under one title (rule F2.3), so that nothing else tells them apart where their versions differ.
 */
export function areTwoRoles(idKeyA: string, idKeyB: string): boolean {
  const [a, b] = [/^(.*)_(ms|dc)$/.exec(idKeyA), /^(.*)_(ms|dc)$/.exec(idKeyB)];
  return a !== null && b !== null && a[1] === b[1] && a[2] !== b[2];
}
