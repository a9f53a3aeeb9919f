import type { Printing } from './printings.ts';

/** Two printings of a version with this share of common rules are one release, whatever else they contain. */
const sameReleaseFrom = 0.95;
/** DISA renumbered V- and SV-ids in 2020 and 2021, from here on; the former ones are legacy ids at first. */
const renumberedFrom = 200_000;

/** Whether a printing has no rule that another lacks. */
export function isPartOf(part: Printing, whole: Printing): boolean {
  return numbersInCommon(part, whole) === part.rules().byNumber.size;
}

/** Whether two printings of a version are one release. */
export function areOneRelease(a: Printing, b: Printing): boolean {
  const both = numbersInCommon(a, b);
  const [mine, theirs] = [a.rules().byNumber.size, b.rules().byNumber.size];
  return both === mine || both === theirs || both / (mine + theirs - both) >= sameReleaseFrom;
}

function numbersInCommon(a: Printing, b: Printing): number {
  const theirs = b.rules().byNumber;
  return [...a.rules().byNumber.keys()].filter((number) => theirs.has(number)).length;
}

/** The share of the STIG ids of two printings that both have, from 0 to 1. */
export function sharedStigIds(a: Printing, b: Printing): number {
  const both = commonHashes(a, b);
  const either = a.stigIds.length + b.stigIds.length - both;
  return either === 0 ? 0 : both / either;
}

function commonHashes({ stigIds: a }: Printing, { stigIds: b }: Printing): number {
  let both = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const [left, right] = [a[i]!, b[j]!];
    if (left === right) both++;
    if (left <= right) i++;
    if (right <= left) j++;
  }
  return both;
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
  const isTenth = (shared: number) => shared * 10 >= printing.rules().byNumber.size;
  if (others.length === 0 || others.some((other) => isTenth(commonHashes(printing, other)))) return null;
  const most = Math.max(...others.map((other) => rulesIn(printing, other)));
  return isTenth(most) ? null : most;
}

function rulesIn(a: Printing, b: Printing): number {
  const { all } = b.rules();
  return a.rules().identifiers.filter((rule) => rule.some((id) => all.has(id))).length;
}

/**
 * Whether rules with the same STIG id have different SV-numbers in most cases. DISA uses one STIG id for sibling
 * products (routers and switches of one maker), and gave the same V-ids to all Unix systems.
 */
export function haveOtherNumbers(a: Printing, b: Printing): boolean {
  const { alike, different } = compareNumbers(a, b, () => true);
  return different > alike;
}

/** Whether most rules with a common STIG id share a new number, which only one product has, unlike former ones. */
export function haveSameNewNumbers(a: Printing, b: Printing): boolean {
  const { alike, different } = compareNumbers(a, b, isNew);
  return alike > different;
}

function compareNumbers(a: Printing, b: Printing, counts: (number: number) => boolean) {
  const verdicts = { alike: 0, different: 0 };
  const others = b.rules().numbers;
  for (const [stigId, mine] of a.rules().numbers) {
    const same = isSameRule(mine.filter(counts), (others.get(stigId) ?? []).filter(counts));
    if (same !== null) verdicts[same ? 'alike' : 'different']++;
  }
  return verdicts;
}

/** Null for no verdict: one has only new numbers, the other only former ones. Siblings share former ones. */
function isSameRule(a: number[], b: number[]): boolean | null {
  for (const isOfTime of [isNew, (number: number) => !isNew(number)]) {
    const [mine, theirs] = [a.filter(isOfTime), new Set(b.filter(isOfTime))];
    if (mine.length > 0 && theirs.size > 0) return mine.some((number) => theirs.has(number));
  }
  return null;
}

const isNew = (number: number) => number >= renumberedFrom;
