import { ruleNumber } from '../../base/rule-ids.ts';
import type { RuleIdentity } from './rule-head.ts';

/** The identifiers that match a rule between releases. */
export interface RuleIds extends RuleIdentity {
  /** The V- and SV-numbers that the rule had before. */
  legacyIds: string[];
}

/** Every identifier of a rule, in upper case: V-id, SV-id without its revision, STIG id, legacy ones. */
export function idsOf({ groupId, ruleId, ruleVersion, legacyIds }: RuleIds): string[] {
  const ids = [...[groupId, ruleId, ...legacyIds].map(ruleNumber), ruleVersion.trim()];
  return ids.filter((id) => id !== '').map((id) => id.toUpperCase());
}

/** The identifiers that a caller may mean: the text itself, and a rule id without its revision. */
export function matchingIds(text: string): string[] {
  const id = text.trim().toUpperCase();
  return /^SV-|_RULE$/.test(id) ? [...new Set([id, ruleNumber(id)])] : [id];
}
