import { bySlug, type IndexedRule } from './indexed-rules.ts';

/** A rule and what it scores: less is better. */
export interface Ranked {
  rule: IndexedRule;
  score: number;
}

/** The best of some rules, in order: `count` of them, and those that score as the last of these. */
export function bestOf(
  rules: IndexedRule[],
  scoreOf: (rule: IndexedRule) => number,
  count: number,
): Ranked[] {
  const scores = new Float64Array(rules.length);
  for (let at = 0; at < rules.length; at++) scores[at] = scoreOf(rules[at]!);
  const worst = rules.length > count ? lowest(scores, count) : Number.POSITIVE_INFINITY;
  const best: Ranked[] = [];
  for (let at = 0; at < rules.length; at++)
    if (scores[at]! <= worst) best.push({ rule: rules[at]!, score: scores[at]! });
  return best.sort((a, b) => a.score - b.score || bySlug(a.rule, b.rule));
}

/** The greatest of the `count` least of some numbers: to sort all takes longer than a search. */
function lowest(numbers: Float64Array, count: number): number {
  const least = numbers.slice(0, count).sort();
  for (let at = count; at < numbers.length; at++) {
    const number = numbers[at]!;
    if (number >= least[count - 1]!) continue;
    let [from, to] = [0, count - 1];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (least[middle]! <= number) from = middle + 1;
      else to = middle;
    }
    least.copyWithin(from + 1, from, count - 1);
    least[from] = number;
  }
  return least[count - 1]!;
}
