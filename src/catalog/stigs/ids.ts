import { numberOf } from '../../base/ids.ts';
import type { RuleIdentity } from './rule-head.ts';

/** The identifiers that match a rule between releases. */
export interface RuleIds extends RuleIdentity {
  /** The V- and SV-numbers that the rule had before. */
  legacyIds: string[];
}

/** A rule id without `_rule`. */
export const withoutEnding = (ruleId: string): string => ruleId.replace(/_rule$/i, '');

/** A rule id for comparison: without `_rule`, in one case. */
export const plainId = (ruleId: string): string => withoutEnding(ruleId.trim()).toUpperCase();

/** A rule id without its revision and `_rule`, for matching; another identifier stays as it is. */
export const ruleNumber = (id: string): string => id.trim().replace(/r\d+(_rule)?$|_rule$/i, '');

/** A rule id without its revision (rule F1.4), which changes with every text; another form stays as it is. */
export function ruleName(ruleId: string): string {
  return /^(SV-\d{1,15})r\d+(?:\.\d+)*(?:_|$)/.exec(ruleId)?.[1] ?? ruleId;
}

/** The number of a rule in `stig_evidence`: that of its SV-id, or a hash above all of those. */
export function ruleKey(ruleId: string): number {
  const name = ruleName(ruleId);
  return name === ruleId ? 2 ** 52 + numberOf(ruleId) : Number(name.slice('SV-'.length));
}

/** Every identifier of a rule, in upper case: V-id, SV-id without its revision, STIG id, legacy ones. */
export function idsOf({ groupId, ruleId, ruleVersion, legacyIds }: RuleIds): string[] {
  const ids = [...[groupId, ruleId, ...legacyIds].map(ruleNumber), ruleVersion.trim()];
  return ids.filter((id) => id !== '').map((id) => id.toUpperCase());
}

/** The identifiers that a caller may mean: the text itself, and a rule id without its revision. */
export function wantedIds(text: string): string[] {
  const id = text.trim().toUpperCase();
  return /^SV-|_RULE$/.test(id) ? [...new Set([id, ruleNumber(id)])] : [id];
}
