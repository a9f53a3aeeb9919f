import { isRenumbered } from './compare.ts';
import type { ChangeClass } from './diff-schema.ts';
import { markedClasses, type RuleMarks } from './marks.ts';
import { matchRules, type RuleIds } from './match.ts';

/** The states of a rule in a release, against the release before (rule D27). */
export const ruleStates = ['first', 'added', 'same', 'changed', 'renumbered', 'removed'] as const;
export type RuleState = (typeof ruleStates)[number];

export interface RuleStep {
  release: number;
  state: RuleState;
  classes: ChangeClass[];
  /** The rule and its index in the release; null where it is removed. */
  at: { index: number; rule: RuleMarks } | null;
}

/** One rule through the releases of a STIG, the oldest first, from its first release to its last or its removal. */
export type RuleThread = RuleStep[];

interface Threaded extends RuleIds {
  at: { index: number; rule: RuleMarks };
  thread: RuleThread;
}

/** Follows every rule through the releases of a STIG, the oldest first. A rule that returns continues its old thread. */
export function threadsOf(releases: RuleMarks[][]): RuleThread[] {
  const threads: RuleThread[] = [];
  let before: Threaded[] = [];
  let gone: Threaded[] = [];
  for (const [release, rules] of releases.entries()) {
    const now = rules.map((rule, index): Threaded => ({ ...rule, at: { index, rule }, thread: [] }));
    const { pairs, removed, added } = matchRules(before, now);
    const back = matchRules(gone, added);
    for (const { old, new: rule } of [...pairs, ...back.pairs]) rule.thread = old.thread;
    for (const { at, thread } of added) {
      if (thread.length === 0) threads.push(thread);
      thread.push({ release, state: release === 0 ? 'first' : 'added', classes: [], at });
    }
    for (const { old, new: now } of pairs) {
      const classes = markedClasses(old.at.rule, now.at.rule);
      const state = classes.length > 0 ? 'changed' : isRenumbered(old, now) ? 'renumbered' : 'same';
      now.thread.push({ release, state, classes, at: now.at });
    }
    for (const { thread } of removed) thread.push({ release, state: 'removed', classes: [], at: null });
    before = now;
    gone = [...removed, ...back.removed];
  }
  return threads;
}
