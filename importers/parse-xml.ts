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
  type XmlVisitor,
} from '../src/read/xml.ts';
import type { ControlsResult } from './controls/catalog.ts';
import { isCciList, parseCciList } from './controls/cci-list.ts';
import { isDod8500, parseDod8500 } from './controls/dod-8500.ts';
import { parseOscalCatalog } from './controls/oscal-catalog.ts';
import { isOscalXml, valueOfXml } from './controls/oscal-document.ts';
import { parseOscalProfile } from './controls/oscal-profile.ts';
import { isDiacapMap, parseDiacapMap } from './crosswalk/diacap.ts';
import { parseOscalMapping } from './crosswalk/oscal-mapping.ts';
import { headlessMarkdown } from './guidance/markdown.ts';
import { aChecklist, fromControls, type Parsed, type ParseOptions, skipped } from './parsed.ts';
import { createDataStreamReader, isDataStream } from './stigs/scap.ts';
import { createBenchmarkReader, isBenchmark, looksLikeBenchmark } from './stigs/xccdf.ts';

/** What receives the document, and what gives its content at the end. */
interface XmlReading {
  kind: Kind;
  handler: XmlHandler;
  finish(warnings: string[]): Parsed;
}

/** Kinds with documents small enough for one tree. */
const treeKinds: [
  Kind,
  (root: XmlElement) => boolean,
  (root: XmlNode, framework: string | undefined) => ControlsResult,
][] = [
  ['oscal-catalog', isOscalXml('catalog'), (root, name) => parseOscalCatalog(valueOfXml(root), name)],
  ['oscal-profile', isOscalXml('profile'), (root) => parseOscalProfile(valueOfXml(root))],
  ['oscal-mapping', isOscalXml('mapping-collection'), (root) => parseOscalMapping(valueOfXml(root))],
  ['cci-list', isCciList, parseCciList],
  ['dod-8500', isDod8500, parseDod8500],
  ['diacap-map', isDiacapMap, parseDiacapMap],
];

/** Reads a source that begins with `<`. Throws `ImportError` for bad content of a known kind, and for bad XML. */
export function parseXml(bytes: Uint8Array, options: ParseOptions): Parsed {
  let reading = null as XmlReading | null;
  try {
    const { warnings } = readXmlEvents(bytes, options, (root) => {
      reading = readingOf(root, options.framework);
      return reading.handler;
    });
    return reading!.finish(warnings);
  } catch (error) {
    const kind = reading?.kind ?? 'other';
    const text = Buffer.from(bytes).toString('latin1');
    if (error instanceof DoctypeError && isForeign(error, text))
      return skipped(`XML or HTML of an unknown kind, with a DOCTYPE: root <${error.root!.slice(0, 64)}>`);
    if (kind === 'other' && isMarkdown(text)) return skipped(headlessMarkdown);
    // A text that cannot be decoded has no root; its beginning identifies a benchmark.
    if (error instanceof ImportError && error.kind === 'other')
      error.kind = kind === 'other' && looksLikeBenchmark(text) ? 'xccdf' : kind;
    throw error;
  }
}

function readingOf(root: XmlElement, framework: string | undefined): XmlReading {
  if (isBenchmark(root)) return readingBy('xccdf', createBenchmarkReader(root));
  if (isDataStream(root)) return readingBy('scap', createDataStreamReader(root));
  const [kind, , parse] = treeKinds.find(([, isRoot]) => isRoot(root)) ?? [];
  if (kind && parse) {
    let tree = null as XmlNode | null;
    const visitor = wholeTree((node) => {
      tree = node;
    });
    return readingBy(kind, { visitor, result: () => fromControls(parse(tree!, framework), []) });
  }
  return foreignReading(root);
}

function readingBy(kind: Kind, { visitor, result }: { visitor: XmlVisitor; result(): Parsed }): XmlReading {
  return {
    kind,
    handler: treeBuilder(visitor),
    finish(warnings) {
      const parsed = result();
      return { ...parsed, warnings: [...warnings, ...parsed.warnings] };
    },
  };
}

/** Skips a document of a kind that is not read, and finds out whether it has the results of a scan. */
function foreignReading(root: XmlElement): XmlReading {
  const isScap =
    /^http:\/\/scap\.nist\.gov\/schema\/(?:scap\/source|asset-reporting-format)\//.test(root.uri) &&
    /^(?:data-stream(?:-collection)?|asset-report-collection)$/.test(root.name);
  const kind = isScap ? 'scap' : 'other';
  const name = root.name.slice(0, 64);
  const reason = isScap
    ? `SCAP content that is not read (root <${name}>): import the data stream of SCAP 1.2, 1.3 or 1.4`
    : `XML of an unknown kind: root <${name}>${name === 'CHECKLIST' ? aChecklist : ''}`;
  let hasResults = false;
  const visitor: XmlVisitor = {
    visit(element) {
      hasResults ||= isTestResult(element);
      return 'children';
    },
    tree() {},
  };
  const results = `an XCCDF TestResult (root <${name}>): ${scanResults}`;
  return readingBy(kind, {
    visitor,
    result: () =>
      hasResults
        ? { kind: isScap ? 'scap' : 'xccdf', content: null, reason: results, warnings: [] }
        : { kind, content: null, reason, warnings: [] },
  });
}

const ourNames =
  '(?:[\\w.-]+:)?(?:Benchmark|cci_list|catalog|profile|mapping-collection|IMPORT_FILE|DiacapToRmf|data-stream(?:-collection)?)';
const ourRoot = new RegExp(`^${ourNames}$`);
const ourTag = new RegExp(`<${ourNames}[\\s>]`);

/** Whether a file with a DOCTYPE is a supporting file of a package, most often HTML, with nothing of ours in it. */
function isForeign({ root }: DoctypeError, text: string): boolean {
  return root !== null && !ourRoot.test(root) && !ourTag.test(text);
}

/** Markdown may begin with HTML, such as an anchor. A heading of its own is in no XML that we read. */
function isMarkdown(text: string): boolean {
  return /^#{1,6}[ \t]+\S/m.test(text) && !ourTag.test(text);
}
