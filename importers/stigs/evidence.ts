import { ruleKey } from '../../src/db/rule-keys.ts';
import type { XccdfFinding } from './xccdf-record.ts';

/**
 * What is kept of the rules of a printing to compare it with others: sorted numbers, so that a thousand printings are
 * compared without reading their rules. `rules` are its rules, each once; `numbers` are pairs of the hash of a
 * STIG ID and a number that an SV-id or former SV-id of its rule has.
 */
export interface Evidence {
  rules: Float64Array;
  numbers: Uint32Array;
}

/** The same with the hashes of its STIG IDs, each once. */
export interface WholeEvidence extends Evidence {
  stigIds: Uint32Array;
}

/** V- and SV-ids were given anew once, in 2020 and 2021, from here on; the former ones stand as legacy ids, at first. */
const renumberedFrom = 200_000;

/** What is compared of the rules of a release. */
export function evidenceOf(
  findings: Pick<XccdfFinding, 'ruleId' | 'ruleVersion' | 'legacyIds'>[],
): WholeEvidence {
  const named = findings.filter(({ ruleVersion }) => ruleVersion !== '');
  const pairs = named.flatMap(({ ruleId, ruleVersion, legacyIds }) => {
    const numbers = [ruleId, ...legacyIds].flatMap((id) => /^SV-(\d{1,9})(?!\d)/.exec(id)?.[1] ?? []);
    return numbers.map((number) => [hashOf(ruleVersion), Number(number)] as const);
  });
  return {
    stigIds: new Uint32Array(new Set(named.map(({ ruleVersion }) => hashOf(ruleVersion)))).sort(),
    rules: new Float64Array(new Set(findings.map(({ ruleId }) => ruleKey(ruleId)))).sort(),
    numbers: new Uint32Array(pairs.sort((a, b) => a[0] - b[0] || a[1] - b[1]).flat()),
  };
}

/** Whether all of some sorted numbers are among others. */
export function isWithin(part: Float64Array, whole: Float64Array): boolean {
  return part.length <= whole.length && common(part, whole) === part.length;
}

/** Of two lists of sorted numbers the size of the intersection over that of the union; 0 for two empty ones. */
export function jaccard(a: Float64Array | Uint32Array, b: Float64Array | Uint32Array): number {
  const both = common(a, b);
  const union = a.length + b.length - both;
  return union === 0 ? 0 : both / union;
}

function common(a: Float64Array | Uint32Array, b: Float64Array | Uint32Array): number {
  let both = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const [left, right] = [a[i]!, b[j]!];
    if (left === right) both++;
    if (left <= right) i++;
    if (right <= left) j++;
  }
  return both;
}

/**
 * Whether the rules that share a STIG ID are of two products, by the numbers of their SV-ids: DISA gives STIG IDs
 * again to a product's siblings (the routers and switches of one maker), and gave V-ids to all Unix systems alike.
 */
export function ofTwoProducts(a: Evidence, b: Evidence): boolean {
  const { alike, different } = compareNumbers(a.numbers, b.numbers, () => true);
  return different > alike;
}

/**
 * Whether most of them share a new number, which no other product has. Former ones tell nothing: the network devices
 * of before the renumbering share them, and the two roles of a Windows server.
 */
export function ofOneProduct(a: Evidence, b: Evidence): boolean {
  const { alike, different } = compareNumbers(a.numbers, b.numbers, isNew);
  return alike > different;
}

/** Of how many STIG IDs that two printings share the rules share one of the numbers that count, and of how many none. */
function compareNumbers(a: Uint32Array, b: Uint32Array, counts: (number: number) => boolean) {
  const verdicts = { alike: 0, different: 0 };
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const [left, right] = [a[i]!, b[j]!];
    const mine = left <= right ? numbersAt(a, i) : [];
    const theirs = right <= left ? numbersAt(b, j) : [];
    i += 2 * mine.length;
    j += 2 * theirs.length;
    if (left !== right) continue;
    const same = isSameRule(mine.filter(counts), theirs.filter(counts));
    if (same !== null) verdicts[same ? 'alike' : 'different']++;
  }
  return verdicts;
}

/** The numbers of the STIG ID whose pairs begin at a place. */
function numbersAt(pairs: Uint32Array, start: number): number[] {
  const numbers: number[] = [];
  for (let at = start; at < pairs.length && pairs[at] === pairs[start]; at += 2) numbers.push(pairs[at + 1]!);
  return numbers;
}

/**
 * Whether two rules of one STIG ID share a number, of the new ones where both have such, since siblings share former
 * ones. Null where their numbers are of two times and tell nothing.
 */
function isSameRule(a: number[], b: number[]): boolean | null {
  for (const isOfTime of [isNew, (number: number) => !isNew(number)]) {
    const [mine, theirs] = [a.filter(isOfTime), b.filter(isOfTime)];
    if (mine.length === 0 || theirs.length === 0) continue;
    // One STIG ID may name a hundred thousand rules.
    const others = new Set(theirs);
    return mine.some((number) => others.has(number));
  }
  return null;
}

function isNew(number: number): boolean {
  return number >= renumberedFrom;
}

/** FNV-1a with 32 bits: it decides nothing alone, a chance match is one of hundreds. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
