import { count } from '../../src/base/text.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { isTestResult, scanResults } from '../../src/read/scan-results.ts';
import { childrenOf, type XmlElement, type XmlNode, type XmlVisitor } from '../../src/read/xml.ts';
import { createLosses } from '../read/losses.ts';
import { firstOf } from '../read/source-text.ts';
import { createLossCounter } from '../read/tree-losses.ts';
import { slugStemOf } from './slug.ts';
import { unwrap } from './xccdf-description.ts';
import { defaultValues, readElements } from './xccdf-losses.ts';
import type { XccdfFinding, XccdfProfile, XccdfRelease } from './xccdf-record.ts';
import { isDate, readReleaseInfo, versionOf } from './xccdf-release.ts';
import { firstText, type GroupNotes, idOf, readGroup } from './xccdf-rule.ts';
import { plainText } from './xccdf-text.ts';

/** DISA's manual STIGs are XCCDF 1.1; most XCCDF 1.2 is SCAP. */
const namespace11 = 'http://checklists.nist.gov/xccdf/1.1';
const namespace12 = 'http://checklists.nist.gov/xccdf/1.2';

/** True for the root of an XCCDF benchmark of any publisher. */
export function isBenchmark({ name, uri }: XmlElement): boolean {
  return name === 'Benchmark' && (uri === namespace11 || uri === namespace12);
}

/** Whether a text, of which each character is a byte, begins like a benchmark. */
export function looksLikeBenchmark(text: string): boolean {
  const head = text.slice(0, 4096);
  return (
    /^(?:\xef\xbb\xbf)?\s*</.test(head) &&
    /<(?:[\w.-]+:)?Benchmark\s/.test(head) &&
    (head.includes(namespace11) || head.includes(namespace12))
  );
}

/** A release of a DISA manual STIG, or why a benchmark is none. */
export type XccdfResult =
  | { kind: 'xccdf'; content: { type: 'stig'; release: XccdfRelease }; warnings: string[] }
  | { kind: 'xccdf' | 'scap' | 'other'; content: null; reason: string; warnings: string[] };

/** A benchmark that is read: its head has all children of the root but groups. */
interface ReadBenchmark extends GroupNotes {
  head: XmlNode;
  findings: XccdfFinding[];
  looseRules: number;
  hasResults: boolean;
}

/** The visitor of a benchmark, and the function that gives its release when it was read. */
export function createBenchmarkReader(root: XmlElement): { visitor: XmlVisitor; result(): XccdfResult } {
  const benchmark: ReadBenchmark = {
    head: { ...root, children: [] },
    findings: [],
    looseRules: 0,
    hasResults: false,
    groupIds: new Set(),
    losses: createLosses(),
    remarks: new Map(),
    faults: [],
    isAutomated: false,
  };
  const counter = createLossCounter(readElements, benchmark.losses, defaultValues);
  const seen = new Map<string, XmlNode>();
  counter.attributes(root);
  const visitor: XmlVisitor = {
    visit(element, around) {
      if (around.length === 0) return 'children';
      if (isTestResult(element)) benchmark.hasResults = true;
      else if (element.name === 'Rule' && element.uri === root.uri) benchmark.looseRules++;
      else return 'tree';
      return 'skip';
    },
    tree(node) {
      counter.child(root, node, seen);
      const isGroup = node.name === 'Group' && node.uri === root.uri;
      for (const finding of isGroup ? readGroup(node, benchmark) : []) benchmark.findings.push(finding);
      if (!isGroup) benchmark.head.children.push(node);
    },
    text: (text) => counter.child(root, text, seen),
  };
  return { visitor, result: () => resultOf(benchmark) };
}

/**
 * The release of a benchmark (rules F1.2 to F1.7), or a reason for scan results (rule D29.5), SCAP content and benchmarks
 * of other publishers. Throws `ImportError` for an incomplete or contradictory one of DISA.
 */
function resultOf(benchmark: ReadBenchmark): XccdfResult {
  const { head, findings, isAutomated } = benchmark;
  if (benchmark.hasResults) return skipped('xccdf', `a benchmark with an XCCDF TestResult: ${scanResults}`);
  const hasTexts = findings.some(({ checkContent }) => checkContent !== '');
  if (isAutomated && !hasTexts)
    return skipped('scap', 'a SCAP benchmark (automated checks): it cannot be imported as a STIG');
  const releaseInfo = childrenOf(head, 'plain-text').find(
    ({ attributes }) => attributes.id === 'release-info',
  );
  const isNumbered = /^\d+$/.test(firstText(head, 'version'));
  // Other publishers use XCCDF 1.2 too, with versions like `2`.
  if (head.uri === namespace12 && !(releaseInfo && isNumbered && hasTexts))
    return skipped(
      'scap',
      'an XCCDF 1.2 benchmark without the marks of a manual STIG of DISA (release-info, a whole number as version, texts of checks)',
    );
  if (!releaseInfo && !isNumbered)
    return skipped('other', 'an XCCDF benchmark of another publisher: no release-info, no DISA version');
  if (!releaseInfo) throw new ImportError('the benchmark has no release-info');
  return readManual(benchmark, plainText(releaseInfo));
}

const skipped = (kind: 'xccdf' | 'scap' | 'other', reason: string): XccdfResult => ({
  kind,
  content: null,
  reason,
  warnings: [],
});

function readManual(benchmark: ReadBenchmark, releaseInfo: string): XccdfResult {
  const { head, findings, groupIds, faults } = benchmark;
  const benchmarkId = idOf(head.attributes.id).trim();
  const title = firstText(head, 'title');
  if (benchmarkId === '') throw new ImportError('the benchmark has no id');
  if (title === '') throw new ImportError('the benchmark has no title');
  slugStemOf({ title, benchmarkId });
  if (benchmark.looseRules > 0)
    throw new ImportError(`${count(benchmark.looseRules, 'rule')} outside any group`);
  if (findings.length === 0) throw new ImportError('the benchmark has no rules');
  const info = readReleaseInfo(releaseInfo);
  const version = versionOf(firstText(head, 'version'), info.release);
  if (faults[0] !== undefined) throw new ImportError(faults[0]);
  requireDistinctRules(findings);
  const warnings: string[] = [];
  const { status, statusDate } = readStatus(head, warnings);
  if (info.benchmarkDate === null && statusDate === null)
    warnings.push('the release has neither a benchmark date nor a status date');
  const release = {
    benchmarkId,
    title,
    description: firstText(head, 'description'),
    version,
    releaseInfo,
    status,
    statusDate,
    benchmarkDate: info.benchmarkDate,
    profiles: readProfiles(head, groupIds, warnings),
    findings,
  };
  return {
    kind: 'xccdf',
    content: { type: 'stig', release },
    warnings: [...warnings, ...remarksOf(benchmark), ...benchmark.losses.warnings()],
  };
}

function requireDistinctRules(findings: XccdfFinding[]): void {
  const seen = new Set<string>();
  for (const { ruleId } of findings) {
    if (seen.has(ruleId)) throw new ImportError(`the rule id ${ruleId.slice(0, 64)} occurs twice`);
    seen.add(ruleId);
  }
}

function remarksOf({ remarks }: GroupNotes): string[] {
  return [...remarks].map(([what, ids]) =>
    ids.length === 1
      ? `the rule ${ids[0]} has ${what}`
      : `${ids.length} rules have ${what.replace('counts', 'count')}: ${firstOf(ids)}`,
  );
}

/** The newest status by date, the last one of a date; undated ones count as oldest. */
function readStatus(head: XmlNode, warnings: string[]): Pick<XccdfRelease, 'status' | 'statusDate'> {
  let newest: Pick<XccdfRelease, 'status' | 'statusDate'> = { status: '', statusDate: null };
  for (const node of childrenOf(head, 'status')) {
    let statusDate = node.attributes.date?.trim() ?? null;
    if (statusDate !== null && !isDate(statusDate)) {
      warnings.push(`the status date "${statusDate.slice(0, 40)}" is not a date and was ignored`);
      statusDate = null;
    }
    if ((statusDate ?? '') >= (newest.statusDate ?? '')) newest = { status: plainText(node), statusDate };
  }
  return newest;
}

/** Some truncated copies select missing groups: a warning, no failure (rule F1.3). */
function readProfiles(head: XmlNode, groupIds: Set<string>, warnings: string[]): XccdfProfile[] {
  const unknown = new Set<string>();
  const profiles = childrenOf(head, 'Profile').map((node) => {
    const selected = new Set(
      childrenOf(node, 'select')
        .filter(({ attributes }) => ['true', '1'].includes((attributes.selected ?? '').trim()))
        .map(({ attributes }) => idOf(attributes.idref)),
    );
    for (const id of selected) if (!groupIds.has(id)) unknown.add(id);
    return {
      profileId: idOf(node.attributes.id),
      title: firstText(node, 'title'),
      description: unwrap(firstText(node, 'description'), 'ProfileDescription'),
      unselected: [...groupIds].filter((id) => !selected.has(id)),
    };
  });
  const [first] = unknown;
  if (first !== undefined)
    warnings.push(
      `the profiles select ${unknown.size} groups that do not exist (first: ${first.slice(0, 64)})`,
    );
  return profiles;
}
