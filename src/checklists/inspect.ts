import { isNetwork } from '../base/addresses.ts';
import type { Ask } from '../base/ask.ts';
import { badRequest } from '../base/errors.ts';
import { plainRuleId } from '../base/rule-ids.ts';
import { count, cut } from '../base/text.ts';
import type { Cklb, CklbRule, CklbStig } from '../catalog/stigs/cklb-schema.ts';
import { compareRules, fieldChanges } from '../catalog/stigs/compare.ts';
import type { IdentifiedRelease } from '../catalog/stigs/identify.ts';
import { matchRules } from '../catalog/stigs/match.ts';
import type { FindingRow } from '../catalog/stigs/queries.ts';
import { check } from '../http/schema.ts';
import type { OldChecklist } from './cklb-reader.ts';
import { type FaultCode, longestText } from './fields.ts';
import { uploadJobs } from './jobs.ts';
import { nameOf, otherStig, placeOf, shortList, statedOf, versionOf } from './names.ts';
import { isResults, readChecklist } from './read-checklist.ts';
import { createRuleFinder, readResults, statedOfResults, statusOf } from './results.ts';
import type { ScanResults } from './results-reader.ts';
import { type Inspection, type InspectionFinding, inspectBody } from './results-schema.ts';
import { comparable, isAnswered } from './upgrade.ts';
import { answerOf, locatedAt, readBody, type Upgraded } from './upload.ts';

const adviceOf = {
  'unknown-stig': 'Import this STIG, then inspect the checklist again.',
  'other-stig': 'Check which STIG the file is of: write its name and benchmark id, or import that STIG.',
  'repeated-stig': 'Keep one of the two: tools read only the first, or merge both without a warning.',
  'unreadable-release':
    'Write the release-info as DISA does, such as "Release: 9 Benchmark Date: 01 Jul 2026", or upgrade the checklist.',
  'other-release': 'Upgrade the checklist to the intended release, so that name and rules agree.',
  'old-release': 'Upgrade the checklist to the current release and review the rules that changed.',
  'missing-rule': 'Upgrade the checklist to its own release: that adds the rule as not reviewed.',
  'unknown-rule': 'Remove the rule, or find out which STIG it belongs to.',
  'other-revision': 'Read the rule of this release again, then upgrade the checklist.',
  'ids-differ': 'Upgrade the checklist: that writes the identifiers of the release.',
  'repeated-rule': 'Keep one of the two answers.',
  'no-rule-id': 'Write the id of the rule: STIG Manager and STIG Viewer find rules by it.',
  'check-differs': 'Restore the check of the release, or say in the comments why you used another one.',
  'fix-differs': 'Restore the fix of the release.',
  'text-differs': 'Restore the title and the discussion of the release.',
  'severity-differs': 'Restore the severity, and use a severity override with its reason instead.',
  'ccis-differ': 'Restore the CCIs of the release: eMASS assigns results to controls by them.',
  'bad-status':
    'Use Not_Reviewed, Not_Applicable, Open or NotAFinding: STIG Manager drops a rule with another status.',
  'bad-severity': 'Use high, medium or low.',
  'no-details': 'Write your evidence into the finding details: STIG Manager and reviewers ask for it.',
  'long-text': 'Shorten it: STIG Manager and eMASS cut off the rest. Attach long output instead.',
  'override-without-reason': 'Write the justification of the severity override.',
  'reason-without-override': 'Override the severity, or remove the justification.',
  'no-host-name': 'Write the host name: STIG Manager refuses a checklist without one.',
  'long-target-field': 'Shorten it to 255 characters: STIG Manager cuts off the rest.',
  'bad-ip-address': 'Write IPv4 or IPv6 addresses, separated by commas.',
  'bad-mac-address': 'Write MAC addresses such as 00:15:5D:0E:92:0C, separated by commas.',
  'bad-fqdn': 'Write a fully qualified domain name such as web01.example.mil.',
  'bad-role': 'Use None, Workstation, Member Server or Domain Controller.',
  'bad-target-type': 'Use Computing or Non-Computing.',
  'bad-uuid': 'Save the checklist again: STIG Viewer 3 finds STIGs and rules by their UUIDs.',
} as const;

type FindingCode = keyof typeof adviceOf;

/** Findings for which tools refuse or misread a file. All others are warnings. */
export const errors = new Set<FindingCode>([
  'unknown-stig',
  'repeated-stig',
  'missing-rule',
  'unknown-rule',
  'repeated-rule',
  'no-rule-id',
  'bad-status',
  'bad-severity',
  'no-host-name',
]);

const longestField = 255;

const mac = /^(?:(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}|[0-9a-f]{12})$/i;
const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const domainName = new RegExp(`^${label}(?:\\.${label})*\\.?$`, 'i');

const each = (text: string) => text.split(/[,;\s]+/).filter((part) => part !== '');

type TargetData = Pick<Cklb['target_data'], 'host_name' | 'ip_address' | 'mac_address' | 'fqdn'>;

type InspectedStig = Inspection['stigs'][number];
type Add = (code: FindingCode, message: string, groupId?: string | null) => void;

/** Collects findings, each with its severity and advice. */
function createFindings() {
  const findings: InspectionFinding[] = [];
  const add: Add = (code, message, groupId = null) => {
    const severity = errors.has(code) ? 'error' : 'warning';
    findings.push({ code, severity, groupId, message, advice: adviceOf[code] });
  };
  return { findings, add };
}

/** What STIG Manager or eMASS refuses in the data about a target. */
function inspectTarget(target: TargetData, add: Add): void {
  const fields = Object.entries({
    'host name': target.host_name,
    'IP address': target.ip_address,
    'MAC address': target.mac_address,
    FQDN: target.fqdn,
  });
  if (target.host_name.trim() === '') add('no-host-name', 'The target has no host name');
  const isLong = (text: string) => text.length > longestField;
  for (const [name, text] of fields.filter(([, value]) => isLong(value)))
    add('long-target-field', `The ${name} of the target has ${text.length} characters`);
  const wrong = (text: string, isRight: (part: string) => boolean) =>
    isLong(text) ? undefined : each(text).find((part) => !isRight(part));
  const ip = wrong(target.ip_address, isNetwork);
  if (ip !== undefined) add('bad-ip-address', `"${ip.slice(0, 64)}" is no IP address`);
  const address = wrong(target.mac_address, (part) => mac.test(part));
  if (address !== undefined) add('bad-mac-address', `"${address.slice(0, 64)}" is no MAC address`);
  const fqdn = target.fqdn.trim();
  if (fqdn !== '' && !isLong(fqdn) && !domainName.test(fqdn))
    add('bad-fqdn', `"${fqdn.slice(0, 64)}" is no domain name`);
}

/** A fault of a checklist for which other operations refuse it. */
interface Fault {
  code: FaultCode;
  path: string;
  problem: string;
}

/** Inspects a STIG of a checklist, pure (rule D29.4); its release is null outside the catalog. `before`: slugs above it. */
function inspectStig(
  old: OldChecklist,
  faults: Fault[],
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
    inspectTarget(old.checklist.target_data, add);
    inspectLeftovers(old, add);
  }
  for (const { code, path, problem } of own)
    add(code, `${placeOf(path, old.checklist.stigs)} ${problem}`, ruleOf(path)?.group_id || null);
  inspectReleaseInfo(stig, add);
  if (release !== null && before.includes(release.target.release.slug))
    add('repeated-stig', `${release.target.release.title} is in the checklist twice`);
  inspectName(nameOf(stig), release, add);
  if (release !== null) {
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

/** Inspects the name of the STIG of a file, which may be empty. */
function inspectName(name: string, release: IdentifiedRelease | null, add: Add): void {
  const other = release && otherStig(name, release);
  if (other !== null) add('other-stig', other);
  if (release === null)
    add(
      'unknown-stig',
      `The catalog has no STIG ${cut(name) || 'that it names'}, and no STIG with its rules`,
    );
}

/** The STIG and release of a file. */
function headOf(
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

/** Inspects the results of a scan: their release, and what a checklist made of them would lack. */
function inspectResults(scan: ScanResults, release: IdentifiedRelease | null): InspectedStig {
  const { findings, add } = createFindings();
  const { hostName, ipAddress, macAddress, fqdn } = scan.target;
  inspectTarget({ host_name: hostName, ip_address: ipAddress, mac_address: macAddress, fqdn }, add);
  const answered = new Set<string>();
  const rules = new Set(scan.results.map(({ id }) => plainRuleId(id)));
  const find = release && createRuleFinder(release);
  inspectName(scan.benchmarkId, release, add);
  const { version, current } = headOf(release);
  if (version !== current) add('old-release', `${version} is not the current release, ${current}`);
  for (const result of scan.results) {
    if (statusOf(result.result) !== 'not_reviewed') answered.add(plainRuleId(result.id));
    if (!find) continue;
    const match = find.rule(result);
    if (match === null)
      add('unknown-rule', `${version} has no rule ${result.id.slice(0, 64)}: ${result.result.slice(0, 64)}`);
    else if (match.matchedBy !== 'ruleId')
      add(
        'other-revision',
        `The rule is ${result.id.slice(0, 64)}, in ${version} it is ${match.row.ruleId}`,
        match.row.groupId,
      );
  }
  for (const [id, results] of Map.groupBy(scan.results, (each) => each.id)) {
    const words = shortList(results.map(({ result }) => result));
    if (results.length > 1)
      add('repeated-rule', `${id.slice(0, 64)} has ${results.length} results: ${words}`);
  }
  return { ...headOf(release), rules: rules.size, answered: answered.size, findings };
}

/** Inspects a body: JSON with `checklist` or `results`, or a ckl, cklb or results file itself. Throws a 400. */
export async function inspectWork(ask: Ask, bytes: Uint8Array): Promise<Upgraded> {
  const body = readBody(bytes);
  if ('file' in body) return answerOf(await locatedAt('', () => inspectionOf(ask, body.file)));
  const { checklist, results } = check(inspectBody, body.envelope);
  if ((checklist === undefined) === (results === undefined))
    throw badRequest('The body must have either checklist or results');
  const pointer = checklist === undefined ? '/results' : '/checklist';
  return answerOf(await locatedAt(pointer, () => inspectionOf(ask, (checklist ?? results)!)));
}

/** Inspects a checklist or scan results. Throws a 400 for other content. */
export async function inspectionOf(ask: Ask, given: string | object | Uint8Array): Promise<Inspection> {
  if (isResults(given)) {
    const scan = readResults(given);
    const release = await ask(uploadJobs.identifiedRelease, statedOfResults(scan));
    return { kind: scan.kind, stigs: [inspectResults(scan, release)] };
  }
  const faults: Fault[] = [];
  const old = readChecklist(given, (code, path, problem) => faults.push({ code, path, problem }));
  const stigs: Inspection['stigs'] = [];
  for (const [index, stig] of old.checklist.stigs.entries()) {
    const release = await ask(uploadJobs.identifiedRelease, statedOf(stig));
    const before = stigs.map(({ slug }) => slug);
    stigs.push(inspectStig(old, faults, index, release, before));
  }
  return { kind: old.format, stigs };
}
