import { count, strip } from '../../src/base/text.ts';
import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { scanResults } from '../../src/read/scan-results.ts';
import type { XmlElement } from '../../src/read/xml.ts';
import type { Losses } from '../read/losses.ts';
import { firstOf } from '../read/source-text.ts';
import { slugStemOf } from './slug.ts';
import type { BenchmarkBuilder, RawBenchmark, RawProfile, RawRule, XccdfGroup } from './xccdf-builder.ts';
import { readDescription, unwrap } from './xccdf-description.ts';
import type { XccdfFinding, XccdfProfile, XccdfRelease } from './xccdf-record.ts';
import { isDate, readReleaseInfo, versionOf } from './xccdf-release.ts';

/** DISA's manual STIGs are XCCDF 1.1; most XCCDF 1.2 is SCAP. */
const xccdfNamespaces = {
  '1.1': 'http://checklists.nist.gov/xccdf/1.1',
  '1.2': 'http://checklists.nist.gov/xccdf/1.2',
};

const namespaces = Object.values(xccdfNamespaces);

/** True for the root of an XCCDF benchmark of any publisher. */
export function isBenchmark(root: XmlElement): boolean {
  return root.local === 'Benchmark' && namespaces.includes(root.uri);
}

/** Whether bytes begin like a benchmark. */
export function looksLikeBenchmark(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, 4096);
  return (
    /^(?:\xef\xbb\xbf)?\s*</.test(head) &&
    /<(?:[\w.-]+:)?Benchmark\s/.test(head) &&
    namespaces.some((namespace) => head.includes(namespace))
  );
}

/** A release of a DISA manual STIG, or why a benchmark is none. */
export type XccdfResult =
  | { release: XccdfRelease; warnings: string[] }
  | { kind: 'xccdf' | 'scap' | 'other'; reason: string };

/**
 * Interprets a benchmark (rules F1.2 to F1.7). Returns only a reason for scan results (rule D29.5), SCAP content and
 * benchmarks of other publishers. Throws `ImportError` for an incomplete or contradictory one of DISA.
 */
export function interpretBenchmark(builder: BenchmarkBuilder): XccdfResult {
  if (builder.holdsResults)
    return { kind: 'xccdf', reason: `a benchmark with an XCCDF TestResult: ${scanResults}` };
  const raw = builder.benchmark;
  const rules = raw.groups.flatMap((group) => group.rules);
  const checks = rules.flatMap((rule) => rule.checks);
  if (
    checks.some((check) => /oval|ocil/i.test(check.system)) &&
    checks.every((check) => check.content.trim() === '')
  ) {
    return {
      kind: 'scap',
      reason: 'a SCAP benchmark (automated checks): it cannot be imported as a STIG',
    };
  }
  const releaseText = raw.plainTexts.find((plain) => plain.id === 'release-info')?.text;
  const version = raw.version.trim();
  const is12 = builder.uri === xccdfNamespaces['1.2'];
  if (is12 && !hasMarksOfManual(releaseText, version, checks)) {
    return {
      kind: 'scap',
      reason:
        'an XCCDF 1.2 benchmark without the marks of a manual STIG of DISA (release-info, a whole number as version, texts of checks)',
    };
  }
  if (releaseText === undefined && !/^\d+$/.test(version)) {
    return {
      kind: 'other',
      reason: 'an XCCDF benchmark of another publisher: no release-info, no DISA version',
    };
  }
  if (releaseText === undefined) throw new ImportError('the benchmark has no release-info');
  return interpretManual(builder, releaseText, version, rules);
}

/** Other publishers use XCCDF 1.2 too, with versions like `2`: require all marks of DISA's manual STIGs. */
function hasMarksOfManual(
  releaseText: string | undefined,
  version: string,
  checks: RawRule['checks'],
): boolean {
  return (
    releaseText !== undefined && /^\d+$/.test(version) && checks.some((check) => check.content.trim() !== '')
  );
}

function interpretManual(
  { benchmark: raw, losses }: BenchmarkBuilder,
  releaseText: string,
  version: string,
  rules: RawRule[],
): XccdfResult {
  const warnings: string[] = [];
  const remarks: Remarks = new Map();
  const benchmarkId = raw.id.trim();
  const title = raw.title.trim();
  if (benchmarkId === '') throw new ImportError('the benchmark has no id');
  if (title === '') throw new ImportError('the benchmark has no title');
  slugStemOf({ title, benchmarkId });
  if (raw.looseRules > 0) throw new ImportError(`${count(raw.looseRules, 'rule')} outside any group`);
  if (rules.length === 0) throw new ImportError('the benchmark has no rules');
  const info = readReleaseInfo(releaseText);
  const { text: status, date: statusDate } = newestStatus(raw.statuses, warnings);
  if (info.benchmarkDate === null && statusDate === null)
    warnings.push('the release has neither a benchmark date nor a status date');
  const findings = raw.groups.flatMap((group) =>
    group.rules.map((rule) => interpretRule(group, rule, { remarks, losses })),
  );
  for (const group of raw.groups)
    if (group.rules.length === 0 && `${group.title}${group.description}`.trim() !== '')
      losses.add('Group without a rule of its own');
  checkIds(raw, findings);
  const groupIds = new Set(raw.groups.map((group) => group.id));
  warnOfUnknownGroups(raw.profiles, groupIds, warnings);
  for (const [what, [first, ...more]] of remarks)
    warnings.push(
      more.length === 0
        ? `the rule ${first} has ${what}`
        : `${more.length + 1} rules have ${what.replace('counts', 'count')}: ${firstOf([first!, ...more])}`,
    );
  return {
    release: {
      benchmarkId,
      title,
      description: raw.description.trim(),
      version: versionOf(version, info.release),
      releaseInfo: releaseText.trim(),
      status,
      statusDate,
      benchmarkDate: info.benchmarkDate,
      profiles: raw.profiles.map((profile) => interpretProfile(profile, groupIds)),
      findings,
    },
    warnings: [...warnings, ...losses.warnings()],
  };
}

/** The newest status by date, the last one of a date; undated ones count as oldest. */
function newestStatus(
  statuses: RawBenchmark['statuses'],
  warnings: string[],
): RawBenchmark['statuses'][number] {
  const dated = statuses.map(({ text, date }) => {
    const stated = date?.trim() ?? null;
    if (stated === null || isDate(stated)) return { text, date: stated };
    warnings.push(`the status date "${stated.slice(0, 40)}" is not a date and was ignored`);
    return { text, date: null };
  });
  return dated.reduce((newest, each) => ((each.date ?? '') >= (newest.date ?? '') ? each : newest), {
    text: '',
    date: null,
  });
}

function checkIds(raw: RawBenchmark, findings: XccdfFinding[]): void {
  const seen = new Set<string>();
  for (const finding of findings) {
    if (seen.has(finding.ruleId))
      throw new ImportError(`the rule id ${finding.ruleId.slice(0, 64)} occurs twice`);
    seen.add(finding.ruleId);
  }
  for (const group of raw.groups) if (group.id === '') throw new ImportError('a group has no id');
}

function interpretProfile(profile: RawProfile, groupIds: Set<string>): XccdfProfile {
  const selected = new Set(profile.selected);
  return {
    profileId: profile.id,
    title: profile.title.trim(),
    description: unwrap(profile.description, 'ProfileDescription'),
    unselected: [...groupIds].filter((id) => !selected.has(id)),
  };
}

/** Some truncated copies select missing groups: a warning, no failure (rule F1.3). */
function warnOfUnknownGroups(profiles: RawProfile[], groupIds: Set<string>, warnings: string[]): void {
  const unknown = new Set(profiles.flatMap((profile) => profile.selected).filter((id) => !groupIds.has(id)));
  if (unknown.size === 0) return;
  const [first] = unknown;
  warnings.push(
    `the profiles select ${unknown.size} groups that do not exist (first: ${first!.slice(0, 64)})`,
  );
}

/** What rules have that is read in a way of our own, with their ids. */
type Remarks = Map<string, string[]>;

function remark(remarks: Remarks, { id }: RawRule, what: string): void {
  const known = remarks.get(what);
  if (known) known.push(id.slice(0, 64));
  else remarks.set(what, [id.slice(0, 64)]);
}

function interpretRule(
  group: XccdfGroup,
  rule: RawRule,
  { remarks, losses }: { remarks: Remarks; losses: Losses },
): XccdfFinding {
  if (rule.id.trim() === '') throw new ImportError(`a rule of group ${group.id.slice(0, 64)} has no id`);
  const weight = rule.weight.trim() || '10.0';
  if (!Number.isFinite(Number(weight)))
    remark(remarks, rule, `the weight "${weight.slice(0, 20)}", which is not a number`);
  const parts = readDescription(rule.descriptions.join('\n\n'), losses);
  for (const _other of rule.identifiers.slice(1)) losses.add('reference/identifier beside the first');
  const [check, ...others] = rule.checks;
  for (const { content, refHref } of others)
    if (content.trim() === '' && refHref !== null)
      losses.add('check-content-ref of a check beside the first');
  return {
    groupId: group.id,
    groupTitle: group.title.trim(),
    groupDescription: unwrap(group.description, 'GroupDescription'),
    ruleId: rule.id,
    ruleVersion: rule.version.trim(),
    severity: readSeverity(rule, remarks),
    weight,
    ruleTitle: rule.title.trim(),
    vulnDiscussion: parts.VulnDiscussion,
    falsePositives: parts.FalsePositives,
    falseNegatives: parts.FalseNegatives,
    documentable: parts.Documentable,
    mitigations: parts.Mitigations,
    severityOverrideGuidance: parts.SeverityOverrideGuidance,
    potentialImpacts: parts.PotentialImpacts,
    thirdPartyTools: parts.ThirdPartyTools,
    mitigationControl: parts.MitigationControl,
    responsibility: parts.Responsibility,
    iaControls: parts.IAControls,
    referenceIdentifier: rule.identifiers[0] ?? null,
    ...readIdents(rule, remarks, losses),
    fixText: joinTexts(rule.fixTexts),
    fixId: rule.fixRef || rule.fixId,
    checkSystem: check?.system ?? '',
    checkContent: joinTexts(rule.checks.map((each) => each.content)),
    checkRefHref: check?.refHref ?? null,
    checkRefName: check?.refName ?? null,
  };
}

/** The severity of a rule. None or `unknown`, the default of XCCDF, counts as medium, `info` as low, with a remark. */
function readSeverity(rule: RawRule, remarks: Remarks): XccdfFinding['severity'] {
  const stated = rule.severity.trim().toLowerCase();
  const known = (['high', 'medium', 'low'] as const).find((each) => each === stated);
  if (known !== undefined) return known;
  const id = rule.id.slice(0, 64);
  const counted = stated === 'info' ? 'low' : 'medium';
  if (!['info', 'unknown', ''].includes(stated))
    throw new ImportError(`the rule ${id} has the severity "${stated.slice(0, 20)}"`);
  const named = stated === 'info' ? 'the severity "info"' : 'no severity';
  remark(remarks, rule, `${named}, and counts as ${counted}`);
  return counted;
}

function joinTexts(texts: string[]): string {
  return texts
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join('\n\n');
}

function systemIs(system: string, name: string): boolean {
  const end = strip(system.trim(), null, /\//).toLowerCase();
  return end.endsWith(`/${name}`) || end === name;
}

/** The CCIs of idents, each once, and the former ids; one ident may hold several (rule F1.4). */
function readIdents(
  rule: RawRule,
  remarks: Remarks,
  losses: Losses,
): { ccis: string[]; legacyIds: string[] } {
  const ccis = new Set<string>();
  const legacyIds: string[] = [];
  for (const { system, text } of rule.idents) {
    if (systemIs(system, 'legacy')) legacyIds.push(...text.split(/[\s,;]+/).filter((id) => id !== ''));
    else if (systemIs(system, 'cci') || (system.trim() === '' && /^cci/i.test(text))) {
      const found = ccisIn(text);
      for (const cci of found) if (cci !== null) ccis.add(cci);
      if (found.includes(null)) remark(remarks, rule, `the CCI "${text.slice(0, 40)}", which is not a CCI`);
    } else if (text !== '') losses.add(`Rule/ident of the system "${system}"`);
  }
  return { ccis: [...ccis], legacyIds };
}

/** The CCIs of a text, whatever stands between them; null for each part that is none. */
function ccisIn(text: string): (string | null)[] {
  const parts = text
    .replace(/\bCCI[-_:# ]+(?=\d)/gi, 'CCI-')
    .split(/(?<=\d)-?(?=CCI)|[^a-z0-9-]+|\b(?:and|or)\b/i);
  return parts
    .filter((part) => /[a-z0-9]/i.test(part))
    .map((part) => {
      const cci = canonicalIdentifier('cci', /^\d{6}$/.test(part) ? `CCI-${part}` : part);
      return cci === 'CCI-000000' ? null : cci;
    });
}
