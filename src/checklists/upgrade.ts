import { badRequest } from '../base/errors.ts';
import { stableId } from '../base/ids.ts';
import { pick } from '../base/objects.ts';
import { cut } from '../base/text.ts';
import type { Cklb, CklbRule, CklbStig } from '../catalog/stigs/cklb-schema.ts';
import { toCklb } from '../catalog/stigs/cklb-writer.ts';
import { classesOf, fieldChanges } from '../catalog/stigs/compare.ts';
import type { ChangeClass, FieldChange } from '../catalog/stigs/diff-schema.ts';
import { matchRules } from '../catalog/stigs/match.ts';
import type { FullRelease } from '../catalog/stigs/queries.ts';
import type { OldChecklist } from './cklb-reader.ts';
import { dateOf, isOlder, nameOf, placeOf, shortList, stigNames, versionOf } from './names.ts';
import type {
  Leftover,
  NotCarried,
  RuleAnswer,
  Upgrade,
  UpgradeBody,
  UpgradedRule,
  UpgradeReport,
} from './schema.ts';

type AnswerOptions = Pick<UpgradeBody, 'hostName' | 'onChange' | 'format'> & {
  /** Whether the target may be a release before that of the checklist (rule D42.4). */
  allowOlder?: boolean | undefined;
};

/**
 * Moves one STIG of a checklist to a release, pure: each rule gets the answer of its predecessor, with a report. `names` are
 * those in the checklist that name the release's STIG. Throws a 400 when there is none, and no shared rule either.
 */
export function upgradeChecklist(
  old: OldChecklist,
  target: FullRelease,
  names: string[],
  options: AnswerOptions,
): Upgrade {
  const index = indexOfStig(old.checklist.stigs, target, names);
  const { checklist, report, isLeft } = moveStig(old, target, index, options);
  return { checklist: isLeft ? checklist : withIds(checklist, [index]), report };
}

/**
 * The same for the STIG of an index, without the ids that depend on all content; also gives whether it was left as it is,
 * because the target is older.
 */
export function moveStig(
  old: OldChecklist,
  target: FullRelease,
  index: number,
  { hostName, onChange, format, allowOlder = false }: AnswerOptions,
): Upgrade & { isLeft: boolean } {
  const made = toCklb(target);
  const before = old.checklist.stigs[index]!;
  const isLeft = !allowOlder && isOlder(target.release.version, versionOf(before));
  const template = isLeft ? { ...made, title: old.checklist.title } : made;
  const fresh = isLeft ? before : made.stigs[0]!;

  const { pairs, removed } = isLeft ? toItself(before) : matchStig(before, fresh);
  const pairOf = new Map(pairs.map((pair) => [pair.new.rule, pair]));
  const reports: UpgradedRule[] = [];
  const rules = fresh.rules.map((rule) => {
    const pair = pairOf.get(rule);
    const report = reportOf(rule, pair?.old.rule ?? null, pair?.matchedBy ?? null, onChange);
    reports.push(report);
    if (!pair) return rule;
    const answer = report.outcome === 'reset' ? {} : answerOf(pair.old.rule);
    return { ...rule, ...answer, ...markingOf(pair.old.rule) };
  });
  const gone = removed.map((each) => goneRule(each.rule));
  const markings = removed.flatMap((each) => goneMarking(each.rule));
  const { checklist } = old;
  const summary = summaryOf(reports, gone);
  const others = checklist.stigs.filter((each) => each !== before);
  const title = titleOf(checklist.title, before, template.title);
  return {
    isLeft,
    checklist: {
      ...checklist,
      title,
      target_data: { ...checklist.target_data, ...(hostName === undefined ? {} : { host_name: hostName }) },
      stigs: isLeft ? checklist.stigs : checklist.stigs.with(index, { ...fresh, rules }),
    },
    report: {
      from: {
        format: old.format,
        id: old.id,
        benchmarkId: before.stig_id,
        title: before.stig_name,
        version: versionOf(before),
        releaseInfo: before.release_info,
      },
      to: isLeft ? asItIs(before, target) : headOf(target),
      warnings: [
        ...old.warnings,
        ...(isLeft ? [whyLeft(before, target)] : carriesNothing(summary) ? [nothingCarried(target)] : []),
      ],
      summary,
      rules: reports,
      notCarried: [
        ...gone,
        ...markings,
        ...old.leftovers.map((each) => ({ ...each, place: placeOf(each.path, checklist.stigs) })),
        ...(format === 'ckl' && title !== template.title ? [lostTitle(title)] : []),
      ],
      otherStigs: others.map((each) => ({
        benchmarkId: each.stig_id,
        title: each.stig_name,
        rules: each.rules.length,
      })),
    },
  };
}

const headOf = ({ release }: FullRelease): UpgradeReport['to'] =>
  pick(release, 'slug', 'benchmarkId', 'title', 'version', 'releaseInfo', 'releaseDate');

/** The release of a STIG that stays as it is. */
function asItIs(stig: CklbStig, { release }: FullRelease): UpgradeReport['to'] {
  const { stig_id: benchmarkId, stig_name: title, release_info: releaseInfo } = stig;
  const version = versionOf(stig)!;
  return { slug: release.slug, benchmarkId, title, version, releaseInfo, releaseDate: dateOf(releaseInfo) };
}

const whyLeft = (stig: CklbStig, { release }: FullRelease) =>
  `${release.title} stays at ${versionOf(stig)}: the catalog has nothing newer than ${release.version}. To go to that older release, name it as version, or allow older releases`;

/** Whether no answer finds its rule in the release; of a checklist without answers, whether no rule does. */
function carriesNothing({
  carried,
  carriedWithWarning,
  reset,
  removed,
  answers,
}: UpgradeReport['summary']): boolean {
  return answers.notCarried > 0
    ? answers.carried + answers.carriedWithWarning + answers.reset === 0
    : carried + carriedWithWarning + reset === 0 && removed > 0;
}

const nothingCarried = ({ release }: FullRelease) =>
  `Nothing is carried: none of its answered rules is in ${release.title} ${release.version}. Check that it is the STIG of this checklist`;

const toItself = ({ rules }: CklbStig): ReturnType<typeof matchStig> => ({
  pairs: rules.map((rule) => ({ old: toIds(rule), new: toIds(rule), matchedBy: 'stigId' })),
  removed: [],
  added: [],
});

const toIds = (rule: CklbRule) => ({
  rule,
  groupId: rule.group_id,
  ruleId: rule.rule_id_src,
  ruleVersion: rule.rule_version,
  legacyIds: rule.legacy_ids,
});

function matchStig(before: CklbStig, fresh: CklbStig) {
  return matchRules(before.rules.map(toIds), fresh.rules.map(toIds));
}

/** The index of the STIG to move: with one of the names, else with most shared rules; -1 for none. */
export function chooseStig(candidates: CklbStig[], fresh: CklbStig, names: string[]): number {
  const named = candidates.filter((each) => names.includes(nameOf(each)));
  if (named.length === 1) return candidates.indexOf(named[0]!);
  // Products may have one benchmark id: their rules distinguish them.
  const among = named.length > 0 ? named : candidates;
  const shared = among.map((each) => matchStig(each, fresh).pairs.length);
  const most = Math.max(...shared);
  return most === 0 && named.length === 0 ? -1 : candidates.indexOf(among[shared.indexOf(most)]!);
}

/** The same for a release. Throws a 400 where there is none. */
export function indexOfStig(stigs: CklbStig[], target: FullRelease, names: string[]): number {
  const index = chooseStig(stigs, toCklb(target).stigs[0]!, names);
  if (index < 0) throw noSuchStig(stigs, target.release.slug);
  return index;
}

function noSuchStig(stigs: CklbStig[], slug: string): Error {
  const names = stigNames(stigs);
  const naming = names.length === 0 ? 'names no STIG' : `names ${shortList(names)}`;
  return badRequest(
    `checklist: none of its STIGs is ${cut(slug)} or shares a rule with it; it ${naming}. Choose its STIG, or import that STIG first`,
    '/checklist',
  );
}

/** The fields of a rule for a comparison. */
export function comparable(rule: CklbRule) {
  return {
    ...toIds(rule),
    ruleTitle: rule.rule_title,
    severity: rule.severity,
    vulnDiscussion: rule.discussion,
    checkContent: rule.check_content,
    fixText: rule.fix_text,
    ccis: rule.ccis,
  };
}

function reportOf(
  rule: CklbRule,
  old: CklbRule | null,
  matchedBy: UpgradedRule['matchedBy'],
  onChange: AnswerOptions['onChange'],
): UpgradedRule {
  const changes = old ? fieldChanges(comparable(old), comparable(rule)) : [];
  const classes = classesOf(changes);
  const isStale = classes.includes('check') || classes.includes('fix');
  const outcome = !old
    ? 'new'
    : isStale && onChange === 'reset'
      ? 'reset'
      : isStale || classes.includes('severity')
        ? 'carried-with-warning'
        : 'carried';
  const answered = old !== null && isAnswered(old);
  return {
    outcome,
    reason: reasonOf(outcome, classes, changes, old),
    ...pick(toIds(rule), 'groupId', 'ruleId', 'ruleVersion'),
    oldGroupId: old?.group_id ?? null,
    oldRuleId: old?.rule_id_src ?? null,
    oldRuleVersion: old?.rule_version ?? null,
    matchedBy,
    classes,
    changes,
    answered,
    lost: outcome === 'reset' && answered ? answerOf(old) : null,
  };
}

const categories: Record<string, string> = {
  high: 'CAT I (high)',
  medium: 'CAT II (medium)',
  low: 'CAT III (low)',
};

function reasonOf(
  outcome: UpgradedRule['outcome'],
  classes: ChangeClass[],
  changes: FieldChange[],
  old: CklbRule | null,
): string {
  if (outcome === 'new') return 'The old checklist does not have this rule';
  const reasons = changes
    .filter(({ field, class: each }) => each === field)
    .map(({ field, old: was, new: now }) => {
      if (was === '') return `the old checklist has no ${field} text to compare`;
      return field === 'severity'
        ? `its severity changed from ${categories[was]} to ${categories[now]}`
        : `its ${field} changed`;
    });
  if (classes.includes('mapping')) reasons.push('its CCIs changed');
  if (classes.includes('severity') && old?.overrides.severity)
    reasons.push('its severity is overridden: check whether that is still needed');
  if (outcome === 'reset') reasons.push('the request asks to reset such answers');
  if (reasons.length === 0)
    reasons.push(
      classes.length > 0 ? 'only wording or spacing changed' : 'nothing relevant to the answer changed',
    );
  const text = reasons.join('; ');
  return text[0]!.toUpperCase() + text.slice(1);
}

const answerOf = (rule: CklbRule): RuleAnswer =>
  pick(rule, 'status', 'finding_details', 'comments', 'overrides');

/** Whether an assessor wrote anything about a rule. */
export function isAnswered({ status, finding_details, comments, overrides }: CklbRule): boolean {
  return (
    status !== 'not_reviewed' ||
    finding_details.trim() !== '' ||
    comments.trim() !== '' ||
    !!overrides.severity
  );
}

function markingOf({ classification }: CklbRule): Partial<CklbRule> {
  return /^(unclass(ified)?|none|)$/i.test(classification.trim()) ? {} : { classification };
}

const noRule = 'the release no longer has this rule';

function goneMarking(rule: CklbRule): Leftover[] {
  const { classification } = markingOf(rule);
  if (classification === undefined) return [];
  return [
    { kind: 'field', reason: noRule, path: `${rule.rule_id_src}.classification`, value: classification },
  ];
}

function goneRule(rule: CklbRule): Extract<NotCarried, { kind: 'rule' }> {
  return {
    kind: 'rule',
    reason: noRule,
    ...pick(toIds(rule), 'groupId', 'ruleId', 'ruleVersion'),
    ruleTitle: rule.rule_title,
    answered: isAnswered(rule),
    answer: answerOf(rule),
  };
}

function summaryOf(reports: UpgradedRule[], gone: { answered: boolean }[]): UpgradeReport['summary'] {
  const counts = (among: UpgradedRule[]) => {
    const having = (outcome: UpgradedRule['outcome']) =>
      among.filter((each) => each.outcome === outcome).length;
    return {
      carried: having('carried'),
      carriedWithWarning: having('carried-with-warning'),
      reset: having('reset'),
    };
  };
  const isAnswered = ({ answered }: { answered: boolean }) => answered;
  return {
    rules: reports.length,
    ...counts(reports),
    new: reports.filter(({ outcome }) => outcome === 'new').length,
    removed: gone.length,
    answers: { ...counts(reports.filter(isAnswered)), notCarried: gone.filter(isAnswered).length },
  };
}

function titleOf(title: string, before: CklbStig, fresh: string): string {
  const isMade = title.trim() === '' || title === `${before.display_name} ${versionOf(before)}`;
  return isMade ? fresh : title;
}

const lostTitle = (value: string): Leftover => ({
  kind: 'field',
  reason: 'a ckl has no field for this',
  path: 'title',
  value,
});

/** Derives the ids of the checklist and of its upgraded STIGs, by index, from all their content (rule D5.1). */
export function withIds(checklist: Cklb, upgraded: number[]): Cklb {
  const id = stableId('cklb-upgrade', JSON.stringify(checklist));
  const stigs = checklist.stigs.slice();
  for (const index of new Set(upgraded)) {
    const stig = stigs[index]!;
    const stigUuid = stableId('cklb-upgrade-stig', id, String(index));
    const rules = stig.rules.map((rule) => {
      const uuid = stableId('cklb-upgrade-rule', id, rule.rule_id_src);
      return { ...rule, uuid, stig_uuid: stigUuid };
    });
    stigs[index] = { ...stig, uuid: stigUuid, rules };
  }
  return { ...checklist, id, stigs };
}
