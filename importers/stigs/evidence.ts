import { ruleKey } from '../../src/base/rule-ids.ts';
import type { XccdfFinding } from './xccdf-record.ts';

/**
 * The rules of a printing as sorted numbers, so that a thousand printings compare without their rules. `numbers` holds
 * pairs: the hash of a STIG ID, and the number of an SV-id or former SV-id of its rule.
 */
export interface Evidence {
  rules: Float64Array;
  numbers: Uint32Array;
}

/** Evidence with the hashes of the STIG IDs, each once. */
export interface WholeEvidence extends Evidence {
  stigIds: Uint32Array;
}

/** DISA renumbered V- and SV-ids in 2020 and 2021, from here on; the former ones are legacy ids at first. */
const renumberedFrom = 200_000;

/** The evidence from the rules of a release. */
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

/** Whether sorted numbers contain all of others. */
export function isWithin(part: Float64Array, whole: Float64Array): boolean {
  return part.length <= whole.length && common(part, whole) === part.length;
}

/** Two printings of a version with this share of common rules are one release, whatever else they contain. */
const sameReleaseFrom = 0.95;

/** Whether two printings of a version are one release. */
export function isOneRelease(a: { evidence(): Evidence }, b: { evidence(): Evidence }): boolean {
  const [mine, theirs] = [a.evidence().rules, b.evidence().rules];
  return isWithin(mine, theirs) || isWithin(theirs, mine) || jaccard(mine, theirs) >= sameReleaseFrom;
}

/** The Jaccard index of two sorted lists; 0 for two empty ones. */
export function jaccard(a: Float64Array | Uint32Array, b: Float64Array | Uint32Array): number {
  const both = common(a, b);
  const union = a.length + b.length - both;
  return union === 0 ? 0 : both / union;
}

/** How many numbers two sorted lists have in common. */
export function common(a: Float64Array | Uint32Array, b: Float64Array | Uint32Array): number {
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
 * Whether rules with the same STIG ID have different SV-numbers in most cases. DISA uses one STIG ID for sibling
 * products (routers and switches of one maker), and gave the same V-ids to all Unix systems.
 */
export function ofTwoProducts(a: Evidence, b: Evidence): boolean {
  const { alike, different } = compareNumbers(a.numbers, b.numbers, () => true);
  return different > alike;
}

/** Whether most rules with a common STIG ID share a new number, which only one product has, unlike former ones. */
export function ofOneProduct(a: Evidence, b: Evidence): boolean {
  const { alike, different } = compareNumbers(a.numbers, b.numbers, isNew);
  return alike > different;
}

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

function numbersAt(pairs: Uint32Array, start: number): number[] {
  const numbers: number[] = [];
  for (let at = start; at < pairs.length && pairs[at] === pairs[start]; at += 2) numbers.push(pairs[at + 1]!);
  return numbers;
}

/** Null for no verdict: one has only new numbers, the other only former ones. Siblings share former ones. */
function isSameRule(a: number[], b: number[]): boolean | null {
  for (const isOfTime of [isNew, (number: number) => !isNew(number)]) {
    const [mine, theirs] = [a.filter(isOfTime), b.filter(isOfTime)];
    if (mine.length === 0 || theirs.length === 0) continue;
    // One STIG ID may have a hundred thousand rules.
    const others = new Set(theirs);
    return mine.some((number) => others.has(number));
  }
  return null;
}

function isNew(number: number): boolean {
  return number >= renumberedFrom;
}

/** FNV-1a, 32 bits. A collision decides nothing: it is one of hundreds of hashes. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
