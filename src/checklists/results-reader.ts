import { badRequest } from '../base/errors.ts';
import { cut } from '../base/text.ts';
import { isTestResult, isXccdf } from '../read/scan-results.ts';
import type { XmlElement, XmlHandler } from '../read/xml.ts';
import { checklistLimits } from './fields.ts';
import { dateOf, releaseOf, toolOf } from './results-names.ts';
import { type Facts, readTarget, type Target, unusedFacts } from './results-target.ts';
import { shortList } from './stig-names.ts';

export interface RuleResult {
  /** The rule id as releases write it, `SV-257777r1_rule`; without the prefixes of tools. */
  id: string;
  result: string;
  time: string | null;
  /** The name of the check, `oval:mil.disa.stig.rhel8:def:100`. */
  check: string | null;
  /** Texts that people wrote, as STIG Manager exports them. */
  detail: string;
  comment: string;
  messages: string[];
  overrides: string[];
  legacyIds: string[];
}

export interface ScanResults {
  kind: 'xccdf' | 'arf';
  tool: string | null;
  benchmarkId: string;
  /** The release that the file names, `V2R7`. SCAP content numbers its releases separately. */
  release: string | null;
  benchmarkDate: string | null;
  target: Target;
  results: RuleResult[];
  warnings: string[];
}

interface Benchmark {
  id: string;
  version: string;
  releaseInfo: string;
  creator: string;
}

interface TestResult {
  id: string;
  attributes: Record<string, string>;
  benchmarkId: string;
  benchmarkHref: string;
  facts: Facts;
  results: RuleResult[];
}

type Capture = (done: (text: string) => void) => void;

/** An element inside a TestResult, and the rule-result around it; `capture` collects the text of the element. */
interface Reading {
  test: TestResult;
  result: RuleResult;
  element: XmlElement;
  capture: Capture;
}

interface ReadFile {
  root: XmlElement;
  isArf: boolean;
  benchmarks: Benchmark[];
  tests: TestResult[];
  assets: number;
  ofAssets: Facts;
  /** How often an element or attribute has content that is not read, by its path. */
  unread: Map<string, number>;
}

const limits = { benchmarks: 100, facts: 10_000, unread: 50 };
const stigManager = 'http://github.com/nuwcdivnpt/stig-manager';
const ofReport = 'http://scap.nist.gov/schema/asset-reporting-format/';
const ofAsset = 'http://scap.nist.gov/schema/asset-identification/';

const bad = (problem: string) => badRequest(`results: ${problem}`, '/results');

const bareBenchmark = (id = '') => id.trim().replace(/^#?xccdf_.*?_benchmark_/, '');

function bareRule(idref = ''): string {
  const id = idref.trim();
  const at = id.lastIndexOf('SV-');
  return at < 0 ? id.replace(/^xccdf_.*?_rule_/, '') : id.slice(at);
}

/** A name for a look-up in the catalog. Throws a 400 when it is longer than any there. */
function nameIn(text: string, what: string): string {
  if (text.length <= checklistLimits.name) return text;
  throw bad(`${what} must have at most ${checklistLimits.name} characters`);
}

/** Cut, because the details of each rule repeat it. */
const timeIn = (text = '') => cut(text.trim()) || null;

function addFact<T>(facts: T[], fact: T): void {
  if (facts.length >= limits.facts) throw bad(`has more than ${limits.facts} facts about its target`);
  facts.push(fact);
}

function openResult({ test: { results }, element: { attributes } }: Reading): void {
  if (results.length >= checklistLimits.rules)
    throw bad(`contains more than ${checklistLimits.rules} rule results`);
  results.push({
    id: nameIn(bareRule(attributes.idref), 'the id of a rule'),
    result: '',
    time: timeIn(attributes.time),
    check: null,
    detail: '',
    comment: '',
    messages: [],
    overrides: [],
    legacyIds: [],
  });
}

function readBenchmarkName({ test, element: { attributes } }: Reading): void {
  [test.benchmarkId, test.benchmarkHref] = [attributes.id ?? '', attributes.href ?? ''];
}

function openOverride({ result, element: { attributes } }: Reading): void {
  const { authority = '', time = '' } = attributes;
  result.overrides.push([authority, time].filter((text) => text !== '').join(', '));
}

function addToOverride({ result: { overrides }, element }: Reading, text: string): void {
  if (text.trim() === '') return;
  const before = overrides.pop()!;
  overrides.push(`${before === '' ? '' : `${before}, `}${element.name} ${text.trim()}`);
}

/** Several checks of a rule are named after each other, those inside a complex check too. */
function addCheck({ result, element }: Reading): void {
  const name = element.attributes.name?.trim() || null;
  if (result.check === null || name === null) result.check ??= name;
  else if (result.check.length < checklistLimits.name) result.check += `, ${name}`;
}

const below = (text: string, more: string) => (text.trim() === '' ? more : `${text}\n${more}`);

type Reader = (reading: Reading) => unknown;
const withText =
  (use: (reading: Reading, text: string) => unknown): Reader =>
  (reading) =>
    reading.capture((text) => use(reading, text));

/** The readers of the elements in a TestResult, by their path. A map, because the file chooses the names. */
const readers = new Map<string, Reader>([
  ['target', withText(({ test }, text) => addFact(test.facts.targets, text.trim()))],
  ['benchmark', readBenchmarkName],
  ['target-address', withText(({ test }, text) => addFact(test.facts.addresses, text))],
  [
    'target-facts/fact',
    withText(({ test, element }, text) => addFact(test.facts.facts, [element.attributes.name ?? '', text])),
  ],
  ['rule-result', openResult],
  ['rule-result/result', withText(({ result }, text) => (result.result = text.trim().toLowerCase()))],
  [
    'rule-result/ident',
    withText(({ result }, text) =>
      result.legacyIds.push(...text.split(/[\s,;|]+/).filter((id) => /^S?V-\d+$/.test(id))),
    ),
  ],
  ['rule-result/message', withText(({ result }, text) => result.messages.push(text))],
  ['rule-result/override', openOverride],
  ['rule-result/override/authority', withText(addToOverride)],
  ['rule-result/override/old-result', withText(addToOverride)],
  ['rule-result/override/new-result', withText(addToOverride)],
  ['rule-result/override/remark', withText(addToOverride)],
  ['rule-result/check/check-content-ref', addCheck],
  [
    'rule-result/check/check-content/?detail',
    withText(({ result }, text) => (result.detail = below(result.detail, text))),
  ],
  [
    'rule-result/check/check-content/?comment',
    withText(({ result }, text) => (result.comment = below(result.comment, text))),
  ],
  // Computed from the results.
  ['score', withText(() => undefined)],
]);

/** Attributes that are read, or that only repeat the benchmark or name a part of the scan, of the elements that are known. */
const attributesOf = new Map(
  Object.entries({
    '': 'id start-time end-time test-system version',
    benchmark: 'id href',
    'target-facts': '',
    'target-facts/fact': 'name type',
    'target-id-ref': 'system name href',
    score: 'system maximum',
    'rule-result': 'idref time severity weight role version',
    'rule-result/ident': 'system',
    'rule-result/message': 'severity',
    'rule-result/override': 'time authority',
    'rule-result/fix': 'id',
    'rule-result/check': 'system id selector negate multi-check',
    'rule-result/check/check-content-ref': 'href name',
    'rule-result/check/check-content': '',
    'rule-result/check/check-export': 'value-id export-name',
    'rule-result/complex-check': 'operator negate',
  }).map(([path, names]) => [path, new Set(names.split(' '))] as const),
);

function readInBenchmark(benchmark: Benchmark, where: string, { attributes }: XmlElement, capture: Capture) {
  const keep = (name: keyof Benchmark) => capture((text) => (benchmark[name] ||= text.trim()));
  if (where === 'version') keep('version');
  if (where === 'plain-text' && attributes.id === 'release-info') keep('releaseInfo');
  if (where === 'metadata/?creator') keep('creator');
}

function readInAsset({ addresses, facts }: Facts, local: string, capture: Capture): void {
  if (addresses.length + facts.length >= limits.facts) return;
  if (local === 'ip-v4' || local === 'ip-v6') capture((text) => addresses.push(text));
  if (local === 'mac-address' || local === 'fqdn' || local === 'hostname')
    capture((text) => facts.push([`:${local === 'mac-address' ? 'mac' : local}`, text]));
}

/** Whether an attribute says more than its element's language, schema or namespace. */
const isContent = (name: string, text: string) =>
  text.trim() !== '' && !/^(?:xmlns|xml|xsi)(?::|$)/.test(name);

function hasContent({ attributes }: XmlElement): boolean {
  for (const name in attributes) if (isContent(name, attributes[name]!)) return true;
  return false;
}

/** Collects the results of each XCCDF TestResult in a file (rule D29.2); in an ARF, only below its reports. */
export function createResultsReader(root: XmlElement) {
  const isArf = root.uri.startsWith(ofReport);
  const ofAssets: Facts = { targets: [], addresses: [], facts: [] };
  const unread = new Map<string, number>();
  const read: ReadFile = { root, isArf, benchmarks: [], tests: [], assets: 0, ofAssets, unread };
  const { benchmarks, tests } = read;
  /** Local names of open elements in the TestResult or the benchmark around it; `?` for another namespace. */
  let path: string[] = [];
  let place: 'outside' | 'benchmark' | 'test' = 'outside';
  let start = 0;
  let around: { place: 'outside' | 'benchmark'; start: number; path: string[] } | null = null;
  let depth = 0;
  let reports = 0;
  /** The element that is not read, until it ends. */
  let skipped: { depth: number; path: string; hasContent: boolean } | null = null;
  let take: { depth: number; text: string; done: (text: string) => void } | null = null;

  const capture: Capture = (done) => {
    take = { depth, text: '', done };
  };

  function countUnread(path: string): void {
    const known = unread.has(path) || unread.size < limits.unread ? path : 'others';
    unread.set(known, (unread.get(known) ?? 0) + 1);
  }

  function checkAttributes(path: string, attributes: Record<string, string>): void {
    const known = attributesOf.get(path);
    for (const name in attributes)
      if (!known?.has(name) && isContent(name, attributes[name]!))
        countUnread(`${path}${path === '' ? '' : '/'}@${name.slice(0, 64)}`);
  }

  function openTest(element: XmlElement): void {
    const { attributes } = element;
    checkAttributes('', attributes);
    around = { place: place === 'benchmark' ? place : 'outside', start, path };
    [place, start, path] = ['test', depth, []];
    const facts = { targets: [], addresses: [], facts: [] };
    const named = { id: attributes.id ?? '', benchmarkId: '', benchmarkHref: '' };
    tests.push({ ...named, attributes, facts, results: [] });
    if (tests.length > 1000) throw bad('contains more than 1000 test results');
  }

  function openInside(element: XmlElement): void {
    path.push(isXccdf(element.uri) ? element.name : `?${element.name}`);
    if (place === 'benchmark') {
      if (path.length < 3) readInBenchmark(benchmarks.at(-1)!, path.join('/'), element, capture);
      return;
    }
    const whole = path.join('/');
    const where = path.includes('complex-check') ? whole.replace(/(?:\/complex-check)+(?=\/)/g, '') : whole;
    const test = tests.at(-1)!;
    const isForeign = where.includes('?') && element.uri !== stigManager;
    if (isForeign || !(readers.has(where) || attributesOf.has(where))) {
      skipped = { depth, path: where.replaceAll('?', '').slice(0, 200), hasContent: hasContent(element) };
      return;
    }
    checkAttributes(where, element.attributes);
    // With several tests, `resultsOf` throws: its message needs only their targets.
    if (tests.length === 1 || where === 'target')
      readers.get(where)?.({ test, result: test.results.at(-1)!, element, capture });
  }

  function leave(): void {
    ({ place, start, path } = around ?? { place: 'outside' as const, start: 0, path: [] });
    around = null;
  }

  const handler: XmlHandler = {
    open(element) {
      depth++;
      const { name: local, uri } = element;
      if (isArf && local === 'reports' && uri.startsWith(ofReport)) reports++;
      if (uri.startsWith(ofAsset) && local === 'asset') read.assets++;
      if (uri.startsWith(ofAsset) && take === null) readInAsset(ofAssets, local, capture);
      if (skipped !== null) skipped.hasContent ||= hasContent(element);
      if (take !== null || skipped !== null) return void path.push('?');
      if (place !== 'test' && isTestResult(element) && (!isArf || reports > 0)) return openTest(element);
      if (place !== 'outside') return openInside(element);
      if (local !== 'Benchmark' || !isXccdf(uri) || benchmarks.length === limits.benchmarks) return;
      [place, start, path] = ['benchmark', depth, []];
      benchmarks.push({ id: element.attributes.id ?? '', version: '', releaseInfo: '', creator: '' });
    },
    text(text) {
      if (take !== null) take.text += text;
      else if (skipped !== null) skipped.hasContent ||= /\S/.test(text);
      else if (place === 'test' && /\S/.test(text)) countUnread(path.join('/') || 'TestResult');
    },
    close({ name: local, uri }) {
      if (take !== null && take.depth === depth) {
        const { text, done } = take;
        take = null;
        done(text);
      }
      if (skipped !== null && skipped.depth === depth) {
        if (skipped.hasContent) countUnread(skipped.path);
        skipped = null;
      }
      if (isArf && local === 'reports' && uri.startsWith(ofReport)) reports--;
      if (place !== 'outside' && depth === start) leave();
      else path.pop();
      depth--;
    },
  };

  return { handler, finish: (warnings: string[]) => resultsOf(read, warnings) };
}

function resultsOf(
  { root, isArf, benchmarks, tests, assets, ofAssets, unread }: ReadFile,
  warnings: string[],
): ScanResults {
  const [test, ...more] = tests;
  if (!test)
    throw bad(
      root.name === 'CHECKLIST'
        ? 'this is a checklist (ckl), not the results of a scan: send it as checklist'
        : `has no TestResult: it is not the results of a scan (root <${root.name.slice(0, 64)}>)`,
    );
  if (more.length > 0) {
    const each = tests.map((one) =>
      [one.id, one.facts.targets[0] ?? '', one.attributes['end-time'] ?? '']
        .filter((text) => text !== '')
        .join(' '),
    );
    throw bad(`contains ${tests.length} test results (${shortList(each)}): send one at a time`);
  }
  if (test.results.length === 0) throw bad('its TestResult has no rule-result');
  const id = bareBenchmark(test.benchmarkId || test.benchmarkHref);
  const benchmark =
    benchmarks.find((each) => bareBenchmark(each.id) === id) ??
    (benchmarks.length === 1 ? benchmarks[0] : undefined);
  const stated = benchmark?.version || test.attributes.version || '';
  const { attributes } = test;
  const time = timeIn(attributes['end-time']) ?? timeIn(attributes['start-time']);
  return {
    kind: isArf ? 'arf' : 'xccdf',
    tool: toolOf(attributes['test-system'] ?? '', benchmark?.creator ?? ''),
    benchmarkId: nameIn(bareBenchmark(benchmark?.id || '') || id, 'the id of its benchmark'),
    release: releaseOf(stated, benchmark?.releaseInfo ?? ''),
    benchmarkDate: dateOf(benchmark?.releaseInfo ?? ''),
    target: readTarget(test.facts, assets > 1 ? null : ofAssets),
    results: test.results.map((each) => ({ ...each, time: each.time ?? time })),
    warnings: [...warnings.map((warning) => `The results are ${warning}`), ...unreadIn(unread, test.facts)],
  };
}

function unreadIn(unread: Map<string, number>, facts: Facts): string[] {
  const unused = unusedFacts(facts);
  const all = [...unread, ...(unused === 0 ? [] : [['target-facts/fact', unused] as const])];
  const named = all.map(([path, number]) => `${path} (${number})`);
  return all.length === 0 ? [] : [`Not read of the results: ${named.join(', ')}`];
}
