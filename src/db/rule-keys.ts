import { numberOf } from '../base/ids.ts';

/**
 * A rule by its SV-id without the revision, which changes with every word of its text (rule F1.4): a corrected printing
 * has the same rules. An id of another form stands for itself.
 */
export function ruleName(ruleId: string): string {
  return /^(SV-\d{1,15})r\d+(?:\.\d+)*(?:_|$)/.exec(ruleId)?.[1] ?? ruleId;
}

/** The number of a rule in `stig_evidence`: that of its SV-id, or above all those one that is made of its id. */
export function ruleKey(ruleId: string): number {
  const name = ruleName(ruleId);
  return name === ruleId ? 2 ** 52 + numberOf(ruleId) : Number(name.slice(3));
}
