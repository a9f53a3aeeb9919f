import { compareCodePoints, count, hasAtMost } from '../../src/base/text.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { isTestResult, scanResults } from '../../src/read/scan-results.ts';
import {
  childrenOf,
  elementsOf,
  textIn,
  textOf,
  type XmlElement,
  type XmlNode,
  type XmlVisitor,
} from '../../src/read/xml.ts';
import { createLosses, type Losses } from '../read/losses.ts';
import { collapseLine, excerpt } from '../read/source-text.ts';
import { dublinCoreOf } from './xccdf-losses.ts';
import { isDate } from './xccdf-release.ts';

/** A rule of SCAP content: whether a machine tests it (rule D38.1). */
export interface ScapRule {
  ruleId: string;
  /** Empty for a rule outside a group. */
  groupId: string;
  automated: boolean;
}

/** SCAP content: one benchmark of a data stream (rule D38.1). */
export interface ScapContent {
  benchmarkId: string;
  name: string;
  /** Who made the content: `NIWC`, or as the benchmark states it; empty where nothing says so. */
  publisher: string;
  /** As the benchmark states it: `002.008.12`. */
  version: string;
  date: string | null;
  /** As the data stream states it; empty where it does not. */
  scapVersion: string;
  rules: ScapRule[];
}

/** The contents of a data stream, or why it has none. */
export type ScapResult =
  | { kind: 'scap'; content: { type: 'scap'; contents: ScapContent[] }; warnings: string[] }
  | { kind: 'scap'; content: null; reason: string; warnings: string[] };

/** A benchmark as it is read: its head has the children of the benchmark that are read but rules. */
interface ReadBenchmark {
  component: string;
  head: XmlNode;
  rules: ScapRule[];
}

/** That of SCAP 1.2, 1.3 and 1.4. */
const namespace = 'http://scap.nist.gov/schema/scap/source/1.2';
const oval = 'http://oval.mitre.org/XMLSchema/oval-definitions-5';
/** Questions to people, in any version. */
const ocil = 'http://scap.nist.gov/schema/ocil/';
const idPrefix = /^xccdf_[^_]+_(?:benchmark|group|rule|profile)_/;
const scapVersions = ['', '1.2', '1.3', '1.4'];
const headElements = ['title', 'version', 'plain-text', 'status', 'metadata', 'reference'];
/** What a stream may have: checked as it is read, so that a hostile one fills no memory. */
const limits = { benchmarks: 100, rules: 20_000, characters: 1000 };

const fault = (message: string) => new ImportError(message, 'scap');

const isXccdf = ({ uri }: XmlElement) => uri.startsWith('http://checklists.nist.gov/xccdf/1.');
const idOf = ({ attributes }: XmlElement) => (attributes.id ?? '').trim().replace(idPrefix, '');
const nameOf = (id: string) => (id === '' ? 'a benchmark' : `the benchmark ${excerpt(id)}`);

/** True for the root of a collection of SCAP source data streams. */
export function isDataStream({ name, uri }: XmlElement): boolean {
  return name === 'data-stream-collection' && uri === namespace;
}

/**
 * The visitor of a data stream, and the function that gives its contents, or why it has none. It reads of each
 * benchmark the name, version, dates and rules, and nothing of OVAL, OCIL and CPE components; warnings name the tests
 * that it cannot judge (rule D38.1). Throws `ImportError` for a stream without a benchmark, and for an incomplete one.
 */
export function createDataStreamReader(root: XmlElement): { visitor: XmlVisitor; result(): ScapResult } {
  const benchmarks: ReadBenchmark[] = [];
  /** SCAP versions by the ids of the components that their data streams list, and the first of all as `''`. */
  const versions = new Map<string, string>();
  const losses = createLosses();
  let hasResults = false;

  function visitComponent(element: XmlElement, component: XmlElement): 'children' | 'skip' {
    if (element.name === 'Tailoring' && isXccdf(element)) losses.add('component/Tailoring');
    if (component.name !== 'component' || element.name !== 'Benchmark' || !isXccdf(element)) return 'skip';
    const head = { ...element, children: [] };
    benchmarks.push({ component: component.attributes.id ?? '', head, rules: [] });
    if (benchmarks.length > limits.benchmarks)
      throw fault(`the data stream has more than ${count(limits.benchmarks, 'benchmark')}`);
    return 'children';
  }

  const visitor: XmlVisitor = {
    visit(element, around) {
      const { name } = element;
      const parent = around.at(-1);
      if (parent === undefined) return 'children';
      hasResults ||= isTestResult(element);
      if (around.length === 1) return name === 'data-stream' ? 'tree' : 'children';
      if (around.length === 2) return visitComponent(element, parent);
      if (!isXccdf(element)) return 'skip';
      if (name === 'Group') return 'children';
      return name === 'Rule' || (parent.name === 'Benchmark' && headElements.includes(name))
        ? 'tree'
        : 'skip';
    },
    tree(node, around) {
      if (node.name === 'data-stream') return addVersions(node, versions);
      const { head, rules } = benchmarks.at(-1)!;
      if (node.name !== 'Rule') {
        head.children.push(node);
        return;
      }
      const group = around.findLast(({ name }) => name === 'Group');
      rules.push({
        ruleId: idOf(node),
        groupId: group ? idOf(group) : '',
        automated: isTested(node, losses),
      });
      if (rules.length > limits.rules)
        throw fault(`${nameOf(idOf(head))} has more than ${count(limits.rules, 'rule')}`);
    },
  };

  function contents(): ScapContent[] {
    if (benchmarks.length === 0) throw fault('the data stream has no XCCDF benchmark');
    const seen = new Set<string>();
    return benchmarks.map((benchmark) => {
      const scapVersion = versions.get(benchmark.component) ?? versions.get('') ?? '';
      if (!scapVersions.includes(scapVersion))
        throw fault(`SCAP "${excerpt(scapVersion)}" is not one of 1.2, 1.3 and 1.4`);
      const content = contentOf(benchmark, root.attributes.id ?? '', scapVersion);
      const { benchmarkId } = content;
      if (seen.has(benchmarkId))
        throw fault(`the data stream has the benchmark ${excerpt(benchmarkId)} twice`);
      seen.add(benchmarkId);
      return content;
    });
  }

  return {
    visitor,
    result() {
      const reason = `an XCCDF TestResult (root <${root.name}>): ${scanResults}`;
      if (hasResults) return { kind: 'scap', content: null, reason, warnings: [] };
      const content = { type: 'scap' as const, contents: contents() };
      return { kind: 'scap', content, warnings: losses.warnings() };
    },
  };
}

/** Adds the SCAP version of a data stream to the components that it lists. */
function addVersions(dataStream: XmlNode, versions: Map<string, string>): void {
  const scapVersion = (dataStream.attributes['scap-version'] ?? '').trim();
  if (!versions.has('')) versions.set('', scapVersion);
  const lists = [dataStream, ...elementsOf(dataStream)];
  for (const { attributes } of lists.flatMap((list) => childrenOf(list, 'component-ref'))) {
    const [, href = ''] = Object.entries(attributes).find(([name]) => /^(?:.*:)?href$/.test(name)) ?? [];
    versions.set(href.replace(/^#/, ''), scapVersion);
  }
}

/** Whether a check of a rule refers to OVAL, one in a complex check too. */
function isTested(node: XmlNode, losses: Losses): boolean {
  let isFound = false;
  for (const child of elementsOf(node)) {
    if (child.name === 'complex-check') isFound = isTested(child, losses) || isFound;
    if (child.name !== 'check') continue;
    const system = (child.attributes.system ?? '').trim();
    const isReferring = ['check-content-ref', 'check-content'].some(
      (name) => childrenOf(child, name).length > 0,
    );
    if (system === oval) isFound ||= isReferring;
    else if (system !== '' && !system.startsWith(ocil)) losses.add(`check of the system "${system}"`);
  }
  return isFound;
}

function contentOf({ head, rules }: ReadBenchmark, collection: string, scapVersion: string): ScapContent {
  const benchmarkId = idOf(head);
  const named = nameOf(benchmarkId);
  const required = (what: string, text: string) => {
    if (text === '') throw fault(`${named} has no ${what}`);
    if (!hasAtMost(text, limits.characters))
      throw fault(`the ${what} of ${named} has more than ${count(limits.characters, 'character')}`);
    return text;
  };
  required('id', benchmarkId);
  const name = required('title', collapseLine(textIn(head, 'title')));
  const version = required('version', collapseLine(textIn(head, 'version')));
  requireRules(rules, named);
  return {
    benchmarkId,
    name,
    publisher: publisherOf(head, name, collection),
    version,
    date: dateOf(head),
    scapVersion,
    rules,
  };
}

function requireRules(rules: ScapRule[], named: string): void {
  if (rules.length === 0) throw fault(`${named} has no rules`);
  const seen = new Set<string>();
  for (const { ruleId, groupId } of rules) {
    if (ruleId === '') throw fault(`${named} has a rule without an id`);
    if (ruleId.length > limits.characters || groupId.length > limits.characters)
      throw fault(`${named} has an id of more than ${count(limits.characters, 'character')}`);
    if (seen.has(ruleId)) throw fault(`${named} has the rule ${excerpt(ruleId)} twice`);
    seen.add(ruleId);
  }
}

/** NIWC where collection or title say so; else who the metadata or a reference name; else who the ids belong to. */
function publisherOf(head: XmlNode, name: string, collection: string): string {
  if (/niwc/i.test(collection) || /niwc/i.test(name)) return 'NIWC';
  const stated = ['metadata', 'reference']
    .flatMap((element) => childrenOf(head, element))
    .flatMap((element) => dublinCoreOf(element, 'publisher'));
  const owners = [head.attributes.id ?? '', collection].map(
    (id) => /^(?:xccdf|scap)_([^_]+)_/.exec(id.trim())?.[1] ?? '',
  );
  const publisher = [...stated, ...owners].find((each) => each !== '') ?? '';
  return /^(?:DISA\b|mil\.disa\b|Defense Information Systems Agency)/i.test(publisher)
    ? 'DISA'
    : excerpt(publisher, 200);
}

/** The date of the line "Enhanced Content", else the latest of the statuses. */
function dateOf(head: XmlNode): string | null {
  const enhanced = childrenOf(head, 'plain-text')
    .map(textOf)
    .find((text) => /\bEnhanced Content\b/i.test(text));
  const stated =
    /\bEnhanced Content\b.{0,200}?\bDate: *(\d{4}-\d{2}-\d{2})/is.exec(enhanced ?? '')?.[1] ?? '';
  if (isDate(stated)) return stated;
  const dates = childrenOf(head, 'status').map(({ attributes }) => (attributes.date ?? '').trim());
  return dates.filter(isDate).sort().at(-1) ?? null;
}

/** Orders versions number by number: `1.10.5` before `002.007.21`; words stand before numbers. */
export function compareScapVersions(a: string, b: string): number {
  return compareCodePoints(sortKeyOf(a), sortKeyOf(b));
}

const sortKeyOf = (version: string) =>
  version
    .split('.')
    .map((part) => (/^\d+$/.test(part) ? part.padStart(limits.characters, '0') : `!${part}`))
    .join(' ');
