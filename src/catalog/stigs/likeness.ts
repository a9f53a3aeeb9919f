import { fold } from '../../base/text.ts';
import type { FindingRow } from './queries.ts';

type Rule = Pick<FindingRow, 'groupId' | 'groupTitle' | 'ruleVersion' | 'ruleTitle' | 'severity'>;

/** How a rule stands beside those of another STIG. */
export const likenesses = ['alike', 'requirement', 'left', 'right'] as const;
export type Likeness = (typeof likenesses)[number];

/** A line of two STIGs side by side: a pair, or a rule that has none, by the SRG requirement that it names ('' for none). */
export interface Beside {
  kind: Likeness;
  srgId: string;
  left: Rule | null;
  right: Rule | null;
}

/** Of fewer common words two titles say different things. */
const alikeFrom = 0.5;
/** Pairs of one requirement that are compared word by word: SRG-OS-000480 has hundreds of rules on both sides. */
const mostCompared = 250_000;

const requirement = /SRG-[A-Z]+-\d{6}/;
const srgIdOf = ({ groupTitle, ruleVersion }: Rule): string =>
  (requirement.exec(groupTitle) ?? requirement.exec(ruleVersion))?.[0] ?? '';

/** The words of a title but for those in the name of its STIG. */
function wordsOf(title: string, name: Set<string>): Set<string> {
  const words = fold(title).match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => !name.has(word)));
}

interface Read {
  rule: Rule;
  at: number;
  srgId: string;
  words: Set<string>;
}

function read(rules: Rule[], title: string): Read[] {
  const name = wordsOf(title, new Set());
  return rules.map((rule, at) => ({ rule, at, srgId: srgIdOf(rule), words: wordsOf(rule.ruleTitle, name) }));
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
 * the order of the left STIG, then of the right one. Yields after each requirement.
 */
export function* besideEachOther(
  left: { title: string; findings: Rule[] },
  right: { title: string; findings: Rule[] },
): Generator<void, Beside[]> {
  const [lefts, rights] = [read(left.findings, left.title), read(right.findings, right.title)];
  const bySrg = Map.groupBy(rights, ({ srgId }) => srgId);
  const paired = new Map<Read, Read>();
  const taken = new Set<Read>();
  const pair = (a: Read, b: Read) => {
    if (paired.has(a) || taken.has(b)) return;
    paired.set(a, b);
    taken.add(b);
  };
  for (const [srgId, group] of Map.groupBy(lefts, (each) => each.srgId)) {
    const others = bySrg.get(srgId) ?? [];
    if (srgId === '' || group.length * others.length > mostCompared) continue;
    const pairs = group
      .flatMap((a) => others.map((b) => ({ a, b, alike: likeness(a.words, b.words) })))
      .filter(({ alike }) => alike >= alikeFrom)
      .sort((x, y) => y.alike - x.alike || x.a.at - y.a.at || x.b.at - y.b.at);
    for (const { a, b } of pairs) pair(a, b);
    yield;
  }
  const keyOf = ({ words }: Read) => [...words].sort().join(' ');
  const free = Map.groupBy(
    rights.filter((each) => !taken.has(each)),
    keyOf,
  );
  for (const each of lefts) {
    const same = paired.has(each) || each.words.size === 0 ? undefined : free.get(keyOf(each))?.shift();
    if (same) pair(each, same);
  }
  yield;
  const srgsLeft = new Set(lefts.map(({ srgId }) => srgId));
  const alone = (own: Set<string> | Map<string, unknown>, srgId: string, kind: 'left' | 'right'): Likeness =>
    srgId !== '' && own.has(srgId) ? 'requirement' : kind;
  return [
    ...lefts.map((each): Beside => {
      const { rule, srgId } = each;
      const other = paired.get(each);
      if (other) return { kind: 'alike', srgId, left: rule, right: other.rule };
      return { kind: alone(bySrg, srgId, 'left'), srgId, left: rule, right: null };
    }),
    ...rights
      .filter((each) => !taken.has(each))
      .map(({ rule, srgId }): Beside => {
        return { kind: alone(srgsLeft, srgId, 'right'), srgId, left: null, right: rule };
      }),
  ];
}
