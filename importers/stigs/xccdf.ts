import { count } from '../../src/base/text.ts';
import { ImportError, type Kind } from '../../src/read/import-error.ts';
import { isTestResult, scanResults } from '../../src/read/scan-results.ts';
import { childrenOf, elementsOf, type XmlElement, type XmlNode } from '../../src/read/xml.ts';
import { createLosses } from '../read/losses.ts';
import { type Parsed, stored } from '../read/parsed.ts';
import { firstOf } from '../read/source-text.ts';
import { countLosses } from '../read/tree-losses.ts';
import { slugStemOf } from './slug.ts';
import { unwrap } from './xccdf-description.ts';
import { defaultValues, readElements } from './xccdf-losses.ts';
import type { StigContent, XccdfProfile, XccdfRelease } from './xccdf-record.ts';
import { isDate, readReleaseInfo, versionOf } from './xccdf-release.ts';
import { checksIn, firstText, idOf, type RuleNotes, readGroup } from './xccdf-rule.ts';
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

/**
 * Reads a benchmark (rules F1.2 to F1.7), or gives a reason for scan results (rule D29.5), SCAP content and benchmarks of
 * other publishers. Throws `ImportError` for an incomplete or contradictory one of DISA.
 */
export function parseBenchmark(root: XmlNode): Parsed<StigContent> {
  if (elementsOf(root).some(isTestResult))
    return skipped('xccdf', `a benchmark with an XCCDF TestResult: ${scanResults}`);
  const checks = groupsIn(root)
    .flatMap((group) => childrenOf(group, 'Rule'))
    .flatMap(checksIn);
  const hasTexts = checks.some((check) => firstText(check, 'check-content') !== '');
  if (!hasTexts && checks.some(({ attributes }) => /oval|ocil/i.test(attributes.system ?? '')))
    return skipped('scap', 'a SCAP benchmark (automated checks): it cannot be imported as a STIG');
  const releaseInfo = childrenOf(root, 'plain-text').find(
    ({ attributes }) => attributes.id === 'release-info',
  );
  const isNumbered = /^\d+$/.test(firstText(root, 'version'));
  // Other publishers use XCCDF 1.2 too, with versions like `2`.
  if (root.uri === namespace12 && !(releaseInfo && isNumbered && hasTexts))
    return skipped(
      'scap',
      'an XCCDF 1.2 benchmark without the marks of a manual STIG of DISA (release-info, a whole number as version, texts of checks)',
    );
  if (!releaseInfo && !isNumbered)
    return skipped('other', 'an XCCDF benchmark of another publisher: no release-info, no DISA version');
  if (!releaseInfo) throw new ImportError('the benchmark has no release-info');
  return readManual(root, plainText(releaseInfo));
}

const skipped = (kind: Kind, reason: string): Parsed<StigContent> => ({
  kind,
  content: null,
  reason,
  warnings: [],
});

/** The groups in an element and in its groups, in document order. */
const groupsIn = (node: XmlNode): XmlNode[] =>
  childrenOf(node, 'Group').flatMap((group) => [group, ...groupsIn(group)]);

function readManual(root: XmlNode, releaseInfo: string): Parsed<StigContent> {
  const benchmarkId = idOf(root.attributes.id).trim();
  const title = firstText(root, 'title');
  if (benchmarkId === '') throw new ImportError('the benchmark has no id');
  if (title === '') throw new ImportError('the benchmark has no title');
  slugStemOf({ title, benchmarkId });
  const looseRules = childrenOf(root, 'Rule').length;
  if (looseRules > 0) throw new ImportError(`${count(looseRules, 'rule')} outside any group`);
  const groups = groupsIn(root);
  if (groups.every((group) => childrenOf(group, 'Rule').length === 0))
    throw new ImportError('the benchmark has no rules');
  const info = readReleaseInfo(releaseInfo);
  const version = versionOf(firstText(root, 'version'), info.release);
  const notes: RuleNotes = { losses: createLosses(), remarks: new Map(), ruleIds: new Set() };
  countLosses(root, readElements, notes.losses, defaultValues);
  const findings = groups.flatMap((group) => readGroup(group, notes));
  const warnings: string[] = [];
  const { status, statusDate } = readStatus(root, warnings);
  if (info.benchmarkDate === null && statusDate === null)
    warnings.push('the release has neither a benchmark date nor a status date');
  const groupIds = new Set(groups.map(({ attributes }) => idOf(attributes.id)));
  const release = {
    benchmarkId,
    title,
    description: firstText(root, 'description'),
    version,
    releaseInfo,
    status,
    statusDate,
    benchmarkDate: info.benchmarkDate,
    profiles: readProfiles(root, groupIds, warnings),
    findings,
  };
  return stored('xccdf', { type: 'stig', release }, warnings, remarksOf(notes), notes.losses.warnings());
}

function remarksOf({ remarks }: RuleNotes): string[] {
  return [...remarks].map(([what, ids]) =>
    ids.length === 1
      ? `the rule ${ids[0]} has ${what}`
      : `${ids.length} rules have ${what.replace('counts', 'count')}: ${firstOf(ids)}`,
  );
}

/** The newest status by date, the last one of a date; undated ones count as oldest. */
function readStatus(root: XmlNode, warnings: string[]): Pick<XccdfRelease, 'status' | 'statusDate'> {
  let newest: Pick<XccdfRelease, 'status' | 'statusDate'> = { status: '', statusDate: null };
  for (const node of childrenOf(root, 'status')) {
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
function readProfiles(root: XmlNode, groupIds: Set<string>, warnings: string[]): XccdfProfile[] {
  const unknown = new Set<string>();
  const profiles = childrenOf(root, 'Profile').map((node) => {
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
