import { changeClasses } from './change-classes.ts';
import type {
  ChangeClass,
  ChangedRule,
  FieldChange,
  RuleHeading,
  RuleIdentity,
  StigComparison,
} from './diff-schema.ts';
import { matchRules, type RuleIds } from './match.ts';

/** The fields of a rule that a comparison uses. */
export interface ComparableRule extends RuleIds {
  title: string;
  severity: RuleHeading['severity'];
  discussion: string;
  check: string;
  fix: string;
  ccis: string[];
}

const textClasses = [
  ['title', 'cosmetic'],
  ['severity', 'severity'],
  ['discussion', 'cosmetic'],
  ['check', 'check'],
  ['fix', 'fix'],
] as const;

/** Makes each run of blanks and line ends one blank. For speed, the pattern skips single blanks. */
export const collapse = (text: string) => text.replace(/[^\S ]\s*| \s+/g, ' ').trim();

/** The fields in which two printings of a rule differ, in order. Blanks alone are cosmetic; commands need punctuation. */
export function fieldChanges(old: ComparableRule, now: ComparableRule): FieldChange[] {
  const changes: FieldChange[] = [];
  for (const [field, ofWords] of textClasses) {
    if (old[field] === now[field]) continue;
    const isBlank = collapse(old[field]) === collapse(now[field]);
    changes.push({ field, class: isBlank ? 'cosmetic' : ofWords, old: old[field], new: now[field] });
  }
  const [before, after] = [new Set(old.ccis), new Set(now.ccis)];
  const added = [...after].filter((cci) => !before.has(cci));
  const removed = [...before].filter((cci) => !after.has(cci));
  if (added.length + removed.length > 0)
    changes.push({ field: 'ccis', class: 'mapping', old: old.ccis, new: now.ccis, added, removed });
  return changes;
}

/** The classes of some changes, each once, the primary one first. */
export function classesOf(changes: FieldChange[]): ChangeClass[] {
  return changeClasses.filter((each) => changes.some((change) => change.class === each));
}

/** Whether two rules differ in any identifier, the revision included. */
export function isRenumbered(old: RuleIds, now: RuleIds): boolean {
  return old.groupId !== now.groupId || old.ruleId !== now.ruleId || old.ruleVersion !== now.ruleVersion;
}

/** The identifiers of a rule in answers. */
export function identityOf({ groupId, ruleId, ruleVersion }: RuleIds): RuleIdentity {
  return { groupId, ruleId, ruleVersion };
}

/** Compares the rules of two releases: each is added, removed, changed, renumbered (only its ids) or unchanged. */
export function compareRules(olds: ComparableRule[], news: ComparableRule[]): StigComparison {
  const { pairs, removed, added } = matchRules(olds, news);
  const changed: ChangedRule[] = [];
  const renumbered: StigComparison['renumbered'] = [];
  const classes = { check: 0, fix: 0, severity: 0, mapping: 0, cosmetic: 0 };
  for (const { old, new: now, matchedBy } of pairs) {
    const fields = fieldChanges(old, now);
    const { ruleTitle, severity } = headingOf(now);
    const matched = { matchedBy, old: identityOf(old), new: identityOf(now), ruleTitle, severity };
    const [primary, ...others] = classesOf(fields);
    if (primary !== undefined) {
      changed.push({ ...matched, class: primary, classes: [primary, ...others], fields });
      classes[primary]++;
    } else if (isRenumbered(old, now)) renumbered.push(matched);
  }
  const [before, after] = [olds, news].map((rules) => new Set(rules.map((rule) => rule.groupId)));
  return {
    summary: {
      added: added.length,
      removed: removed.length,
      changed: changed.length,
      renumbered: renumbered.length,
      unchanged: pairs.length - changed.length - renumbered.length,
      classes,
    },
    groupIds: {
      added: [...after!].filter((id) => !before!.has(id)),
      removed: [...before!].filter((id) => !after!.has(id)),
    },
    added: added.map(headingOf),
    removed: removed.map(headingOf),
    changed,
    renumbered,
  };
}

function headingOf(rule: ComparableRule): RuleHeading {
  return { ...identityOf(rule), ruleTitle: rule.title, severity: rule.severity };
}
