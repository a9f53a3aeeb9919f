import { badRequest } from '../base/errors.ts';
import { cut, strip } from '../base/text.ts';
import { roles } from '../catalog/stigs/cklb-schema.ts';
import { isTestResult, isXccdf } from '../read/scan-results.ts';
import {
  childrenOf,
  elementsOf,
  textOf,
  treeBuilder,
  type XmlElement,
  type XmlHandler,
  type XmlNode,
} from '../read/xml.ts';
import { checklistLimits, largestTree, readWord } from './fields.ts';
import { dateOf, releaseOf, shortList } from './names.ts';

/** What a file says about the scanned host, unchanged. */
export interface Facts {
  targets: string[];
  addresses: string[];
  /** Names, as `urn:scap:fact:asset:identifier:ipv4`, with their values. */
  facts: [name: string, value: string][];
}

/** The host of a checklist, under the field names of requests. */
export interface Target {
  hostName: string;
  fqdn: string;
  ipAddress: string;
  macAddress: string;
  role: (typeof roles)[number];
  /** Of a web or database instance; absent elsewhere. */
  site?: string;
  instance?: string;
}

/** The last parts of the names of facts that are read. */
const usedFacts = /(?:^|:)(?:host_?name|fqdn|ipv4|ipaddress|ip|mac|macaddress|role|site|instance)$/i;

/** How many facts about a target have a value that a checklist has no place for. */
function unusedFacts({ targets, facts }: Facts): number {
  const unused = facts.filter(([name, value]) => {
    const isUsed = usedFacts.test(name) || managerName.test(name);
    let isUnknown = false;
    if (/(?:^|:)role$/i.test(name)) readWord(roles, value, () => (isUnknown = true));
    return value.trim() !== '' && (!isUsed || isUnknown);
  });
  return unused.length + Math.max(0, targets.filter((text) => text !== '').length - 1);
}

const managerName = /^tag:stig-manager@.*:asset:name$/;

const first = (texts: string[]) => texts.find((text) => text !== '') ?? '';
const noHost = /^(127\.|::1$|0:0:0:0:0:0:0:1$|fe80:|0\.0\.0\.0$)/i;

/** The different ones of addresses that some texts list. */
function listed(texts: string[], normal: (address: string) => string, isOne: (address: string) => boolean) {
  const all = texts.flatMap((text) => text.split(/[,;\s]+/)).map(normal);
  return [...new Set(all)].filter(isOne).join(', ');
}

const addresses = (texts: string[]) =>
  listed(
    texts,
    (text) => text.replace(/\/\d+$/, ''),
    (text) => text !== '' && !noHost.test(text),
  );

const macs = (texts: string[]) =>
  listed(
    texts,
    (text) => text.toUpperCase(),
    (text) => /[^0:.-]/.test(text),
  );

/** The host of a scan. Only the last part of a fact name counts; the asset of an ARF fills empty fields. */
export function readTarget(stated: Facts, asset: Facts | null): Target {
  const from = ({ targets, addresses: others, facts }: Facts) => {
    const of = (...names: string[]) =>
      facts.flatMap(([name, value]) =>
        names.includes(name.slice(name.lastIndexOf(':') + 1).toLowerCase()) ? [value.trim()] : [],
      );
    const manager = facts.find(([name]) => managerName.test(name))?.[1] ?? '';
    const role = first(of('role'));
    const [site, instance] = [first(of('site')), first(of('instance'))];
    return {
      hostName: first([
        manager.trim(),
        ...targets.map((text) => text.trim()),
        ...of('host_name', 'hostname'),
      ]),
      fqdn: first(of('fqdn').map((text) => strip(text, null, /\./))),
      ipAddress: addresses(of('ipv4', 'ipaddress', 'ip')) || addresses(others),
      macAddress: macs(of('mac', 'macaddress')),
      role: readWord(roles, role, () => undefined),
      ...(site === '' ? {} : { site }),
      ...(instance === '' ? {} : { instance }),
    };
  };
  const own = from(stated);
  const more = asset && from(asset);
  return {
    ...own,
    hostName: own.hostName || (more?.hostName ?? ''),
    fqdn: own.fqdn || (more?.fqdn ?? ''),
    ipAddress: own.ipAddress || (more?.ipAddress ?? ''),
    macAddress: own.macAddress || (more?.macAddress ?? ''),
  };
}

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
  attributes: Record<string, string>;
  /** Attributes of its `benchmark`. */
  benchmark: Record<string, string>;
  facts: Facts;
  results: RuleResult[];
}

const limits = { benchmarks: 100, facts: 10_000, tests: 1000, unread: 50 };
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

/** The checks of a rule-result, those inside a complex check too. */
const checksOf = (node: XmlNode): XmlNode[] =>
  elementsOf(node).flatMap((child) =>
    child.name === 'check' ? [child] : child.name === 'complex-check' ? checksOf(child) : [],
  );

function readRuleResult(node: XmlNode): RuleResult {
  const { idref, time } = node.attributes;
  const texts = (name: string) => childrenOf(node, name).map(textOf);
  const checks = checksOf(node);
  const names = checks
    .flatMap((check) => childrenOf(check, 'check-content-ref'))
    .flatMap(({ attributes }) => attributes.name?.trim() || []);
  const written = (name: string) =>
    checks
      .flatMap((check) => childrenOf(check, 'check-content'))
      .flatMap(elementsOf)
      .filter((child) => child.name === name && child.uri === stigManager)
      .map(textOf)
      .reduce((text, more) => (text.trim() === '' ? more : `${text}\n${more}`), '');
  return {
    id: nameIn(bareRule(idref), 'the id of a rule'),
    result: texts('result').at(-1)?.trim().toLowerCase() ?? '',
    time: timeIn(time),
    check: names.length === 0 ? null : namesOfChecks(names),
    detail: written('detail'),
    comment: written('comment'),
    messages: texts('message'),
    overrides: childrenOf(node, 'override').map(readOverride),
    legacyIds: texts('ident').flatMap((text) => text.split(/[\s,;|]+/).filter((id) => /^S?V-\d+$/.test(id))),
  };
}

/** Several checks of a rule are named after each other, up to a length. */
function namesOfChecks([first, ...others]: string[]): string {
  let text = first!;
  for (const name of others) if (text.length < checklistLimits.name) text += `, ${name}`;
  return text;
}

function readOverride(node: XmlNode): string {
  const { authority = '', time = '' } = node.attributes;
  const parts = elementsOf(node)
    .filter(({ name }) => textElements.has(`rule-result/override/${name}`))
    .map((child) => ({ name: child.name, text: textOf(child).trim() }))
    .filter(({ text }) => text !== '');
  return [authority, time, ...parts.map(({ name, text }) => `${name} ${text}`)]
    .filter((text) => text !== '')
    .join(', ');
}

/** The elements of a TestResult whose text is read, by path. */
const textElements = new Set([
  'target',
  'target-address',
  'target-facts/fact',
  'rule-result/result',
  'rule-result/ident',
  'rule-result/message',
  'rule-result/override/authority',
  'rule-result/override/old-result',
  'rule-result/override/new-result',
  'rule-result/override/remark',
  'rule-result/check/check-content/?detail',
  'rule-result/check/check-content/?comment',
  // Computed from the results.
  'score',
]);

/** The attributes that are read, or that only repeat the benchmark or name a part of the scan, of elements by path. */
const attributesOf: Record<string, string> = {
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
};
const knownAttributes = new Map(
  Object.entries(attributesOf).map(([path, names]) => [path, new Set(names.split(' '))] as const),
);

/** Counts what a TestResult says that is not read, by path (rule D53.1). */
function createUnread() {
  const counts = new Map<string, number>();

  function add(path: string): void {
    const known = counts.has(path) || counts.size < limits.unread ? path : 'others';
    counts.set(known, (counts.get(known) ?? 0) + 1);
  }

  function addAttributes(path: string, attributes: Record<string, string>): void {
    for (const name of contentOf(attributes))
      if (!knownAttributes.get(path)?.has(name)) add(`${path}${path === '' ? '' : '/'}@${name.slice(0, 64)}`);
  }

  function addElement(node: XmlNode, parent: string): void {
    const name = isXccdf(node.uri) ? node.name : `?${node.name}`;
    const path = parent === '' ? name : `${parent}/${name}`;
    const isText = textElements.has(path);
    const isKnown = (isText || knownAttributes.has(path)) && (isXccdf(node.uri) || node.uri === stigManager);
    if (!isKnown) {
      if (hasContent(node)) add(path.replaceAll('?', '').slice(0, 200));
      return;
    }
    addAttributes(path, node.attributes);
    if (isText) return;
    // A check inside a complex check is read as one beside it.
    const inside = node.name === 'complex-check' ? parent : path;
    for (const child of node.children)
      if (typeof child !== 'string') addElement(child, inside);
      else if (/\S/.test(child)) add(path);
  }

  return { counts, add, addAttributes, addElement };
}

/** The names of the attributes that say more than an element's language, schema or namespace. */
const contentOf = (attributes: Record<string, string>) =>
  Object.keys(attributes).filter(
    (name) => attributes[name]!.trim() !== '' && !/^(?:xmlns|xml|xsi)(?::|$)/.test(name),
  );

const hasContent = ({ attributes, children }: XmlNode): boolean =>
  contentOf(attributes).length > 0 ||
  children.some((child) => (typeof child === 'string' ? /\S/.test(child) : hasContent(child)));

/** The names of the elements of an ARF's asset with facts about the target, and of those facts. */
const assetFacts: Record<string, string> = { 'mac-address': ':mac', fqdn: ':fqdn', hostname: ':hostname' };

/** Collects the results of each XCCDF TestResult in a file (rule D29.2); in an ARF, only below its reports. */
export function createResultsReader(root: XmlElement) {
  const isArf = root.uri.startsWith(ofReport);
  const ofAssets: Facts = { targets: [], addresses: [], facts: [] };
  const benchmarks: Benchmark[] = [];
  const tests: TestResult[] = [];
  const unread = createUnread();
  let assets = 0;

  const isReport = ({ name, uri }: XmlElement) => name === 'reports' && uri.startsWith(ofReport);
  const isBenchmark = ({ name, uri }: XmlElement) => name === 'Benchmark' && isXccdf(uri);
  const isAsset = ({ uri }: XmlElement) => uri.startsWith(ofAsset);

  const handler: XmlHandler = treeBuilder(
    {
      visit(element, around) {
        const parent = around.at(-1);
        if (parent && isTestResult(parent)) return 'tree';
        if (isTestResult(element)) {
          if (isArf && !around.some(isReport)) return 'skip';
          tests.push({
            attributes: element.attributes,
            benchmark: {},
            facts: { targets: [], addresses: [], facts: [] },
            results: [],
          });
          if (tests.length > limits.tests) throw bad(`contains more than ${limits.tests} test results`);
          unread.addAttributes('', element.attributes);
          return 'children';
        }
        if (parent && isBenchmark(parent) && /^(?:version|plain-text|metadata)$/.test(element.name))
          return 'tree';
        if (isBenchmark(element) && benchmarks.length < limits.benchmarks)
          benchmarks.push({ id: element.attributes.id ?? '', version: '', releaseInfo: '', creator: '' });
        if (!isAsset(element)) return 'children';
        if (element.name === 'asset') assets++;
        return /^ip-v[46]$/.test(element.name) || Object.hasOwn(assetFacts, element.name)
          ? 'tree'
          : 'children';
      },
      text(text, around) {
        if (isTestResult(around.at(-1)!) && tests.length > 0 && /\S/.test(text)) unread.add('TestResult');
      },
      tree(node, around) {
        if (isAsset(node)) readAsset(ofAssets, node);
        else if (isBenchmark(around.at(-1)!)) readBenchmark(benchmarks.at(-1)!, node);
        else {
          readInTest(tests.at(-1)!, node);
          unread.addElement(node, '');
        }
      },
    },
    largestTree,
  );

  return {
    handler,
    finish(warnings: string[]): ScanResults {
      const test = onlyTest(root, tests);
      const { attributes, facts, results } = test;
      const id = bareBenchmark(test.benchmark.id || test.benchmark.href);
      const benchmark =
        benchmarks.find((each) => bareBenchmark(each.id) === id) ??
        (benchmarks.length === 1 ? benchmarks[0] : undefined);
      const time = timeIn(attributes['end-time']) ?? timeIn(attributes['start-time']);
      const releaseInfo = benchmark?.releaseInfo ?? '';
      return {
        kind: isArf ? 'arf' : 'xccdf',
        tool: toolOf(attributes['test-system'] ?? '', benchmark?.creator ?? ''),
        benchmarkId: nameIn(bareBenchmark(benchmark?.id) || id, 'the id of its benchmark'),
        release: releaseOf(benchmark?.version || attributes.version || '', releaseInfo),
        benchmarkDate: dateOf(releaseInfo),
        target: readTarget(facts, assets > 1 ? null : ofAssets),
        results: results.map((each) => ({ ...each, time: each.time ?? time })),
        warnings: [
          ...warnings.map((warning) => `The results are ${warning}`),
          ...unreadIn(unread.counts, facts),
        ],
      };
    },
  };
}

function readInTest({ benchmark, facts, results }: TestResult, node: XmlNode): void {
  if (!isXccdf(node.uri)) return;
  if (node.name === 'benchmark') Object.assign(benchmark, { id: '', href: '' }, node.attributes);
  if (node.name === 'target') addFact(facts.targets, textOf(node).trim());
  if (node.name === 'target-address') addFact(facts.addresses, textOf(node));
  if (node.name === 'target-facts')
    for (const fact of childrenOf(node, 'fact'))
      addFact(facts.facts, [fact.attributes.name ?? '', textOf(fact)]);
  if (node.name !== 'rule-result') return;
  if (results.length >= checklistLimits.rules)
    throw bad(`contains more than ${checklistLimits.rules} rule results`);
  results.push(readRuleResult(node));
}

function addFact<T>(facts: T[], fact: T): void {
  if (facts.length >= limits.facts) throw bad(`has more than ${limits.facts} facts about its target`);
  facts.push(fact);
}

function readBenchmark(benchmark: Benchmark, node: XmlNode): void {
  if (node.name === 'version') benchmark.version ||= textOf(node).trim();
  if (node.name === 'plain-text' && node.attributes.id === 'release-info')
    benchmark.releaseInfo ||= textOf(node).trim();
  if (node.name !== 'metadata') return;
  for (const child of elementsOf(node))
    if (child.name === 'creator' && !isXccdf(child.uri)) benchmark.creator ||= textOf(child).trim();
}

function readAsset({ addresses, facts }: Facts, node: XmlNode): void {
  if (addresses.length + facts.length >= limits.facts) return;
  if (node.name.startsWith('ip-')) addresses.push(textOf(node));
  else facts.push([assetFacts[node.name]!, textOf(node)]);
}

function onlyTest(root: XmlElement, tests: TestResult[]): TestResult {
  const [test, ...more] = tests;
  if (!test)
    throw bad(
      root.name === 'CHECKLIST'
        ? 'this is a checklist (ckl), not the results of a scan: send it as checklist'
        : `has no TestResult: it is not the results of a scan (root <${root.name.slice(0, 64)}>)`,
    );
  if (more.length > 0) {
    const each = tests.map(({ attributes, facts }) =>
      [attributes.id, facts.targets[0], attributes['end-time']].filter((text) => text).join(' '),
    );
    throw bad(`contains ${tests.length} test results (${shortList(each)}): send one at a time`);
  }
  if (test.results.length === 0) throw bad('its TestResult has no rule-result');
  return test;
}

function unreadIn(unread: Map<string, number>, facts: Facts): string[] {
  const unused = unusedFacts(facts);
  const all = [...unread, ...(unused === 0 ? [] : [['target-facts/fact', unused] as const])];
  const named = all.map(([path, number]) => `${path} (${number})`);
  return all.length === 0 ? [] : [`Not read of the results: ${named.join(', ')}`];
}

const toolNames = new Map([
  ['scc', 'SCC'],
  ['openscap', 'OpenSCAP'],
  ['evaluate-stig', 'Evaluate-STIG'],
  ['stig-manager', 'STIG Manager'],
]);

/** The tool that wrote results: from `test-system`, a CPE as `SCC 5.8`; else from a creator that is a tool; or null. */
function toolOf(testSystem: string, creator: string): string | null {
  const stated = testSystem.trim();
  const [, product, version] = /^cpe:(?:\/|2\.3:)[aho]:[^:]*:([^:]+)(?::([^:*]+))?/.exec(stated) ?? [];
  if (product !== undefined)
    return `${toolNames.get(product) ?? product}${version === undefined ? '' : ` ${version}`}`.slice(0, 255);
  if (stated !== '') return stated.slice(0, 255);
  return /^(Evaluate-STIG|SCC|OpenSCAP)\b/.test(creator) ? creator.slice(0, 255) : null;
}
