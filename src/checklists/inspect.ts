import { plainRuleId } from '../base/rule-ids.ts';
import { count, cut } from '../base/text.ts';
import type { CklbRule, CklbStig } from '../catalog/stigs/cklb-schema.ts';
import { compareRules, fieldChanges } from '../catalog/stigs/compare.ts';
import type { IdentifiedRelease } from '../catalog/stigs/identify.ts';
import { matchRules } from '../catalog/stigs/match.ts';
import type { FindingRow } from '../catalog/stigs/queries.ts';
import { adviceOf, errors, type FindingCode } from './advice.ts';
import type { OldChecklist } from './cklb-reader.ts';
import { type FaultCode, longestText } from './fields.ts';
import { inspectTarget } from './inspect-target.ts';
import type { Inspection, InspectionFinding } from './results-schema.ts';
import { nameOf, otherStig, placeOf, shortList, versionOf } from './stig-names.ts';
import { comparable, isAnswered } from './upgrade.ts';

export type InspectedStig = Inspection['stigs'][number];

export interface Fault {
  code: FaultCode;
  path: string;
  problem: string;
}

/** A checklist that may have faults for which other operations would refuse it. */
export interface FaultyChecklist {
  old: OldChecklist;
  faults: Fault[];
}

type Add = (code: FindingCode, message: string, groupId?: string | null) => void;

/** Collects findings, each with its severity and advice. */
export function createFindings() {
  const findings: InspectionFinding[] = [];
  const add: Add = (code, message, groupId = null) => {
    const severity = errors.has(code) ? 'error' : 'warning';
    findings.push({ code, severity, groupId, message, advice: adviceOf[code] });
  };
  return { findings, add };
}

/** Inspects a STIG of a checklist, pure (rule D29.4); its release is null outside the catalog. `before`: slugs above it. */
export function inspectStig(
  { old, faults }: FaultyChecklist,
  index: number,
  release: IdentifiedRelease | null,
  before: (string | null)[],
): InspectedStig {
  const stig = old.checklist.stigs[index]!;
  const { findings, add } = createFindings();
  const own = faults.filter(({ path }) => path.startsWith(`stigs[${index}]`));
  const ruleOf = (path: string) => {
    const at = /^stigs\[\d+\]\.rules\[(\d+)\]/.exec(path)?.[1];
    return at === undefined ? undefined : stig.rules[Number(at)];
  };
  const faulty = (code: FaultCode) =>
    new Set(own.flatMap((each) => (each.code === code ? (ruleOf(each.path) ?? []) : [])));

  if (index === 0) {
    for (const [code, message] of inspectTarget(old.checklist.target_data)) add(code, message);
    inspectLeftovers(old, add);
  }
  for (const { code, path, problem } of own)
    add(code, `${placeOf(path, old.checklist.stigs)} ${problem}`, ruleOf(path)?.group_id || null);
  inspectReleaseInfo(stig, add);
  if (release === null) add('unknown-stig', unknownStig(cut(nameOf(stig))));
  else {
    if (before.includes(release.target.release.slug))
      add('repeated-stig', `${release.target.release.title} is in the checklist twice`);
    const other = otherStig(nameOf(stig), release);
    if (other !== null) add('other-stig', other);
    inspectRelease(stig, release, add);
    inspectRules(stig, release, faulty('repeated-rule'), faulty('bad-severity'), add);
  }
  for (const rule of stig.rules) inspectAnswer(rule, add);
  return {
    ...headOf(release),
    rules: stig.rules.length,
    answered: stig.rules.filter(isAnswered).length,
    findings,
  };
}

/** The message for a file of a STIG outside the catalog; `name` may be empty. */
export const unknownStig = (name: string) =>
  `The catalog has no STIG ${name || 'that it names'}, and no STIG with its rules`;

/** The STIG and release of a file. */
export function headOf(
  release: IdentifiedRelease | null,
): Pick<InspectedStig, 'slug' | 'title' | 'version' | 'current'> {
  return {
    slug: release?.target.release.slug ?? null,
    title: release?.target.release.title ?? null,
    version: release?.target.release.version ?? null,
    current: release?.current.release.version ?? null,
  };
}

function inspectLeftovers({ leftovers, checklist }: OldChecklist, add: Add): void {
  for (const { path, value, reason } of leftovers) {
    const shown = `${placeOf(path, checklist.stigs)} is "${String(value).slice(0, 64)}"`;
    if (path === 'target_data.role') add('bad-role', shown);
    if (path === 'target_data.target_type') add('bad-target-type', shown);
    if (reason === 'this is not a UUID') add('bad-uuid', shown);
    const [, stig, rule, field] =
      /^stigs\[(\d+)\]\.rules\[(\d+)\]\.overrides\.severity\.(severity|reason)$/.exec(path) ?? [];
    if (rule === undefined) continue;
    const groupId = checklist.stigs[Number(stig)]!.rules[Number(rule)]!.group_id || null;
    if (field === 'severity') add('bad-severity', shown, groupId);
    else add('reason-without-override', 'The severity has a justification, but is not overridden', groupId);
  }
}

/** STIG Manager reads the release only from the release-info, and expects a blank after it. */
function inspectReleaseInfo({ release_info }: CklbStig, add: Add): void {
  if (
    !/Release:\s{0,20}\S{1,100}\s/.test(release_info.slice(0, 1000)) ||
    !/Release:\s*\d/i.test(release_info)
  )
    add('unreadable-release', `STIG Manager reads no release in "${release_info.slice(0, 64)}"`);
}

function inspectRelease(stig: CklbStig, release: IdentifiedRelease, add: Add): void {
  const { target, current, versions } = release;
  const { version } = target.release;
  const named = versionOf(stig);
  if (named !== null && named !== version) {
    const known = versions.includes(named) ? '' : ', which is not in the catalog';
    add('other-release', `It names ${named}${known}; its rule ids fit ${version} best`);
  }
  if (target === current || version === current.release.version) return;
  const { summary, changed } = compareRules(target.findings, current.findings);
  const answered = new Set(stig.rules.filter(isAnswered).map((rule) => plainRuleId(rule.rule_id_src)));
  const stale = changed.filter(
    ({ classes, old }) =>
      (classes.includes('check') || classes.includes('fix')) && answered.has(plainRuleId(old.ruleId)),
  );
  const review =
    stale.length === 0
      ? ''
      : `; ${count(stale.length, 'answered rule')} with another check or fix: ${shortList(stale.map((each) => each.new.groupId))}`;
  add(
    'old-release',
    `${version} is not the current release, ${current.release.version}: ${count(summary.added, 'rule')} added since, ${summary.removed} removed, ${summary.changed} changed${review}`,
  );
}

function inspectRules(
  stig: CklbStig,
  { target, versions }: IdentifiedRelease,
  repeated: Set<CklbRule>,
  withoutSeverity: Set<CklbRule>,
  add: Add,
): void {
  const { version } = target.release;
  const toIds = (rule: CklbRule) => ({ ...comparable(rule), rule });
  const { pairs, removed, added } = matchRules(stig.rules.map(toIds), target.findings);
  for (const { rule } of removed)
    if (!repeated.has(rule))
      add('unknown-rule', `${version} has no rule ${rule.rule_id_src.slice(0, 64)}`, rule.group_id || null);
  if (added.length > target.findings.length / 2)
    add(
      'missing-rule',
      `${added.length} of ${target.findings.length} rules of ${version} are missing: ${shortList(added.map((row) => row.groupId))}`,
    );
  else
    for (const row of added)
      add(
        'missing-rule',
        `The rule ${row.ruleId} of ${version} is missing: ${row.ruleTitle.slice(0, 100)}`,
        row.groupId,
      );

  const named = versionOf(stig);
  const isOther = named !== null && !versions.includes(named);
  let revisions = 0;
  for (const { old, new: row } of pairs) {
    const { rule } = old;
    const groupId = rule.group_id || row.groupId;
    const isExact = plainRuleId(rule.rule_id_src) === plainRuleId(row.ruleId);
    if (rule.rule_id_src !== '' && !isExact) {
      revisions++;
      if (!isOther)
        add(
          'other-revision',
          `The rule is ${rule.rule_id_src.slice(0, 64)}, in ${version} it is ${row.ruleId}`,
          groupId,
        );
      continue;
    }
    if (rule.group_id.trim() !== row.groupId || rule.rule_version.trim() !== row.ruleVersion)
      add(
        'ids-differ',
        `${row.ruleId} has the ids ${rule.group_id.slice(0, 64)} and ${rule.rule_version.slice(0, 64)}, in ${version} ${row.groupId} and ${row.ruleVersion}`,
        groupId,
      );
    for (const { field, class: each, old: stated } of fieldChanges(comparable(rule), row)) {
      if (stated === '') continue;
      if (each === 'check') add('check-differs', `Its check is not that of ${version}`, groupId);
      if (each === 'fix') add('fix-differs', `Its fix is not that of ${version}`, groupId);
      if (each === 'mapping') add('ccis-differ', `Its CCIs are not those of ${version}`, groupId);
      if (each === 'cosmetic' && field !== 'check' && field !== 'fix' && !isSameText(field, rule, row))
        add('text-differs', `Its ${field} is not that of ${version}`, groupId);
      if (each === 'severity' && !withoutSeverity.has(rule))
        add('severity-differs', `Its severity is ${rule.severity}, in ${version} ${row.severity}`, groupId);
    }
  }
  if (isOther && revisions > 0)
    add(
      'other-revision',
      `${count(revisions, 'rule')} of ${named} ${revisions === 1 ? 'has' : 'have'} another revision in ${version}`,
    );
}

const collapse = (text: string) => text.replace(/\s+/g, ' ').trim();

function isSameText(field: string, rule: CklbRule, row: FindingRow): boolean {
  return field === 'title'
    ? collapse(rule.rule_title) === collapse(row.ruleTitle)
    : collapse(rule.discussion) === collapse(row.vulnDiscussion);
}

function inspectAnswer(rule: CklbRule, add: Add): void {
  const { status, finding_details, comments, overrides } = rule;
  const groupId = rule.group_id || null;
  if (status !== 'not_reviewed' && finding_details.trim() === '')
    add('no-details', `The answer ${status} has no finding details`, groupId);
  const { severity } = overrides;
  if (severity && severity.reason.trim() === '')
    add(
      'override-without-reason',
      `The severity is overridden to ${severity.severity} without a reason`,
      groupId,
    );
  for (const [name, text] of Object.entries({ 'finding details': finding_details, comments }))
    if (text.length > longestText) add('long-text', `The ${name} have ${text.length} characters`, groupId);
}
