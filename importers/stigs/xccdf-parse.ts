import { count } from '../../src/base/text.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { scanResults } from '../../src/read/scan-results.ts';
import type { XmlElement } from '../../src/read/xml.ts';
import { firstOf } from '../read/source-text.ts';
import { slugStemOf } from './slug.ts';
import type { BenchmarkBuilder, RawBenchmark, RawProfile, RawRule } from './xccdf-builder.ts';
import { unwrap } from './xccdf-description.ts';
import type { XccdfFinding, XccdfProfile, XccdfRelease } from './xccdf-record.ts';
import { isDate, readReleaseInfo, versionOf } from './xccdf-release.ts';
import { interpretRule, type Remarks } from './xccdf-rule.ts';

/** DISA's manual STIGs are XCCDF 1.1; most XCCDF 1.2 is SCAP. */
const xccdfNamespaces = {
  '1.1': 'http://checklists.nist.gov/xccdf/1.1',
  '1.2': 'http://checklists.nist.gov/xccdf/1.2',
};

const namespaces = Object.values(xccdfNamespaces);

/** True for the root of an XCCDF benchmark of any publisher. */
export function isBenchmark(root: XmlElement): boolean {
  return root.name === 'Benchmark' && namespaces.includes(root.uri);
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
