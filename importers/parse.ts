import { isObject } from '../src/base/json.ts';
import { count } from '../src/base/text.ts';
import { decodeText, headOf } from '../src/read/decode.ts';
import { ImportError, type Kind } from '../src/read/import-error.ts';
import { aChecklist, fromControls, type ParsedSource, type ParseOptions } from './content.ts';
import type { ControlsResult } from './controls/catalog.ts';
import { isControlsCsv, parseControlsCsv } from './controls/controls-csv.ts';
import { parseCprt } from './controls/cprt.ts';
import { cprtDocument } from './controls/cprt-shape.ts';
import { parseOscalCatalog } from './controls/oscal-catalog.ts';
import { isOscal } from './controls/oscal-document.ts';
import { parseOscalProfile } from './controls/oscal-profile.ts';
import { isMappingsCsv, parseMappingsCsv } from './crosswalk/mappings-csv.ts';
import { parseOscalMapping } from './crosswalk/oscal-mapping.ts';
import {
  interchangeBeginning,
  isInterchange,
  isInterchangeLine,
  parseInterchange,
  parseInterchangeLines,
} from './guidance/document-interchange.ts';
import { headlessMarkdown, parseHeadedMarkdown, parseMarkdownFolder } from './guidance/markdown.ts';
import { beginsWithHead } from './guidance/markdown-head.ts';
import { isCuratedCsv, parseCuratedCsv } from './guidance/roles/curated-mappings.ts';
import { isNice, parseNice } from './guidance/roles/nice.ts';
import { parseOnet } from './guidance/roles/onet.ts';
import { parseXml } from './parse-xml.ts';
import type { GroupFile } from './read/parsed.ts';
import { skipped } from './read/parsed.ts';
import { isSynonymsCsv, parseSynonymsCsv } from './stigs/synonyms.ts';

/** Reads a source; its bytes, never its name, decide the kind. Pure. Throws `ImportError` for bad content. */
export function parseSource(bytes: Uint8Array, options: ParseOptions = {}): ParsedSource {
  if (bytes.byteLength === 0) return skipped('the file is empty');
  const head = headOf(bytes, 1024).trimStart();
  const parse = head.startsWith('<') ? parseXml : /^[{[]/.test(head) ? parseJson : parseText;
  return cutTitles(parse(bytes, options));
}

/** Reads a source of several files. Pure; throws `ImportError`. */
export function parseGroup(
  kind: Kind,
  files: GroupFile[],
  { strict = false }: ParseOptions = {},
): ParsedSource {
  const isDocument = kind === 'regdoc-markdown';
  return cutTitles(isDocument ? parseMarkdownFolder(files, strict) : parseOnet(files, strict));
}

/** Beginnings of known JSON: they identify a damaged file. */
const jsonBeginnings: [RegExp, Kind][] = [
  [/^\s*\{\s*"catalog"\s*:/, 'oscal-catalog'],
  [/^\s*\{\s*"profile"\s*:/, 'oscal-profile'],
  [/^\s*\{\s*"mapping-collection"\s*:/, 'oscal-mapping'],
  [/^\s*\{\s*"(?:response|documents)"\s*:/, 'cprt'],
  [interchangeBeginning, 'regdoc'],
];

function parseJson(bytes: Uint8Array, options: ParseOptions): ParsedSource {
  const head = headOf(bytes, 1024);
  const likely = jsonBeginnings.find(([beginning]) => beginning.test(head))?.[1];
  const { text, warnings } = decodeText(bytes, options.strict);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const [firstLine] = /^\s*\{[^\n]*\}(?=[ \t]*\r?\n\s*\S)/.exec(text) ?? [];
    if (firstLine !== undefined && (likely === 'regdoc' || isInterchangeLine(firstLine)))
      return behind(warnings, parseInterchangeLines(text));
    if (likely === undefined)
      return skipped('the content is of an unknown kind (it begins like JSON but is not valid JSON)');
    throw new ImportError(`not valid JSON: ${(error as Error).message.slice(0, 150)}`, likely);
  }
  if (isInterchange(value)) return behind(warnings, parseInterchange(value, text));
  if (isNice(value)) return behind(warnings, parseNice(value));
  const controls = parseControlsJson(value, options.framework);
  return controls === null ? skipped(unknownJson(value)) : fromControls(controls, warnings);
}

/** What was read, with the warnings of decoding before its own. */
const behind = (warnings: string[], parsed: ParsedSource): ParsedSource => ({
  ...parsed,
  warnings: [...warnings, ...parsed.warnings],
});

const otherOscal = [
  'component-definition',
  'system-security-plan',
  'assessment-plan',
  'assessment-results',
  'plan-of-action-and-milestones',
];

/** Why JSON of another kind is skipped. */
function unknownJson(value: unknown): string {
  const keys = isObject(value) ? Object.keys(value) : [];
  const model = otherOscal.find((each) => keys.includes(each));
  if (model !== undefined)
    return `OSCAL of another kind (${model}): only catalogs, profiles and mapping-collections can be imported`;
  if (keys.includes('$schema')) return 'JSON of an unknown kind (a JSON schema)';
  const isCklb = keys.includes('stigs') && keys.includes('target_data');
  return `JSON of an unknown kind${isCklb ? aChecklist : ''}`;
}

/** Other common files, by their beginning. The ledger does not quote their text: others may read it. */
const foreignBeginnings: [RegExp, string][] = [
  [/^\x1f\x8b/, 'gzip: unpack it first'],
  [/^%PDF-/, 'a PDF document'],
  [/^,?"?(?:Control Acronym,Control Information,|POA&M Item ID,|Authorization Package )/, 'a sheet of eMASS'],
  [/^#{1,6}[ \t]+\S/, headlessMarkdown],
  [/^[\t\r\n\x20-\x7e\xa0-\xff]+$/, 'a text'],
];

function parseText(bytes: Uint8Array, options: ParseOptions): ParsedSource {
  // Decode only a text that begins like a known kind: a PDF is not a damaged text.
  const head = headOf(bytes, 256);
  if (!/^(?:"?(framework|fromFramework|sp800_171r2|stigSlug|words)\b|---[ \t]*\r?\n)/.test(head)) {
    const what = foreignBeginnings.find(([beginning]) => beginning.test(head))?.[1];
    return skipped(`the content is of an unknown kind${what === undefined ? '' : ` (${what})`}`);
  }
  const { text, warnings } = decodeText(bytes, options.strict);
  if (beginsWithHead(text)) return behind(warnings, parseHeadedMarkdown(text));
  if (isCuratedCsv(text)) return behind(warnings, parseCuratedCsv(text));
  if (isSynonymsCsv(text)) return behind(warnings, parseSynonymsCsv(text));
  if (isControlsCsv(text)) return fromControls(parseControlsCsv(text), warnings);
  if (isMappingsCsv(text)) return fromControls(parseMappingsCsv(text), warnings);
  return skipped('the content is of an unknown kind');
}

/** Reads a JSON value about controls; null for any other value. Throws `ImportError`. */
export function parseControlsJson(value: unknown, framework?: string): ControlsResult | null {
  if (isOscal(value, 'catalog')) return parseOscalCatalog(value, framework);
  if (isOscal(value, 'mapping-collection')) return parseOscalMapping(value);
  if (isOscal(value, 'profile')) return parseOscalProfile(value);
  return cprtDocument(value) === null ? null : parseCprt(value);
}

/** Characters of a title: the longest of the publishers has 600. */
const longestTitle = 2000;
const isTitle = /(?:title|heading|label|name|family)$/i;

/**
 * Cuts the titles, names and labels of a source that are longer than 2,000 characters, with a warning: pages and exports
 * read each of them many times.
 */
function cutTitles(parsed: ParsedSource): ParsedSource {
  let cuts = 0;
  function walk(value: object): void {
    for (const [key, each] of Object.entries(value)) {
      if (typeof each === 'object' && each !== null) walk(each);
      else if (typeof each === 'string' && each.length > longestTitle && isTitle.test(key)) {
        (value as Record<string, unknown>)[key] = each
          .slice(0, longestTitle)
          .replace(/[\ud800-\udbff]$/, '')
          .trimEnd();
        cuts++;
      }
    }
  }
  if (parsed.content !== null) walk(parsed.content);
  if (cuts === 0) return parsed;
  const warning = `${count(cuts, 'title')} of more than ${longestTitle.toLocaleString('en-US')} characters cut`;
  return { ...parsed, warnings: [...parsed.warnings, warning] };
}
