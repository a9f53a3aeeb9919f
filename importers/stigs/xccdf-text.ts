import { strip } from '../../src/base/text.ts';
import type { XmlNode } from '../../src/read/xml.ts';

/** Elements of XHTML that stand on lines of their own. */
const blocks = new Set(
  (
    'address article blockquote body caption center dd details div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody tfoot thead tr ul'
  ).split(' '),
);

// Characters that no text has stand for what becomes a line break, and keep the blanks behind them.
const blockEdge = '\uFDD0';
const lineBreak = '\uFDD1';
const keepBlanks = '\uFDD2';

/** How blanks count: as they are, as one, or as they are even beside line breaks. */
type Layout = 'free' | 'block' | 'pre';

/** Joins the texts of several elements by empty lines. */
export function joinTexts(texts: string[]): string {
  return texts
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join('\n\n');
}

/**
 * The text of an element: blocks and `br` of XHTML become line breaks, cells of a row are joined by ` | ` (rule F1.4). An
 * element to whose name `tagOf` gives a tag becomes a tag in the text.
 */
export function plainText(
  node: XmlNode,
  tagOf: (name: string) => string | undefined = () => undefined,
): string {
  if (node.children.every((child) => typeof child === 'string')) return node.children.join('').trim();

  function contentOf({ children }: XmlNode, layout: Layout): string {
    return children
      .map((child) => (typeof child === 'string' ? own(child, layout) : element(child, layout)))
      .join('');
  }

  function own(text: string, layout: Layout): string {
    if (layout === 'pre') return `${keepBlanks}${text}`;
    return layout === 'block' ? text.replace(/\s+/g, ' ') : text;
  }

  function element(child: XmlNode, layout: Layout): string {
    const name = child.name.toLowerCase();
    if (name === 'br') return lineBreak;
    const inside = name === 'pre' || layout === 'pre' ? 'pre' : blocks.has(name) ? 'block' : layout;
    if (name === 'tr') return `${blockEdge}${cellsOf(child, inside).join(`${keepBlanks} | `)}${blockEdge}`;
    const text = contentOf(child, inside);
    if (blocks.has(name)) return `${blockEdge}${text}${blockEdge}`;
    const tag = tagOf(child.name);
    return tag === undefined ? text : `<${tag}>${text}</${tag}>`;
  }

  function cellsOf(row: XmlNode, layout: Layout): string[] {
    return row.children
      .map((child) => (typeof child === 'string' ? child : contentOf(child, layout)))
      .flatMap((text, at) => (typeof row.children[at] === 'string' && text.trim() === '' ? [] : [text]))
      .map((text) => strip(text, /[\s\uFDD0]/));
  }

  return breakLines(contentOf(node, 'free')).trim();
}

/** A line break for each `br`, else one where blocks meet; blanks around it are layout. */
function breakLines(marked: string): string {
  const [first = '', ...rest] = marked.split(/((?:[\uFDD0\uFDD1]\s*)+)/);
  let text = strip(first, null, /[ \t]/);
  for (let at = 0; at < rest.length; at += 2) {
    const breaks = rest[at]!.split(lineBreak).length - 1;
    if (breaks > 0) text += '\n'.repeat(breaks);
    else if (!text.endsWith('\n')) text += '\n';
    text += strip(rest[at + 1]!, null, /[ \t]/);
  }
  return text.replaceAll(keepBlanks, '');
}
