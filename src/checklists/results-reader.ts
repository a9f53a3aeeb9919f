import { badRequest } from '../base/errors.ts';
import { cut } from '../base/text.ts';
import { isTestResult, isXccdf } from '../read/scan-results.ts';
import type { XmlElement, XmlHandler } from '../read/xml.ts';
import { checklistLimits } from './fields.ts';
import { dateOf, releaseOf, toolOf } from './results-names.ts';
import { type Facts, readTarget, type Target } from './results-target.ts';
import { shortList } from './stig-names.ts';

export interface RuleResult {
  /** The rule id as releases write it, `SV-257777r1_rule`; without the prefixes of tools. */
  id: string;
  /** An XCCDF word such as `pass` or `fail`. */
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
  /** The benchmark id without its XCCDF 1.2 prefix; empty where there is none. */
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

const limits = { benchmarks: 100, facts: 10_000 };
const stigManager = 'http://github.com/nuwcdivnpt/stig-manager';
const ofReport = 'http://scap.nist.gov/schema/asset-reporting-format/';
const ofAsset = 'http://scap.nist.gov/schema/asset-identification/';

const bad = (problem: string) => badRequest(`results: ${problem}`);

/** Removes the XCCDF 1.2 prefix of a benchmark id or of a reference to it. */
const bareBenchmark = (id = '') => id.trim().replace(/^#?xccdf_.*?_benchmark_/, '');

/** The rule id in an `idref`, without the prefixes that tools add (rule D29.2). */
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

/**
 * Collects the results of a scan from the events of the XML reader: an XCCDF TestResult of any version and namespace,
 * anywhere in the file; in an ARF, only below its reports. It stores only what the report needs.
 */
export function createResultsReader(root: XmlElement) {
  const isArf = root.uri.startsWith(ofReport);
  const benchmarks: Benchmark[] = [];
  const tests: TestResult[] = [];
  /** Local names of open elements in the TestResult or the benchmark around it; `?` for another namespace. */
  let path: string[] = [];
  let place: 'outside' | 'benchmark' | 'test' = 'outside';
  let start = 0;
  /** The state around the TestResult, which `leave` restores. */
  let around: { place: 'outside' | 'benchmark'; start: number; path: string[] } | null = null;
  let depth = 0;
  let reports = 0;
  let assets = 0;
  const ofAssets: Facts = { targets: [], addresses: [], facts: [] };
  let take: { depth: number; text: string; done: (text: string) => void } | null = null;

  function capture(done: (text: string) => void): void {
    take = { depth, text: '', done };
  }

  function openTest({ attributes }: XmlElement): void {
    around = { place: place === 'benchmark' ? place : 'outside', start, path };
    [place, start, path] = ['test', depth, []];
    const facts = { targets: [], addresses: [], facts: [] };
    const named = { id: attributes.id ?? '', benchmarkId: '', benchmarkHref: '' };
    tests.push({ ...named, attributes, facts, results: [] });
    if (tests.length > 1000) throw bad('contains more than 1000 test results');
  }

  function inTest(where: string, { attributes, uri }: XmlElement): void {
    const test = tests.at(-1)!;
    const { facts, results } = test;
    const result = results.at(-1)!;
    const more = <T>(list: T[], item: T) => {
      if (list.length >= limits.facts) throw bad(`has more than ${limits.facts} facts about its target`);
      list.push(item);
    };
    // With several tests, `finish` throws: its message needs only their targets.
    if (tests.length > 1 && where !== 'target') return;
    switch (where) {
      case 'target':
        capture((text) => more(facts.targets, text.trim()));
        break;
      case 'benchmark':
        [test.benchmarkId, test.benchmarkHref] = [attributes.id ?? '', attributes.href ?? ''];
        break;
      case 'target-address':
        capture((text) => more(facts.addresses, text));
        break;
      case 'target-facts/fact':
        capture((text) => more(facts.facts, [attributes.name ?? '', text]));
        break;
      case 'rule-result':
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
        break;
      case 'rule-result/result':
        capture((text) => {
          result.result = text.trim().toLowerCase();
        });
        break;
      case 'rule-result/ident':
        capture((text) => {
          if (/^S?V-\d+$/.test(text.trim())) result.legacyIds.push(text.trim());
        });
        break;
      case 'rule-result/message':
        capture((text) => result.messages.push(text));
        break;
      case 'rule-result/override': {
        const { authority = '', time = '' } = attributes;
        result.overrides.push([authority, time].filter((text) => text !== '').join(', '));
        break;
      }
      case 'rule-result/override/authority':
      case 'rule-result/override/old-result':
      case 'rule-result/override/new-result':
      case 'rule-result/override/remark': {
        const name = path.at(-1)!;
        capture((text) => {
          if (text.trim() === '') return;
          const before = result.overrides.pop()!;
          result.overrides.push(`${before === '' ? '' : `${before}, `}${name} ${text.trim()}`);
        });
        break;
      }
      case 'rule-result/check/check-content-ref':
        result.check ??= attributes.name?.trim() || null;
        break;
    }
    if (uri !== stigManager) return;
    if (where === 'rule-result/check/check-content/?detail')
      capture((text) => {
        result.detail = text;
      });
    if (where === 'rule-result/check/check-content/?comment')
      capture((text) => {
        result.comment = text;
      });
  }

  function inBenchmark(where: string, { attributes }: XmlElement): void {
    const benchmark = benchmarks.at(-1)!;
    const keep = (name: keyof Benchmark) => capture((text) => (benchmark[name] ||= text.trim()));
    if (where === 'version') keep('version');
    if (where === 'plain-text' && attributes.id === 'release-info') keep('releaseInfo');
    if (where === 'metadata/?creator') keep('creator');
  }

  const handler: XmlHandler = {
    open(element) {
      depth++;
      const { local, uri } = element;
      if (isArf && local === 'reports' && uri.startsWith(ofReport)) reports++;
      if (uri.startsWith(ofAsset)) inAsset(local);
      if (take !== null) return void path.push('?');
      if (place !== 'test' && isTestResult(element) && (!isArf || reports > 0)) return openTest(element);
      if (place === 'outside') {
        if (local !== 'Benchmark' || !isXccdf(uri) || benchmarks.length === limits.benchmarks) return;
        [place, start, path] = ['benchmark', depth, []];
        benchmarks.push({ id: element.attributes.id ?? '', version: '', releaseInfo: '', creator: '' });
        return;
      }
      path.push(isXccdf(uri) ? local : `?${local}`);
      if (place === 'test') inTest(path.join('/'), element);
      else if (path.length < 3) inBenchmark(path.join('/'), element);
    },
    text(text) {
      if (take !== null) take.text += text;
    },
    close(local, uri) {
      if (take !== null && take.depth === depth) {
        const { text, done } = take;
        take = null;
        done(text);
      }
      if (isArf && local === 'reports' && uri.startsWith(ofReport)) reports--;
      if (place !== 'outside' && depth === start) leave();
      else path.pop();
      depth--;
    },
  };

  /** Ends a TestResult or a benchmark, and restores the state around it. */
  function leave(): void {
    ({ place, start, path } = around ?? { place: 'outside' as const, start: 0, path: [] });
    around = null;
  }

  function inAsset(local: string): void {
    if (local === 'asset') assets++;
    const { addresses, facts } = ofAssets;
    if (take !== null || addresses.length + facts.length >= limits.facts) return;
    if (local === 'ip-v4' || local === 'ip-v6') capture((text) => addresses.push(text));
    if (local === 'mac-address' || local === 'fqdn' || local === 'hostname')
      capture((text) => facts.push([`:${local === 'mac-address' ? 'mac' : local}`, text]));
  }

  /** Returns the collected results. Throws a 400 for none, for several tests, and for a test without rules. */
  function finish(warnings: string[]): ScanResults {
    const [test, ...more] = tests;
    if (!test)
      throw bad(
        root.local === 'CHECKLIST'
          ? 'this is a checklist (ckl), not the results of a scan: send it as checklist'
          : `has no TestResult: it is not the results of a scan (root <${root.local.slice(0, 64)}>)`,
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
      warnings,
    };
  }

  return { handler, finish };
}
