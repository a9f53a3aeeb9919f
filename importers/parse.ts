import type { ControlsResult } from './controls/catalog.ts';
import { CciListBuilder, isCciList } from './controls/cci-list.ts';
import { isDod8500 } from './controls/dod-8500.ts';
import { isOscalXmlCatalog, isOscalXmlProfile } from './controls/oscal-xml.ts';
import { parseControlsJson, parseControlsText, parseControlsXml } from './controls/parse.ts';
import { isDiacapMap } from './crosswalk/diacap.ts';
import { ImportError } from './errors.ts';
import type { Parsed } from './format.ts';
import type { Group } from './groups.ts';
import type { DocumentRecord } from './guidance/document-record.ts';
import {
  interchangeBeginning,
  isInterchange,
  isInterchangeLine,
  parseInterchange,
  parseInterchangeLines,
} from './guidance/interchange.ts';
import { type MarkdownResult, parseHeadedMarkdown, parseMarkdownFolder } from './guidance/markdown.ts';
import { beginsWithHead } from './guidance/markdown-head.ts';
import { isCuratedCsv, parseCuratedCsv } from './guidance/roles/curated-csv.ts';
import { isNice, parseNice } from './guidance/roles/nice.ts';
import { parseOnet } from './guidance/roles/onet.ts';
import type { RolesRecord } from './guidance/roles/role-record.ts';
import type { Kind } from './ledger.ts';
import { decodeText } from './read/decode.ts';
import { DoctypeError, readXml, type XmlElement } from './read/xml.ts';
import { BenchmarkBuilder } from './stigs/xccdf-builder.ts';
import { ResultsFinder, scanResults } from './stigs/xccdf-results.ts';
import { fromBenchmark, isBenchmark, looksLikeBenchmark } from './stigs/xccdf-source.ts';

interface ParseOptions {
  strict?: boolean;
}

/**
 * Finds the kind of a source from its bytes, never from its name, and reads it. Pure: no database, no files.
 * Throws `ImportError` for a kind of ours that is bad and for what begins with `<` and is no XML.
 */
export function parseSource(bytes: Uint8Array, options: ParseOptions = {}): Parsed {
  if (bytes.byteLength === 0) return skipped('the file is empty');
  switch (firstCharacter(bytes)) {
    case '<':
      return parseXml(bytes, options);
    case '{':
    case '[':
      return parseJson(bytes, options);
    default:
      return parseText(bytes, options);
  }
}

/** Reads a source that is made of several files. Pure; throws `ImportError`. */
export function parseGroup(
  { kind, files }: Pick<Group, 'kind' | 'files'>,
  { strict = false }: ParseOptions = {},
): Parsed {
  if (kind === 'regdoc-markdown') return fromMarkdown(parseMarkdownFolder(files, strict), []);
  const { record, warnings } = parseOnet(files, strict);
  return fromRoles(kind, record, warnings);
}

function fromRoles(kind: Kind, record: RolesRecord, warnings: string[]): Parsed {
  return { kind, content: { type: 'roles', record }, warnings };
}

function fromDocuments(kind: Kind, documents: DocumentRecord[], warnings: string[]): Parsed {
  return { kind, content: { type: 'documents', documents }, warnings };
}

function fromMarkdown(result: MarkdownResult, warnings: string[]): Parsed {
  if ('reason' in result) return { kind: 'other', content: null, reason: result.reason, warnings };
  return fromDocuments('regdoc-markdown', [result.document], [...warnings, ...result.warnings]);
}

function skipped(reason: string): Parsed {
  return { kind: 'other', content: null, reason, warnings: [] };
}

/** The first character that is no blank, after a byte-order mark, in UTF-8 or UTF-16. */
function firstCharacter(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 1024));
  const wide = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  const text = wide ? head.toString('latin1').replaceAll('\0', '') : head.toString('latin1');
  return /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*([^\s])/.exec(text)?.[1];
}

const ourRoot =
  /^(?:[\w.-]+:)?(?:Benchmark|cci_list|catalog|IMPORT_FILE|DiacapToRmf|data-stream(?:-collection)?)$/;
const ourTag =
  /<(?:[\w.-]+:)?(?:Benchmark|cci_list|catalog|IMPORT_FILE|DiacapToRmf|data-stream(?:-collection)?)[\s>]/;

/** Whether what a DOCTYPE stands in is a supporting file of a package, most often HTML: nothing in it is one of ours. */
function isForeign({ root }: DoctypeError, bytes: Uint8Array): boolean {
  return root !== null && !ourRoot.test(root) && !ourTag.test(Buffer.from(bytes).toString('latin1'));
}

const scapRoots = new Set(['data-stream-collection', 'data-stream']);

function parseXml(bytes: Uint8Array, options: ParseOptions): Parsed {
  // The two big formats are built from the gate's own events, the others from the text that has passed it.
  const built: { benchmark?: BenchmarkBuilder; cciList?: CciListBuilder } = {};
  let results = new ResultsFinder();
  let kind: Kind = 'other';
  try {
    const document = readXml(bytes, options, (element) => {
      kind = kindOfXml(element);
      if (kind === 'xccdf') built.benchmark = new BenchmarkBuilder(element.uri);
      if (kind === 'cci-list') built.cciList = new CciListBuilder();
      results = new ResultsFinder();
      return built.benchmark ?? built.cciList ?? results;
    });
    const { root, warnings } = document;
    if (built.benchmark) return fromBenchmark(built.benchmark, warnings);
    const controls = built.cciList ? built.cciList.result() : parseControlsXml(root, document.text);
    if (controls !== null) return fromControls(controls, warnings);
    return skipXml(root, kind, results.isFound, warnings);
  } catch (error) {
    if (error instanceof DoctypeError && isForeign(error, bytes))
      return skipped(`XML or HTML of an unknown kind, with a DOCTYPE: root <${error.root!.slice(0, 64)}>`);
    // What cannot be decoded has no root yet; a benchmark is known by its beginning.
    if (error instanceof ImportError && error.kind === 'other')
      error.kind = kind === 'other' && looksLikeBenchmark(Buffer.from(bytes)) ? 'xccdf' : kind;
    throw error;
  }
}

/** The kind that a root element announces. */
function kindOfXml(root: XmlElement): Kind {
  if (isBenchmark(root)) return 'xccdf';
  if (isCciList(root)) return 'cci-list';
  if (isOscalXmlCatalog(root)) return 'oscal-catalog';
  if (isOscalXmlProfile(root)) return 'oscal-profile';
  if (isDod8500(root)) return 'dod-8500';
  if (isDiacapMap(root)) return 'diacap-map';
  return isScap(root) ? 'scap' : 'other';
}

function fromControls(result: ControlsResult, warnings: string[]): Parsed {
  if (result.records === null) {
    const { kind, reason, part } = result;
    return { kind, content: null, reason, warnings, ...(part ? { part } : {}) };
  }
  const content = { type: 'controls' as const, records: result.records };
  return { kind: result.kind, content, warnings: [...warnings, ...result.warnings] };
}

/** Said of a ckl or cklb, which lies beside STIGs and looks like one. */
const aChecklist = ' (a checklist: upgrade it on the page “Upgrade a checklist”; it cannot be imported)';

function skipXml(root: XmlElement, kind: Kind, hasResults: boolean, warnings: string[]): Parsed {
  if (hasResults) {
    const reason = `an XCCDF TestResult (root <${root.local.slice(0, 64)}>): ${scanResults}`;
    return { kind: kind === 'other' ? 'xccdf' : kind, content: null, reason, warnings };
  }
  const reason =
    kind === 'scap'
      ? `SCAP content (automated checks, root <${root.local}>): it cannot be imported as a STIG`
      : `XML of an unknown kind: root <${root.local.slice(0, 64)}>${root.local === 'CHECKLIST' ? aChecklist : ''}`;
  return { kind, content: null, reason, warnings };
}

function isScap({ local, uri }: XmlElement): boolean {
  return scapRoots.has(local)
    ? uri.startsWith('http://scap.nist.gov/schema/scap/source/')
    : local === 'asset-report-collection' &&
        uri.startsWith('http://scap.nist.gov/schema/asset-reporting-format/');
}

/** How the JSON files that we know begin, for telling a damaged one from a file of no kind of ours. */
const jsonBeginnings: [RegExp, Kind][] = [
  [/^\s*\{\s*"catalog"\s*:/, 'oscal-catalog'],
  [/^\s*\{\s*"profile"\s*:/, 'oscal-profile'],
  [/^\s*\{\s*"(?:response|documents)"\s*:/, 'cprt'],
  [interchangeBeginning, 'regdoc'],
];

function parseJson(bytes: Uint8Array, options: ParseOptions): Parsed {
  const head = Buffer.from(bytes.subarray(0, 1024))
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '');
  const likely = jsonBeginnings.find(([beginning]) => beginning.test(head))?.[1];
  const { text, warnings } = decodeText(bytes, options.strict);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const [firstLine] = /^\s*\{[^\n]*\}(?=[ \t]*\r?\n\s*\S)/.exec(text) ?? [];
    if (firstLine !== undefined && (likely === 'regdoc' || isInterchangeLine(firstLine))) {
      const lines = parseInterchangeLines(text);
      return fromDocuments('regdoc', lines.documents, [...warnings, ...lines.warnings]);
    }
    if (likely === undefined)
      return skipped('the content is of an unknown kind (it begins like JSON but is not valid JSON)');
    throw new ImportError(`not valid JSON: ${(error as Error).message.slice(0, 150)}`, likely);
  }
  if (isInterchange(value)) {
    const read = parseInterchange(value, text);
    return fromDocuments('regdoc', read.documents, [...warnings, ...read.warnings]);
  }
  if (isNice(value)) return fromRoles('nice', parseNice(value), warnings);
  const result = parseControlsJson(value);
  if (result !== null) return fromControls(result, warnings);
  return skipped(nameOfJson(value));
}

/** The models of OSCAL that say nothing about a catalog. */
const otherOscal = [
  'component-definition',
  'mapping-collection',
  'system-security-plan',
  'assessment-plan',
  'assessment-results',
  'plan-of-action-and-milestones',
];

function nameOfJson(value: unknown): string {
  const keys = Object.keys((value ?? {}) as object);
  const model = otherOscal.find((each) => keys.includes(each));
  if (model !== undefined)
    return `OSCAL of another kind (${model}): only catalogs and profiles can be imported`;
  if (keys.includes('$schema')) return 'JSON of an unknown kind (a JSON schema)';
  return `JSON of an unknown kind${isCklb(value) ? aChecklist : ''}`;
}

function isCklb(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'stigs' in value && 'target_data' in value;
}

/** What else people have beside STIGs, by how it begins; its text is not quoted, since the ledger is read by others. */
const foreignBeginnings: [RegExp, string][] = [
  [/^\x1f\x8b/, 'gzip: unpack it first'],
  [/^%PDF-/, 'a PDF document'],
  [/^,?"?(?:Control Acronym,Control Information,|POA&M Item ID,|Authorization Package )/, 'a sheet of eMASS'],
  [/^[\t\r\n\x20-\x7e\xa0-\xff]+$/, 'a text'],
];

function parseText(bytes: Uint8Array, options: ParseOptions): Parsed {
  // Only a text that begins like one of ours is decoded: a PDF or a picture is no broken text.
  const head = Buffer.from(bytes.subarray(0, 256))
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '');
  if (!/^(?:"?(framework|fromFramework|sp800_171r2|stigSlug)\b|---[ \t]*\r?\n)/.test(head)) {
    const what = foreignBeginnings.find(([beginning]) => beginning.test(head))?.[1];
    return skipped(`the content is of an unknown kind${what === undefined ? '' : ` (${what})`}`);
  }
  const { text, warnings } = decodeText(bytes, options.strict);
  if (beginsWithHead(text)) return fromMarkdown(parseHeadedMarkdown(text), warnings);
  if (isCuratedCsv(text)) return fromRoles('role-mapping-csv', parseCuratedCsv(text), warnings);
  const result = parseControlsText(text);
  return result === null ? skipped('the content is of an unknown kind') : fromControls(result, warnings);
}
