import { numberOf } from './ids.ts';

// Ids of rules: `SV-257777r991589_rule` has the number SV-257777, which stays, and a revision, which changes with each text.

/** A rule id without the ending `_rule`, which some tools leave out. */
export const withoutRuleEnding = (ruleId: string): string => ruleId.replace(/_rule$/i, '');

/** A rule id for comparison: without `_rule`, in upper case. */
export const plainRuleId = (ruleId: string): string => withoutRuleEnding(ruleId.trim()).toUpperCase();

/** A rule id without its revision and `_rule`; any other id as it is. */
export const ruleNumber = (id: string): string => id.trim().replace(/r\d+(_rule)?$|_rule$/i, '');

/** The number of a published rule id (rule F1.4); another form stays as it is. */
export function ruleName(ruleId: string): string {
  return /^(SV-\d{1,15})r\d+(?:\.\d+)*(?:_|$)/.exec(ruleId)?.[1] ?? ruleId;
}

/** The number of a rule in `stig_evidence`: that of its SV-id, or a hash above all of those. */
export function ruleKey(ruleId: string): number {
  const name = ruleName(ruleId);
  return name === ruleId ? 2 ** 52 + numberOf(ruleId) : Number(name.slice(3));
}
