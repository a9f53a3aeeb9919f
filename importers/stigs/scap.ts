import { count, hasAtMost } from '../../src/base/text.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { isTestResult, isXccdf, scanResults } from '../../src/read/scan-results.ts';
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
import { type Parsed, stored } from '../read/parsed.ts';
import { collapseLine, excerpt } from '../read/source-text.ts';
import { dublinCoreOf } from './xccdf-losses.ts';
import type { ScapContent, ScapContents, ScapRule } from './xccdf-record.ts';
import { isDate } from './xccdf-release.ts';

/** That of SCAP 1.2, 1.3 and 1.4. */
const namespace = 'http://scap.nist.gov/schema/scap/source/1.2';
const oval = 'http://oval.mitre.org/XMLSchema/oval-definitions-5';
/** Questions to people, in any version. */
const ocil = 'http://scap.nist.gov/schema/ocil/';
const idPrefix = /^xccdf_[^_]+_(?:benchmark|group|rule|profile)_/;
const scapVersions = ['', '1.2', '1.3', '1.4'];
/** What a stream may have. */
const limits = { benchmarks: 100, rules: 20_000, characters: 1000 };

const fault = (message: string) => new ImportError(message, 'scap');

const idOf = ({ attributes }: XmlElement) => (attributes.id ?? '').trim().replace(idPrefix, '');

/** True for the root of a collection of SCAP source data streams. */
export function isDataStream({ name, uri }: XmlElement): boolean {
  return name === 'data-stream-collection' && uri === namespace;
}

/**
 * The visitor of a data stream, and the function that gives its contents, or why it has none. It reads the benchmarks, and
 * nothing of OVAL, OCIL and CPE components; warnings name the tests that it cannot judge (rule D38.1). Throws
 * `ImportError` for a stream without a benchmark, and for an incomplete one.
 */
export function createDataStreamReader(root: XmlElement): {
  visitor: XmlVisitor;
  result(): Parsed<ScapContents>;
} {
  const benchmarks: { node: XmlNode; component: string }[] = [];
  const dataStreams: XmlNode[] = [];
  const losses = createLosses();
  let hasResults = false;

  const visitor: XmlVisitor = {
    visit(element, around) {
      hasResults ||= isTestResult(element);
      if (around.length < 2) return element.name === 'data-stream' ? 'tree' : 'children';
      if (!isXccdf(element.uri) || around[1]!.name !== 'component') return 'skip';
      if (element.name === 'Tailoring') losses.add('component/Tailoring');
      return element.name === 'Benchmark' ? 'tree' : 'skip';
    },
    tree(node, around) {
      if (node.name === 'data-stream') dataStreams.push(node);
      else benchmarks.push({ node, component: around[1]!.attributes.id ?? '' });
      if (benchmarks.length > limits.benchmarks)
        throw fault(`the data stream has more than ${count(limits.benchmarks, 'benchmark')}`);
    },
  };

  function readContents(): ScapContent[] {
    if (benchmarks.length === 0) throw fault('the data stream has no XCCDF benchmark');
    const versionOf = versionsIn(dataStreams);
    const contents = benchmarks.map(({ node, component }) => ({
      ...readContent(node, root.attributes.id ?? '', losses),
      scapVersion: versionOf(component),
    }));
    refuseRepeated(
      contents.map(({ benchmarkId }) => benchmarkId),
      'the data stream has the benchmark',
    );
    return contents;
  }

  return {
    visitor,
    result() {
      const reason = `an XCCDF TestResult (root <${root.name}>): ${scanResults}`;
      if (hasResults || benchmarks.some(({ node }) => elementsOf(node).some(isTestResult)))
        return { kind: 'scap', content: null, reason, warnings: [] };
      const contents = readContents();
      return stored('scap', { type: 'scap', contents }, losses.warnings());
    },
  };
}

/** Gives a function for the SCAP version of a component: that of its data stream, else of the first. */
function versionsIn(dataStreams: XmlNode[]): (component: string) => string {
  const stated = dataStreams.map(({ attributes }) => (attributes['scap-version'] ?? '').trim());
  const unknown = stated.find((version) => !scapVersions.includes(version));
  if (unknown !== undefined) throw fault(`SCAP "${excerpt(unknown)}" is not one of 1.2, 1.3 and 1.4`);
  const versions = new Map<string, string>();
  for (const [index, dataStream] of dataStreams.entries()) {
    const lists = [dataStream, ...elementsOf(dataStream)];
    for (const { attributes } of lists.flatMap((list) => childrenOf(list, 'component-ref'))) {
      const [, href = ''] = Object.entries(attributes).find(([name]) => /^(?:.*:)?href$/.test(name)) ?? [];
      versions.set(href.replace(/^#/, ''), stated[index]!);
    }
  }
  return (component) => versions.get(component) ?? stated[0] ?? '';
}

function readContent(
  benchmark: XmlNode,
  collection: string,
  losses: Losses,
): Omit<ScapContent, 'scapVersion'> {
  const benchmarkId = idOf(benchmark);
  const named = benchmarkId === '' ? 'a benchmark' : `the benchmark ${excerpt(benchmarkId)}`;
  const required = (what: string, text: string) => {
    if (text === '') throw fault(`${named} has no ${what}`);
    if (!hasAtMost(text, limits.characters))
      throw fault(`the ${what} of ${named} has more than ${count(limits.characters, 'character')}`);
    return text;
  };
  required('id', benchmarkId);
  const name = required('title', collapseLine(textIn(benchmark, 'title')));
  const version = required('version', collapseLine(textIn(benchmark, 'version')));
  const rules = rulesIn(benchmark, '', losses);
  if (rules.length === 0) throw fault(`${named} has no rules`);
  if (rules.length > limits.rules) throw fault(`${named} has more than ${count(limits.rules, 'rule')}`);
  for (const { ruleId, groupId } of rules) {
    if (ruleId === '') throw fault(`${named} has a rule without an id`);
    if (ruleId.length > limits.characters || groupId.length > limits.characters)
      throw fault(`${named} has an id of more than ${count(limits.characters, 'character')}`);
  }
  refuseRepeated(
    rules.map(({ ruleId }) => ruleId),
    `${named} has the rule`,
  );
  return {
    benchmarkId,
    name,
    publisher: publisherOf(benchmark, name, collection),
    version,
    date: dateOf(benchmark),
    rules,
  };
}

function refuseRepeated(ids: string[], what: string): void {
  const seen = new Set<string>();
  for (const id of ids) {
    if (seen.has(id)) throw fault(`${what} ${excerpt(id)} twice`);
    seen.add(id);
  }
}

/** The rules in an element and in its groups, in document order. */
function rulesIn(node: XmlNode, groupId: string, losses: Losses): ScapRule[] {
  return elementsOf(node).flatMap((child) => {
    if (child.uri !== node.uri) return [];
    if (child.name === 'Group') return rulesIn(child, idOf(child), losses);
    return child.name === 'Rule'
      ? [{ ruleId: idOf(child), groupId, automated: isTested(child, losses) }]
      : [];
  });
}

/** Whether a check of a rule refers to OVAL, one in a complex check too. */
function isTested(node: XmlNode, losses: Losses): boolean {
  let isFound = false;
  for (const child of elementsOf(node)) {
    if (child.name === 'complex-check') isFound = isTested(child, losses) || isFound;
    if (child.name !== 'check') continue;
    const system = (child.attributes.system ?? '').trim();
    const isReferring = elementsOf(child).some(({ name }) => /^check-content(?:-ref)?$/.test(name));
    if (system === oval) isFound ||= isReferring;
    else if (system !== '' && !system.startsWith(ocil)) losses.add(`check of the system "${system}"`);
  }
  return isFound;
}

/** NIWC where collection or title say so; else who the metadata or a reference name; else who the ids belong to. */
function publisherOf(benchmark: XmlNode, name: string, collection: string): string {
  if (/niwc/i.test(collection) || /niwc/i.test(name)) return 'NIWC';
  const stated = ['metadata', 'reference']
    .flatMap((element) => childrenOf(benchmark, element))
    .flatMap((element) => dublinCoreOf(element, 'publisher'));
  const owners = [benchmark.attributes.id ?? '', collection].map(
    (id) => /^(?:xccdf|scap)_([^_]+)_/.exec(id.trim())?.[1] ?? '',
  );
  const publisher = [...stated, ...owners].find((each) => each !== '') ?? '';
  return /^(?:DISA\b|mil\.disa\b|Defense Information Systems Agency)/i.test(publisher)
    ? 'DISA'
    : excerpt(publisher, 200);
}

/** The date of the line "Enhanced Content", else the latest of the statuses. */
function dateOf(benchmark: XmlNode): string | null {
  const texts = childrenOf(benchmark, 'plain-text').map(textOf);
  const enhanced = texts.find((text) => /\bEnhanced Content\b/i.test(text)) ?? '';
  const stated = /\bEnhanced Content\b.{0,200}?\bDate: *(\d{4}-\d{2}-\d{2})/is.exec(enhanced)?.[1] ?? '';
  if (isDate(stated)) return stated;
  const dates = childrenOf(benchmark, 'status').map(({ attributes }) => (attributes.date ?? '').trim());
  return dates.filter(isDate).sort().at(-1) ?? null;
}
