import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../../src/read/import-error.ts';
import type { XmlNode } from '../../src/read/xml.ts';
import { collapseLine } from '../read/source-text.ts';

// OSCAL writes its texts in Markdown (JSON) or in elements (XML). Both become the same tree, and the tree plain text.

/** A node of a text: of the Markdown parser (mdast), or made of an element. */
interface MarkupNode {
  type: string;
  value?: string;
  alt?: string | null;
  url?: string;
  start?: number | null;
  children?: MarkupNode[];
  position?: { start: { offset?: number } };
}

const blockTypes = new Set(['paragraph', 'heading', 'list', 'table', 'code', 'blockquote', 'listItem']);

/** What Markdown has and OSCAL has not: `[x]: y`, a line of hyphens and an indented line are text. */
const foreign = [
  'codeIndented',
  'definition',
  'gfmFootnoteCall',
  'gfmFootnoteDefinition',
  'gfmPotentialFootnoteCall',
  'htmlFlow',
  'setextUnderline',
  'tasklistCheck',
  'thematicBreak',
];
/** A text of one line has no blocks: `1. Govern` is a title, not a list. */
const blocks = ['blockQuote', 'codeFenced', 'headingAtx', 'list', 'table'];

const insert = /\{\{[^{}]*\}\}/g;
const mark = /[*_`~^\\[\]<>!&|]/g;
/** What makes the parser necessary: most texts are plain. */
const needsParser = /[*_`~^\\[<&|]| {2}\n|^[ \t]*(?:[-+#>]|\d{1,9}[.)][ \t])/m;
const tooDeep = /^(?=[ \t]*(?:>|[-+*][ \t]|\d{1,9}[.)][ \t]))(?:[ \t>]|(?:[-+*]|\d{1,9}[.)])(?=[ \t])){80}/m;
/** Measured: the parser needs up to a millisecond for a mark. Real catalogs have some thousand. */
const maxMarks = 100_000;
const markup = /^<\/?(?:a|b|br|code|em|h[1-6]|i|img|p|pre|q|strong|su[bp])(?![\w-])/i;

/** Reads the texts of one document: Markdown to plain text, of one line or of blocks (paragraphs, lists, tables). */
export interface ReadMarkup {
  line(text: string): string;
  blocks(text: string): string;
}

/** Where a value that was made of XML has the root of the document: its texts are plain. */
export const xmlRoot = Symbol('root');

/** The reader of the texts of a value: Markdown, unless the value was made of XML. */
export const readMarkupOf = (value: unknown): ReadMarkup =>
  typeof value === 'object' && value !== null && xmlRoot in value ? plainTexts : createReadMarkdown();

/** Leaves texts as they are. */
export const plainTexts: ReadMarkup = { line: (text) => text, blocks: (text) => text };

/** Makes the reader of a document in JSON, which throws `ImportError` for more marks or nesting than a parser bears. */
function createReadMarkdown(): ReadMarkup {
  let marks = 0;
  const parse = (markdown: string, disabled: string[]): string => {
    const inserts: string[] = [];
    // A character that no text has stands for what the parser must not touch: parameters, and an escaped `^`.
    const text = markdown
      .replace(/\r\n?/g, '\n')
      .replace(insert, (each) => `\uFDD0${inserts.push(each) - 1}\uFDD1`)
      .replace(/\\([\\^])/g, (each, escaped) => (escaped === '^' ? '\uFDD2' : each));
    if (!needsParser.test(text))
      return restore(
        text
          .split(/\n\s*\n/)
          .map(collapseLine)
          .join('\n\n'),
        inserts,
      );
    marks += text.match(mark)?.length ?? 0;
    if (marks > maxMarks || tooDeep.test(text))
      throw new ImportError(`the texts have more than ${maxMarks} marks of Markdown, or nest too deep`);
    const { children } = fromMarkdown(text, {
      extensions: [gfm(), { disable: { null: [...foreign, ...disabled] } }],
      mdastExtensions: [gfmFromMarkdown()],
    });
    return restore(plainOf(children as MarkupNode[], text), inserts);
  };
  return {
    line: (text) => collapseLine(parse(text, blocks)),
    blocks: (text) => parse(text, []),
  };
}

const restore = (text: string, inserts: string[]) =>
  text
    .replace(/\uFDD0(\d+)\uFDD1/g, (_, index: string) => inserts[Number(index)] ?? '')
    .replaceAll('\uFDD2', '^');

/** The plain text of some elements: paragraphs with an empty line between, rows and list items on lines of their own. */
export function plainOfXml(nodes: (XmlNode | string)[]): string {
  return plainOf(nodes.flatMap(ofElement), '');
}

/** The plain text of an element of one line. */
export function lineOfXml({ children }: XmlNode): string {
  return collapseLine(inlineOf(children.flatMap(ofElement)));
}

const elementTypes: Record<string, string> = {
  p: 'paragraph',
  pre: 'code',
  ul: 'list',
  ol: 'list',
  li: 'listItem',
  table: 'table',
  tr: 'tableRow',
  td: 'tableCell',
  th: 'tableCell',
  blockquote: 'blockquote',
  a: 'link',
  br: 'break',
};

function ofElement(node: XmlNode | string): MarkupNode[] {
  if (typeof node === 'string') return [{ type: 'words', value: node }];
  const { name, attributes } = node;
  if (name === 'insert')
    return [{ type: 'inlineCode', value: `{{ insert: param, ${attributes['id-ref'] ?? ''} }}` }];
  if (name === 'img') return [{ type: 'image', alt: attributes.alt ?? '' }];
  const children = node.children.flatMap(ofElement);
  if (['thead', 'tbody', 'tfoot'].includes(name)) return children;
  if (name === 'q') return [{ type: 'inlineCode', value: `"${inlineOf(children)}"` }];
  const type = elementTypes[name] ?? (/^h[1-6]$/.test(name) ? 'heading' : 'emphasis');
  return [{ type, children, url: attributes.href ?? '', start: name === 'ol' ? 1 : null }];
}

/** `source` is the Markdown, whose numbers end in a point or a bracket. */
function plainOf(nodes: MarkupNode[], source: string): string {
  return blocksOf(nodes, source).join('\n\n');
}

function blocksOf(nodes: MarkupNode[], source: string): string[] {
  const found: string[] = [];
  let inline: MarkupNode[] = [];
  const flush = () => {
    found.push(inlineOf(inline));
    inline = [];
  };
  for (const node of nodes) {
    if (!blockTypes.has(node.type)) {
      inline.push(node);
      continue;
    }
    flush();
    found.push(blockOf(node, source));
  }
  flush();
  return found.map((text) => text.trim()).filter((text) => text !== '');
}

function blockOf(node: MarkupNode, source: string): string {
  const { type, children = [], value = '', start } = node;
  if (type === 'list') {
    const first = source.slice(node.position?.start.offset).match(/^\d+(\))/)?.[1] ?? '.';
    return children
      .filter((item) => item.type === 'listItem')
      .map((item, index) => {
        const label = start === null || start === undefined ? '-' : `${start + index}${first}`;
        return `${label} ${blocksOf(item.children ?? [], source).join('\n')}`;
      })
      .join('\n');
  }
  if (type === 'table')
    return children
      .filter((row) => row.type === 'tableRow')
      .map(({ children: cells = [] }) =>
        cells
          .filter((cell) => cell.type === 'tableCell')
          .map((cell) => collapseLine(blocksOf(cell.children ?? [], source).join(' ')))
          .join(' | '),
      )
      .join('\n');
  if (type === 'code') return value || children.map(rawOf).join('');
  return type === 'blockquote' || type === 'listItem' ? plainOf(children, source) : inlineOf(children);
}

const rawOf = ({ value = '', children = [] }: MarkupNode): string => value + children.map(rawOf).join('');

/** Text with one blank for a line end; a line break stays one. */
function inlineOf(nodes: MarkupNode[]): string {
  return nodes
    .map(({ type, value = '', alt, url, children = [] }) => {
      if (type === 'text') return value.replace(/\s+/g, ' ').replace(/\^([^\s^]+)\^/g, '$1');
      if (type === 'break') return '\n';
      if (type === 'image') return alt ?? '';
      if (type === 'html') return htmlOf(value);
      if (type === 'link') return linkOf(inlineOf(children), url ?? '');
      return value.replace(/\s+/g, ' ') + inlineOf(children);
    })
    .join('');
}

/** The elements of OSCAL may stand in Markdown too. What is no such element is text: `<citizenship>`. */
function htmlOf(tag: string): string {
  if (!markup.test(tag)) return tag;
  return /^<br/i.test(tag) ? '\n' : /^<\/?q/i.test(tag) ? '"' : '';
}

/** The words of a link; those to a control of 800-53 name it in the published form, as `AC-2(1)` or `AU-2a`. */
function linkOf(words: string, url: string): string {
  if (!/^#[a-z]{2}-\d/.test(url)) return words;
  return canonicalIdentifier('nist-800-53', words) ?? words.replace(/(?<=[-(])0+(?=\d)/g, '');
}
