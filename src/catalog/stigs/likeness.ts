import { fold } from '../../base/text.ts';
import type { FindingRow, FullRelease } from './queries.ts';
import { headOf, type RuleHead } from './rule-head.ts';

/** How a rule stands beside those of another STIG. */
export const likenesses = ['alike', 'requirement', 'left', 'right'] as const;
export type Likeness = (typeof likenesses)[number];

/** A line of two STIGs side by side: a pair, or a rule that has none, by the SRG requirement that it names ('' for none). */
export interface Beside {
  kind: Likeness;
  srgId: string;
  left: RuleHead | null;
  right: RuleHead | null;
}

/** Of fewer common words two titles say different things. */
const alikeFrom = 0.5;
/** Pairs of one requirement that are compared word by word: SRG-OS-000480 has hundreds of rules on both sides. */
const mostCompared = 250_000;

const requirement = /SRG-[A-Z]+-\d{6}/;
const srgIdOf = ({ groupTitle, ruleVersion }: FindingRow): string =>
  (requirement.exec(groupTitle) ?? requirement.exec(ruleVersion))?.[0] ?? '';

/** The words of a title but for those in the name of its STIG. */
function wordsOf(title: string, name: Set<string>): Set<string> {
  const words = fold(title).match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => !name.has(word)));
}

type ReadRule = ReturnType<typeof readRules>[number];

/** Rules with the words of their titles. */
function readRules({ release, findings }: FullRelease) {
  const name = wordsOf(release.title, new Set());
  return findings.map((row) => ({
    head: headOf(row),
    srgId: srgIdOf(row),
    words: wordsOf(row.ruleTitle, name),
  }));
}

/** How many of the words of both are common to both, from 0 to 1. */
function likeness(a: Set<string>, b: Set<string>): number {
  let common = 0;
  for (const word of a) if (b.has(word)) common++;
  return common === 0 ? 0 : common / (a.size + b.size - common);
}

/**
 * Pairs the rules of two STIGs, a suggestion: first those of one SRG requirement by the words of their titles, the likest
 * first, then those whose titles have the same words. What is left is of a requirement that both have, or of one alone. In
 * the order of the left STIG, then of the right one.
 */
export function besideEachOther(left: FullRelease, right: FullRelease): Beside[] {
  const [lefts, rights] = [readRules(left), readRules(right)];
  const leftsBySrg = Map.groupBy(lefts, ({ srgId }) => srgId);
  const rightsBySrg = Map.groupBy(rights, ({ srgId }) => srgId);
  const others = new Map<ReadRule, ReadRule>();
  const pair = (a: ReadRule, b: ReadRule) => {
    if (!others.has(a) && !others.has(b)) others.set(a, b).set(b, a);
  };
  for (const [srgId, group] of leftsBySrg) {
    const rightOnes = rightsBySrg.get(srgId) ?? [];
    if (srgId === '' || group.length * rightOnes.length > mostCompared) continue;
    const pairs = group
      .flatMap((a) => rightOnes.map((b) => ({ a, b, alike: likeness(a.words, b.words) })))
      .filter(({ alike }) => alike >= alikeFrom)
      .sort((x, y) => y.alike - x.alike);
    for (const { a, b } of pairs) pair(a, b);
  }
  const keyOf = ({ words }: ReadRule) => [...words].sort().join(' ');
  const rightsByWords = Map.groupBy(rights, keyOf);
  for (const each of lefts)
    if (each.words.size > 0) for (const same of rightsByWords.get(keyOf(each)) ?? []) pair(each, same);
  const lineOf = (alone: Likeness, each: ReadRule, left?: ReadRule, right?: ReadRule): Beside => {
    const { srgId } = each;
    const isShared = srgId !== '' && leftsBySrg.has(srgId) && rightsBySrg.has(srgId);
    const kind = left && right ? 'alike' : isShared ? 'requirement' : alone;
    return { kind, srgId, left: left?.head ?? null, right: right?.head ?? null };
  };
  return [
    ...lefts.map((each) => lineOf('left', each, each, others.get(each))),
    ...rights.filter((each) => !others.has(each)).map((each) => lineOf('right', each, undefined, each)),
  ];
}
