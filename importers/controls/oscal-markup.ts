import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { isObject } from '../../src/base/json.ts';
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

const lineFields = ['title', 'label', 'choice'];
const blockFields = ['usage', 'description', 'prose', 'remarks'];
/** Whether a field or element of OSCAL is a text of one line. */
export const isLineText = (name: string) => lineFields.includes(name);
/** Whether a field or element of OSCAL is a text of blocks: paragraphs, lists, tables. */
export const isBlockText = (name: string) => blockFields.includes(name);

/** Marks a document whose texts are plain, as it was made of XML. */
export const plainTexts = Symbol('plain texts');

/** Reads the Markdown in a document. Throws `ImportError` for more marks or nesting than a parser bears. */
export function withPlainTexts<T>(document: T): T {
  let marks = 0;
  const plain = (markdown: string, disabled: string[]): string => {
    const inserts: string[] = [];
    // A character that no text has stands for what the parser must not touch: parameters, and an escaped `^`.
    const text = markdown
      .replace(/\r\n?/g, '\n')
      .replace(insert, (each) => `\uFDD0${inserts.push(each) - 1}\uFDD1`)
      .replace(/\\([\\^])/g, (each, escaped) => (escaped === '^' ? '\uFDD2' : each));
    if (!needsParser.test(text)) {
      const paragraphs = text.split(/\n\s*\n/).map(collapseLine);
      return restore(paragraphs.join('\n\n'), inserts);
    }
    marks += text.match(mark)?.length ?? 0;
    if (marks > maxMarks || tooDeep.test(text))
      throw new ImportError(`the texts have more than ${maxMarks} marks of Markdown, or nest too deep`);
    const { children } = fromMarkdown(text, {
      extensions: [gfm(), { disable: { null: [...foreign, ...disabled] } }],
      mdastExtensions: [gfmFromMarkdown()],
    });
    return restore(plainOf(children as MarkupNode[], text), inserts);
  };
  const read = (value: unknown, field: string): unknown => {
    if (Array.isArray(value)) return value.map((item) => read(item, field));
    if (isObject(value))
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, read(each, name)]));
    if (typeof value !== 'string') return value;
    if (isLineText(field)) return collapseLine(plain(value, blocks));
    return isBlockText(field) ? plain(value, []) : value;
  };
  return read(document, '') as T;
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

/** Blocks with an empty line between. `source` is the Markdown, whose numbers end in a point or a bracket. */
const plainOf = (nodes: MarkupNode[], source: string) => blocksOf(nodes, source).join('\n\n');

function blocksOf(nodes: MarkupNode[], source: string): string[] {
  const blocks = [''];
  for (const node of nodes)
    if (blockTypes.has(node.type)) blocks.push(blockOf(node, source), '');
    else blocks.push(blocks.pop() + inlineOf([node]));
  return blocks.map((text) => text.trim()).filter((text) => text !== '');
}

function blockOf({ type, children = [], value, start, position }: MarkupNode, source: string): string {
  const below = (type: string) => children.filter((child) => child.type === type);
  if (type === 'list') {
    const end = /^\d+(\))/.exec(source.slice(position?.start.offset))?.[1] ?? '.';
    const labelOf = (index: number) => (typeof start === 'number' ? `${start + index}${end}` : '-');
    return below('listItem')
      .map((item, index) => `${labelOf(index)} ${blocksOf(item.children ?? [], source).join('\n')}`)
      .join('\n');
  }
  if (type === 'table')
    return below('tableRow')
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
