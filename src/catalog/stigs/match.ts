import { ruleNumber } from '../../base/rule-ids.ts';
import type { RuleIds } from './ids.ts';

/** The classes of a change; the first that applies is the primary one. */
export const changeClasses = ['check', 'fix', 'severity', 'mapping', 'cosmetic'] as const;

/** The identifier that two rules share. */
export type MatchedBy = 'stigId' | 'groupId' | 'legacyId';

const join = (...parts: string[]) =>
  parts.every((part) => part !== '') ? [parts.join('\n').toUpperCase()] : [];
const stigId = (rule: RuleIds) => rule.ruleVersion.trim();
const groupId = (rule: RuleIds) => rule.groupId.trim();
const number = (rule: RuleIds) => ruleNumber(rule.ruleId);
const everyId = (rule: RuleIds) =>
  [groupId(rule), number(rule), ...rule.legacyIds.map((id) => id.trim())].flatMap((id) => join(id));

/** The steps of matching, the surest first: each looks only at rules without a match. */
const steps: [MatchedBy, (rule: RuleIds) => string[]][] = [
  // A STIG id, or a group, may have several rules: the other identifiers distinguish them.
  ['stigId', (rule) => join(stigId(rule), groupId(rule), number(rule))],
  ['stigId', (rule) => join(stigId(rule), groupId(rule))],
  ['stigId', (rule) => join(stigId(rule), number(rule))],
  ['stigId', (rule) => join(stigId(rule))],
  ['groupId', (rule) => join(groupId(rule), number(rule))],
  ['groupId', (rule) => join(groupId(rule))],
  ['legacyId', everyId],
];

/**
 * Matches the rules of two releases across renumbering: by STIG id, V-id, then any V- or SV-number, old ones included. A
 * rule matches once, the first in document order. Time and memory grow with the number of identifiers only.
 */
export function matchRules<Old extends RuleIds, New extends RuleIds>(
  olds: readonly Old[],
  news: readonly New[],
) {
  const taken = new Set<Old>();
  const found = new Map<New, { old: Old; new: New; matchedBy: MatchedBy }>();
  for (const [matchedBy, keysOf] of steps) {
    // Backwards, so that `pop` gives the first in document order.
    const keyed = olds
      .filter((old) => !taken.has(old))
      .flatMap((old) => keysOf(old).map((key) => ({ key, old })))
      .reverse();
    const waiting = Map.groupBy(keyed, ({ key }) => key);
    if (waiting.size === 0) continue;
    for (const rule of news) {
      if (found.has(rule)) continue;
      for (const key of keysOf(rule)) {
        const queue = waiting.get(key) ?? [];
        while (queue.length > 0 && taken.has(queue.at(-1)!.old)) queue.pop();
        const matched = queue.pop();
        if (!matched) continue;
        taken.add(matched.old);
        found.set(rule, { old: matched.old, new: rule, matchedBy });
        break;
      }
    }
  }
  return {
    pairs: news.flatMap((rule) => found.get(rule) ?? []),
    removed: olds.filter((rule) => !taken.has(rule)),
    added: news.filter((rule) => !found.has(rule)),
  };
}
