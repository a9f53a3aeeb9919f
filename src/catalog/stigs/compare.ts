import { pick } from '../../base/objects.ts';
import type { ChangeClass, ChangedRule, FieldChange, StigComparison } from './diff-schema.ts';
import type { RuleIds } from './ids.ts';
import { changeClasses, matchRules } from './match.ts';
import { headOf, type RuleHead, type RuleIdentity } from './rule-head.ts';

/** The fields of a rule that a comparison uses. */
export interface ComparableRule extends RuleHead, RuleIds {
  vulnDiscussion: string;
  checkContent: string;
  fixText: string;
  ccis: string[];
}

/** Each text of a rule: its name in answers, its column, and the class of a change of its words. */
const texts = [
  ['title', 'ruleTitle', 'cosmetic'],
  ['severity', 'severity', 'severity'],
  ['discussion', 'vulnDiscussion', 'cosmetic'],
  ['check', 'checkContent', 'check'],
  ['fix', 'fixText', 'fix'],
] as const;

/** Makes each run of blanks and line ends one blank. For speed, the pattern skips single blanks. */
export const collapse = (text: string) => text.replace(/[^\S ]\s*| \s+/g, ' ').trim();

/** The fields in which two printings of a rule differ, in order. Blanks alone are cosmetic; commands need punctuation. */
export function fieldChanges(before: ComparableRule, after: ComparableRule): FieldChange[] {
  const changes: FieldChange[] = [];
  for (const [field, column, ofWords] of texts) {
    const [old, now] = [before[column], after[column]];
    if (old === now) continue;
    const isBlank = collapse(old) === collapse(now);
    changes.push({ field, class: isBlank ? 'cosmetic' : ofWords, old, new: now });
  }
  const added = newOnes(before.ccis, after.ccis);
  const removed = newOnes(after.ccis, before.ccis);
  if (added.length + removed.length > 0)
    changes.push({ field: 'ccis', class: 'mapping', old: before.ccis, new: after.ccis, added, removed });
  return changes;
}

/** The texts of a list that another lacks, each once. */
function newOnes(before: string[], after: string[]): string[] {
  const known = new Set(before);
  return [...new Set(after)].filter((each) => !known.has(each));
}

/** The classes of some changes, each once, the primary one first. */
export function classesOf(changes: FieldChange[]): ChangeClass[] {
  return changeClasses.filter((each) => changes.some((change) => change.class === each));
}

/** Whether two rules differ in any identifier, the revision included. */
export function isRenumbered(old: RuleIdentity, now: RuleIdentity): boolean {
  return old.groupId !== now.groupId || old.ruleId !== now.ruleId || old.ruleVersion !== now.ruleVersion;
}

const identityOf = (rule: RuleIdentity): RuleIdentity => pick(rule, 'groupId', 'ruleId', 'ruleVersion');

/** Compares the rules of two releases: each is added, removed, changed, renumbered (only its ids) or unchanged. */
export function compareRules(olds: ComparableRule[], news: ComparableRule[]): StigComparison {
  const { pairs, removed, added } = matchRules(olds, news);
  const changed: ChangedRule[] = [];
  const renumbered: StigComparison['renumbered'] = [];
  const classes = { check: 0, fix: 0, severity: 0, mapping: 0, cosmetic: 0 };
  for (const { old, new: now, matchedBy } of pairs) {
    const { ruleTitle, severity } = now;
    const matched = { matchedBy, old: identityOf(old), new: identityOf(now), ruleTitle, severity };
    const fields = fieldChanges(old, now);
    const [primary, ...others] = classesOf(fields);
    if (primary !== undefined) {
      changed.push({ ...matched, class: primary, classes: [primary, ...others], fields });
      classes[primary]++;
    } else if (isRenumbered(old, now)) renumbered.push(matched);
  }
  const before = olds.map(({ groupId }) => groupId);
  const after = news.map(({ groupId }) => groupId);
  return {
    summary: {
      added: added.length,
      removed: removed.length,
      changed: changed.length,
      renumbered: renumbered.length,
      unchanged: pairs.length - changed.length - renumbered.length,
      classes,
    },
    groupIds: { added: newOnes(before, after), removed: newOnes(after, before) },
    added: added.map(headOf),
    removed: removed.map(headOf),
    changed,
    renumbered,
  };
}
