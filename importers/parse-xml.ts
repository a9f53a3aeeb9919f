import { ImportError, type Kind } from '../src/read/import-error.ts';
import { isTestResult, scanResults } from '../src/read/scan-results.ts';
import {
  DoctypeError,
  readXmlEvents,
  treeBuilder,
  wholeTree,
  type XmlElement,
  type XmlHandler,
  type XmlNode,
} from '../src/read/xml.ts';
import type { ControlsResult } from './controls/catalog.ts';
import { CciListBuilder, isCciList } from './controls/cci-list.ts';
import { isDod8500, parseDod8500 } from './controls/dod-8500.ts';
import { parseOscalCatalog } from './controls/oscal-catalog.ts';
import { parseOscalProfile } from './controls/oscal-profile.ts';
import { isOscalXml, valueOfXml } from './controls/oscal-xml.ts';
import { isDiacapMap, parseDiacapMap } from './crosswalk/diacap.ts';
import { parseOscalMapping } from './crosswalk/oscal-mapping.ts';
import { headlessMarkdown } from './guidance/markdown.ts';
import { aChecklist, fromControls, type Parsed, type ParseOptions, skipped } from './parsed.ts';
import { DataStreamReader, isDataStream } from './stigs/scap-content.ts';
import { interpretDataStream } from './stigs/scap-parse.ts';
import { BenchmarkBuilder } from './stigs/xccdf-builder.ts';
import { interpretBenchmark, isBenchmark, looksLikeBenchmark } from './stigs/xccdf-parse.ts';

interface XmlReading {
  kind: Kind;
  handler: XmlHandler;
  finish(warnings: string[]): Parsed;
}

/** Kinds with documents small enough for a tree. */
const treeKinds: [
  Kind,
  (root: XmlElement) => boolean,
  (root: XmlNode, framework: string | undefined) => ControlsResult,
][] = [
  ['oscal-catalog', isOscalXml('catalog'), (root, name) => parseOscalCatalog(valueOfXml(root), name)],
  ['oscal-profile', isOscalXml('profile'), (root) => parseOscalProfile(valueOfXml(root))],
  ['oscal-mapping', isOscalXml('mapping-collection'), (root) => parseOscalMapping(valueOfXml(root))],
  ['dod-8500', isDod8500, parseDod8500],
  ['diacap-map', isDiacapMap, parseDiacapMap],
];

/** Reads a source that begins with `<`. Throws `ImportError` for bad content of a known kind, and for bad XML. */
export function parseXml(bytes: Uint8Array, options: ParseOptions): Parsed {
  let reading = null as XmlReading | null;
  const kind = () => reading?.kind ?? 'other';
  try {
    const { warnings } = readXmlEvents(bytes, options, (root) => {
      reading = readingOf(root, options.framework);
      return reading.handler;
    });
    return reading!.finish(warnings);
  } catch (error) {
    if (error instanceof DoctypeError && isForeign(error, bytes))
      return skipped(`XML or HTML of an unknown kind, with a DOCTYPE: root <${error.root!.slice(0, 64)}>`);
    if (kind() === 'other' && isMarkdown(bytes)) return skipped(headlessMarkdown);
    // A text that cannot be decoded has no root; its beginning identifies a benchmark.
    if (error instanceof ImportError && error.kind === 'other')
      error.kind = kind() === 'other' && looksLikeBenchmark(Buffer.from(bytes)) ? 'xccdf' : kind();
    throw error;
  }
}

function readingOf(root: XmlElement, framework: string | undefined): XmlReading {
  if (isBenchmark(root)) {
    const handler = new BenchmarkBuilder(root.uri);
    return { kind: 'xccdf', handler, finish: (warnings) => fromBenchmark(handler, warnings) };
  }
  if (isCciList(root)) {
    const handler = new CciListBuilder();
    return { kind: 'cci-list', handler, finish: (warnings) => fromControls(handler.result(), warnings) };
  }
  if (isDataStream(root)) {
    const handler = new DataStreamReader();
    return { kind: 'scap', handler, finish: (warnings) => fromDataStream(handler, root, warnings) };
  }
  const [kind, , parse] = treeKinds.find(([, isRoot]) => isRoot(root)) ?? [];
  if (kind && parse) {
    let tree = null as XmlNode | null;
    const handler = treeBuilder(wholeTree((node) => (tree = node)));
    return { kind, handler, finish: (warnings) => fromControls(parse(tree!, framework), warnings) };
  }
  const other = isScap(root) ? 'scap' : 'other';
  let hasResults = false;
  const handler = treeBuilder({
    visit(element) {
      hasResults ||= isTestResult(element);
      return 'children';
    },
    tree() {},
  });
  return { kind: other, handler, finish: (warnings) => skipXml(root, other, hasResults, warnings) };
}

function fromBenchmark(builder: BenchmarkBuilder, warnings: string[]): Parsed {
  const result = interpretBenchmark(builder);
  if (!('release' in result)) return { kind: result.kind, content: null, reason: result.reason, warnings };
  const content = { type: 'stig' as const, release: result.release };
  return { kind: 'xccdf', content, warnings: [...warnings, ...result.warnings] };
}

function fromDataStream(reader: DataStreamReader, root: XmlElement, warnings: string[]): Parsed {
  if (reader.holdsResults) return skipXml(root, 'scap', true, warnings);
  const contents = interpretDataStream(reader);
  return {
    kind: 'scap',
    content: { type: 'scap', contents },
    warnings: [...warnings, ...reader.losses.warnings()],
  };
}

const ourNames =
  '(?:[\\w.-]+:)?(?:Benchmark|cci_list|catalog|profile|mapping-collection|IMPORT_FILE|DiacapToRmf|data-stream(?:-collection)?)';
const ourRoot = new RegExp(`^${ourNames}$`);
const ourTag = new RegExp(`<${ourNames}[\\s>]`);

/** Whether a file with a DOCTYPE is a supporting file of a package, most often HTML, with nothing of ours in it. */
function isForeign({ root }: DoctypeError, bytes: Uint8Array): boolean {
  return root !== null && !ourRoot.test(root) && !ourTag.test(Buffer.from(bytes).toString('latin1'));
}

/** Markdown may begin with HTML, such as an anchor. A heading of its own is in no XML that we read. */
function isMarkdown(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString('latin1');
  return /^#{1,6}[ \t]+\S/m.test(text) && !ourTag.test(text);
}

const scapRoots = new Set(['data-stream-collection', 'data-stream']);

/** SCAP that is not read: of other versions, and reports. */
function isScap({ name: local, uri }: XmlElement): boolean {
  return scapRoots.has(local)
    ? uri.startsWith('http://scap.nist.gov/schema/scap/source/')
    : local === 'asset-report-collection' &&
        uri.startsWith('http://scap.nist.gov/schema/asset-reporting-format/');
}

function skipXml(root: XmlElement, kind: 'scap' | 'other', hasResults: boolean, warnings: string[]): Parsed {
  const name = root.name.slice(0, 64);
  if (hasResults) {
    const reason = `an XCCDF TestResult (root <${name}>): ${scanResults}`;
    return { kind: kind === 'other' ? 'xccdf' : kind, content: null, reason, warnings };
  }
  const reason =
    kind === 'scap'
      ? `SCAP content that is not read (root <${name}>): import the data stream of SCAP 1.2, 1.3 or 1.4`
      : `XML of an unknown kind: root <${name}>${name === 'CHECKLIST' ? aChecklist : ''}`;
  return { kind, content: null, reason, warnings };
}
