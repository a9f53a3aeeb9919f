import { ImportError, type Kind } from '../src/read/import-error.ts';
import { isTestResult, scanResults } from '../src/read/scan-results.ts';
import {
  DoctypeError,
  readXml,
  wholeTree,
  type XmlElement,
  type XmlNode,
  type XmlVisitor,
} from '../src/read/xml.ts';
import { aChecklist, fromControls, type ParsedSource, type ParseOptions } from './content.ts';
import { isCciList, parseCciList } from './controls/cci-list.ts';
import { isDod8500, parseDod8500 } from './controls/dod-8500.ts';
import { parseOscalCatalog } from './controls/oscal-catalog.ts';
import { isOscalXml, valueOfXml } from './controls/oscal-document.ts';
import { parseOscalProfile } from './controls/oscal-profile.ts';
import { isDiacapMap, parseDiacapMap } from './crosswalk/diacap.ts';
import { parseOscalMapping } from './crosswalk/oscal-mapping.ts';
import { headlessMarkdown } from './guidance/markdown.ts';
import { skipped } from './read/parsed.ts';
import { createDataStreamReader, isDataStream } from './stigs/scap.ts';
import { isBenchmark, looksLikeBenchmark, parseBenchmark } from './stigs/xccdf.ts';

/** Receives the trees of a document, and gives its content at the end. */
interface XmlReader {
  kind: Kind;
  visitor: XmlVisitor;
  result(): ParsedSource;
}

interface TreeKind {
  kind: Kind;
  isRoot(root: XmlElement): boolean;
  parse(root: XmlNode, options: ParseOptions): ParsedSource;
}

/** Kinds with documents small enough for one tree. */
const treeKinds: TreeKind[] = [
  { kind: 'xccdf', isRoot: isBenchmark, parse: parseBenchmark },
  {
    kind: 'oscal-catalog',
    isRoot: isOscalXml('catalog'),
    parse: (root, { framework }) => fromControls(parseOscalCatalog(valueOfXml(root), framework), []),
  },
  {
    kind: 'oscal-profile',
    isRoot: isOscalXml('profile'),
    parse: (root) => fromControls(parseOscalProfile(valueOfXml(root)), []),
  },
  {
    kind: 'oscal-mapping',
    isRoot: isOscalXml('mapping-collection'),
    parse: (root) => fromControls(parseOscalMapping(valueOfXml(root)), []),
  },
  { kind: 'cci-list', isRoot: isCciList, parse: (root) => fromControls(parseCciList(root), []) },
  { kind: 'dod-8500', isRoot: isDod8500, parse: (root) => fromControls(parseDod8500(root), []) },
  { kind: 'diacap-map', isRoot: isDiacapMap, parse: (root) => fromControls(parseDiacapMap(root), []) },
];

/** Reads a source that begins with `<`. Throws `ImportError` for bad content of a known kind, and for bad XML. */
export function parseXml(bytes: Uint8Array, options: ParseOptions): ParsedSource {
  let reader = null as XmlReader | null;
  try {
    const { warnings } = readXml(bytes, options, (root) => {
      reader = readerOf(root, options);
      return reader.visitor;
    });
    const parsed = reader!.result();
    return { ...parsed, warnings: [...warnings, ...parsed.warnings] };
  } catch (error) {
    const kind = reader?.kind ?? 'other';
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

function readerOf(root: XmlElement, options: ParseOptions): XmlReader {
  if (isDataStream(root)) return { kind: 'scap', ...createDataStreamReader(root) };
  const known = treeKinds.find(({ isRoot }) => isRoot(root));
  if (known === undefined) return foreignReader(root);
  let tree = null as XmlNode | null;
  const visitor = wholeTree((node) => {
    tree = node;
  });
  return { kind: known.kind, visitor, result: () => known.parse(tree!, options) };
}

/** Skips a document of a kind that is not read, and finds out whether it has the results of a scan. */
function foreignReader(root: XmlElement): XmlReader {
  const isScap =
    /^http:\/\/scap\.nist\.gov\/schema\/(?:scap\/source|asset-reporting-format)\//.test(root.uri) &&
    /^(?:data-stream(?:-collection)?|asset-report-collection)$/.test(root.name);
  const kind = isScap ? 'scap' : 'other';
  const name = root.name.slice(0, 64);
  const reason = isScap
    ? `SCAP content that is not read (root <${name}>): import the data stream of SCAP 1.2, 1.3 or 1.4`
    : `XML of an unknown kind: root <${name}>${name === 'CHECKLIST' ? aChecklist : ''}`;
  let hasResults = false;
  return {
    kind,
    visitor: {
      visit(element) {
        hasResults ||= isTestResult(element);
        return 'children';
      },
      tree() {},
    },
    result: () =>
      hasResults
        ? {
            kind: isScap ? 'scap' : 'xccdf',
            content: null,
            reason: `an XCCDF TestResult (root <${name}>): ${scanResults}`,
            warnings: [],
          }
        : { kind, content: null, reason, warnings: [] },
  };
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
