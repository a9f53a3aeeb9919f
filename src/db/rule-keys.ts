import { numberOf } from '../base/ids.ts';

/** A rule id without its revision (rule F1.4), which changes with every text; another form stays as it is. */
export function ruleName(ruleId: string): string {
  return /^(SV-\d{1,15})r\d+(?:\.\d+)*(?:_|$)/.exec(ruleId)?.[1] ?? ruleId;
}

/** The number of a rule in `stig_evidence`: that of its SV-id, or a hash above all of those. */
export function ruleKey(ruleId: string): number {
  const name = ruleName(ruleId);
  return name === ruleId ? 2 ** 52 + numberOf(ruleId) : Number(name.slice(3));
}
