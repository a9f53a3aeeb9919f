import { count } from '../../src/base/text.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { isTestResult } from '../../src/read/scan-results.ts';
import type { XmlElement, XmlHandler } from '../../src/read/xml.ts';
import { createLosses } from '../read/losses.ts';
import { excerpt } from '../read/source-text.ts';

/** A rule of SCAP content: whether a machine tests it (rule D38.1). */
export interface ScapRule {
  ruleId: string;
  /** Empty for a rule outside a group. */
  groupId: string;
  automated: boolean;
}

/** A benchmark of a data stream as its elements state it. */
export type RawScapBenchmark = ReturnType<typeof newBenchmark>;

/** That of SCAP 1.2, 1.3 and 1.4. */
const namespace = 'http://scap.nist.gov/schema/scap/source/1.2';
const xccdf = 'http://checklists.nist.gov/xccdf/1.';
const oval = 'http://oval.mitre.org/XMLSchema/oval-definitions-5';
/** Questions to people, in any version. */
const ocil = 'http://scap.nist.gov/schema/ocil/';
const dublinCore = 'http://purl.org/dc/elements/1.1/';
const prefix = /^xccdf_[^_]+_(?:benchmark|group|rule|profile)_/;

/** Characters of a text or an identifier: more is no name, version or date. */
export const longestScapText = 1000;

/** True for the root of a collection of SCAP source data streams. */
export function isDataStream({ name, uri }: XmlElement): boolean {
  return name === 'data-stream-collection' && uri === namespace;
}

/** An id without what XCCDF 1.2 puts before it, whoever publishes it (rule D38.1). */
export function plainScapId(stated = ''): string {
  return stated.trim().replace(prefix, '');
}

/** A benchmark in messages. */
export const nameOfBenchmark = (id: string) => (id === '' ? 'a benchmark' : `the benchmark ${excerpt(id)}`);

const newBenchmark = (statedId: string, component: string) => ({
  ...{ id: plainScapId(statedId), statedId, component, title: '', version: '' },
  /** Who the metadata names, before who the references of the benchmark name. */
  publishers: [] as string[],
  plainTexts: [] as string[],
  statusDates: [] as string[],
  rules: [] as ScapRule[],
});

/** What a stream may have: checked as it is read, so that a hostile one fills no memory. */
const limits = { benchmarks: 100, rules: 20_000, texts: 1000, references: 10_000 };

function bound(number: number, limit: keyof typeof limits, owner: string): void {
  const word = limit.slice(0, -1);
  if (number > limits[limit])
    throw new ImportError(`${owner} has more than ${count(limits[limit], word)}`, 'scap');
}

/** A check names its OVAL, or holds it. */
const contents = new Set(['check-content-ref', 'check-content']);
const captured = new Set(['title', 'version', 'plain-text']);
const naming = new Set(['metadata', 'reference']);

/**
 * Collects the benchmarks of a data stream from the events of `readXml`: of each its name, version, dates and rules, and
 * which rules refer to OVAL. It reads nothing else, and keeps nothing of OVAL, OCIL and CPE components. `losses` has
 * the tests that it cannot judge (rule D38.1).
 */
export class DataStreamReader implements XmlHandler {
  readonly benchmarks: RawScapBenchmark[] = [];
  /** The id of the collection. */
  id = '';
  /** SCAP versions by the ids of the components that their data streams list, and the first of all as `''`. */
  readonly versions = new Map<string, string>();
  readonly losses = createLosses();
  holdsResults = false;
  private depth = 0;
  private component = '';
  private scapVersion = '';
  private benchmark: RawScapBenchmark | null = null;
  private readonly groups: { id: string; depth: number }[] = [];
  private rule: { of: ScapRule; depth: number } | null = null;
  private testedFrom = 0;
  /** The child of the benchmark that may name its publisher. */
  private naming: string | null = null;
  private text_: { of: string; text: string; depth: number } | null = null;

  open(element: XmlElement): void {
    this.depth++;
    if (this.benchmark !== null) this.inBenchmark(element, this.benchmark);
    else if (this.depth <= 4) this.inCollection(element);
  }

  text(text: string): void {
    if (this.text_ !== null && this.text_.text.length <= longestScapText) this.text_.text += text;
  }

  close(): void {
    const { depth } = this;
    this.depth--;
    if (this.benchmark === null) return;
    if (this.text_?.depth === depth) this.keepText(this.benchmark, this.text_);
    if (this.testedFrom === depth) this.testedFrom = 0;
    if (this.rule?.depth === depth) this.rule = null;
    if (this.groups.at(-1)?.depth === depth) this.groups.pop();
    if (depth === benchmarkDepth) this.benchmark = null;
  }

  private inCollection({ name: local, uri, attributes }: XmlElement): void {
    if (this.depth === benchmarkDepth && local === 'Benchmark' && uri.startsWith(xccdf)) {
      this.benchmark = newBenchmark(attributes.id ?? '', this.component);
      this.benchmarks.push(this.benchmark);
      bound(this.benchmarks.length, 'benchmarks', 'the data stream');
    } else if (local === 'Tailoring' && uri.startsWith(xccdf)) this.losses.add('component/Tailoring');
    else if (uri !== namespace) return;
    else if (this.depth === 1) this.id = attributes.id ?? '';
    else if (this.depth === 2 && local === 'component') this.component = attributes.id ?? '';
    else if (local === 'data-stream') {
      this.scapVersion = (attributes['scap-version'] ?? '').trim();
      if (!this.versions.has('')) this.versions.set('', this.scapVersion);
    } else if (local === 'component-ref') {
      const href = Object.entries(attributes).find(([name]) => /^(?:.*:)?href$/.test(name))?.[1] ?? '';
      this.versions.set(href.replace(/^#/, ''), this.scapVersion);
      bound(this.versions.size, 'references', 'the data stream');
    }
  }

  private inBenchmark(element: XmlElement, benchmark: RawScapBenchmark): void {
    this.holdsResults ||= isTestResult(element);
    const { name: local, uri, attributes } = element;
    const within = this.naming;
    if (within !== null && local === 'publisher' && uri === dublinCore)
      this.text_ = { of: within, text: '', depth: this.depth };
    if (!uri.startsWith(xccdf)) return;
    if (this.depth === benchmarkDepth + 1) this.naming = naming.has(local) ? local : null;
    if (this.rule !== null) this.inRule(local, attributes, this.rule.of);
    else if (local === 'Group') this.groups.push({ id: plainScapId(attributes.id), depth: this.depth });
    else if (local === 'Rule') {
      const of = {
        ruleId: plainScapId(attributes.id),
        groupId: this.groups.at(-1)?.id ?? '',
        automated: false,
      };
      benchmark.rules.push(of);
      bound(benchmark.rules.length, 'rules', nameOfBenchmark(benchmark.id));
      this.rule = { of, depth: this.depth };
    } else if (this.depth !== benchmarkDepth + 1) return;
    else if (local === 'status') benchmark.statusDates.push((attributes.date ?? '').trim());
    else if (captured.has(local)) this.text_ = { of: local, text: '', depth: this.depth };
    bound(benchmark.statusDates.length, 'texts', nameOfBenchmark(benchmark.id));
  }

  /** Also the checks inside a complex-check count. */
  private inRule(local: string, { system = '' }: Record<string, string>, rule: ScapRule): void {
    const stated = system.trim();
    if (local === 'check' && stated === oval) this.testedFrom ||= this.depth;
    else if (local === 'check' && stated !== '' && !stated.startsWith(ocil))
      this.losses.add(`check of the system "${stated}"`);
    else if (contents.has(local) && this.testedFrom > 0) rule.automated = true;
  }

  private keepText(benchmark: RawScapBenchmark, { of, text }: { of: string; text: string }): void {
    bound(benchmark.plainTexts.length + benchmark.publishers.length, 'texts', nameOfBenchmark(benchmark.id));
    if (of === 'plain-text') benchmark.plainTexts.push(text);
    else if (of === 'metadata') benchmark.publishers.unshift(text);
    else if (of === 'reference') benchmark.publishers.push(text);
    else if (of === 'title') benchmark.title ||= text;
    else benchmark.version ||= text;
    this.text_ = null;
  }
}

/** The collection, its component, its benchmark. */
const benchmarkDepth = 3;
