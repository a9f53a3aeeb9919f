import { collapseLine } from '../read/source-text.ts';
import { type FlowNode, type PhrasingNode, parseFiles, parseMarkdown } from './markdown-tree.ts';

/** A paragraph, list item or table cell as plain text. */
export interface Block {
  text: string;
  kind: 'paragraph' | 'item' | 'cell';
  lead: Block | null;
  /** A cache: each item of a long list asks for it. */
  below?: HandedDown;
}

/** What an introduction passes to the items below it. */
export interface HandedDown {
  introduction: string;
  force: 'duty' | 'advice' | null;
  timingOrTrigger: boolean;
  applicationConditions: string;
  exemptConditions: string;
}

export interface DocumentSection {
  /** 0 for the text before the first heading. */
  ordinal: number;
  level: number;
  heading: string;
  path: string[];
  blocks: Block[];
}

// Legal texts use letters and Roman numerals as list marks, Markdown does not.
const itemMark = /^(?:[*+•–-]|\d{1,3}[.)]|[A-Za-z][.)]|[ivx]{1,5}[.)])\s+(?=\S)/;
// `The following fields are required` introduces a list without a colon.
const introduction = /:$|\bfollowing\b[^.:;!?]{0,500}$/i;
const tag = /<(\/?)([a-z][a-z0-9-]*)(?=[\s/>])[^<>]{0,2000}>/gi;
const breakingTag =
  /^(?:br|p|div|ol|ul|li|table|thead|tbody|tr|td|th|h[1-6]|section|blockquote|dl|dt|dd|hr|pre|script|style)$/i;

/** Reads the sections and blocks of Markdown in one or several files. Throws `ImportError`. */
export function readSections(...files: string[]): DocumentSection[] {
  const reader = new SectionReader();
  for (const { text, tree } of parseFiles(files)) reader.flow(tree.children, text, 0);
  return reader.list;
}

function closed() {
  return { lists: 0, tables: 0, heading: 0, isItem: false, isCode: false, cells: [] as Block[] };
}

class SectionReader {
  readonly list: DocumentSection[] = [{ ordinal: 0, level: 0, heading: '', path: [], blocks: [] }];
  private readonly above: { level: number; heading: string }[] = [];
  /** Introductions that may apply to the next block, by depth: a paragraph is above the items beside it. */
  private leads: { depth: number; block: Block }[] = [];
  private html = closed();

  flow(nodes: FlowNode[], source: string, depth: number): void {
    for (const node of nodes) this.node(node, source, depth);
  }

  private node(node: FlowNode, source: string, depth: number): void {
    if (node.type === 'paragraph') this.paragraph(plainText(node.children), 'paragraph', depth);
    else if (node.type === 'heading') {
      const text = plainText(node.children);
      const isUnderlined = !source.startsWith('#', node.position!.start.offset);
      // A sentence with a line of hyphens below it is not a heading.
      if (isUnderlined && /[.!?:;,]$/.test(text.trim())) this.paragraph(text, 'paragraph', depth);
      else this.heading(node.depth, text);
    } else if (node.type === 'list') {
      for (const { children } of node.children) {
        const [first, ...rest] = children;
        const isText = first?.type === 'paragraph';
        if (isText) this.paragraph(plainText(first.children), 'item', depth + 1);
        this.flow(isText ? rest : children, source, depth + 2);
      }
    } else if (node.type === 'table') {
      for (const row of node.children)
        for (const cell of row.children) this.block(plainText(cell.children), 'cell', depth);
    } else if (node.type === 'blockquote') this.flow(node.children, source, depth + 1);
    else if (node.type === 'footnoteDefinition') this.flow(node.children, source, depth);
    else if (node.type === 'html') this.markup(node.value, depth);
  }

  /** Lists and tables of HTML may begin before this block and end after it; text between tags is Markdown. */
  private markup(value: string, depth: number): void {
    let from = 0;
    for (const match of value.matchAll(tag)) {
      const [whole, slash, tagName] = match;
      const name = tagName!.toLowerCase();
      if (!breakingTag.test(name)) continue;
      this.words(value.slice(from, match.index), depth);
      from = match.index + whole.length;
      const step = slash === '' ? 1 : -1;
      if (name === 'table') this.table(step);
      if (name === 'ol' || name === 'ul') this.html.lists = Math.max(0, this.html.lists + step);
      if (name === 'li') this.html.isItem = slash === '';
      if (/^(?:pre|script|style)$/.test(name)) this.html.isCode = slash === '';
      if (/^h\d$/.test(name)) this.html.heading = slash === '' ? Number(name[1]) : 0;
    }
    this.words(value.slice(from), depth);
  }

  /** A table with text in only one cell is a layout for a picture. */
  private table(step: number): void {
    const { html } = this;
    html.tables = Math.max(0, html.tables + step);
    if (html.tables > 0) return;
    if (html.cells.length === 1) html.cells[0]!.kind = 'paragraph';
    html.cells = [];
  }

  private words(value: string, depth: number): void {
    const words = value.replace(tag, '').replace(/^[ \t]+/gm, '');
    if (words.trim() === '' || this.html.isCode) return;
    const { lists, heading, isItem } = this.html;
    for (const node of parseMarkdown(words).children) {
      if (node.type === 'paragraph' && heading > 0) this.heading(heading, plainText(node.children));
      else if (node.type === 'paragraph' && isItem)
        this.paragraph(plainText(node.children), 'item', depth + 2 * lists - 1);
      else if (node.type !== 'html') this.node(node, words, depth + 2 * lists);
      this.html.isItem = false;
    }
  }

  private heading(level: number, words: string): void {
    const heading = collapseLine(words);
    if (heading === '') return;
    this.leads = [];
    this.html = closed();
    while ((this.above.at(-1)?.level ?? 0) >= level) this.above.pop();
    this.above.push({ level, heading });
    const path = this.above.map((each) => each.heading);
    this.list.push({ ordinal: this.list.length, level, heading, path, blocks: [] });
  }

  /** Lines may begin items that Markdown does not know: first, after a colon and after another item. */
  private paragraph(words: string, first: 'paragraph' | 'item', depth: number): void {
    let kind = first;
    let lines: string[] = [];
    let below = 0;
    const end = () => {
      this.block(lines.join(' '), kind, depth + below);
      lines = [];
    };
    for (const line of words.split('\n').map((each) => each.trim())) {
      const isMarked =
        itemMark.test(line) && (lines.length === 0 || kind === 'item' || introduction.test(lines.at(-1)!));
      const isBelow = first === 'item' && lines.length > 0;
      if (line === '' || isMarked) end();
      if (isMarked && isBelow) below = 1;
      if (isMarked) kind = 'item';
      else if (line === '') kind = 'paragraph';
      if (line !== '') lines.push(line);
    }
    end();
  }

  private block(words: string, stated: Block['kind'], depth: number): void {
    const isCell = stated === 'cell' || this.html.tables > 0 || words.startsWith('|');
    const kind = isCell ? 'cell' : stated;
    const text = kind === 'paragraph' ? collapseLine(words) : collapseLine(words).replace(itemMark, '');
    if (text === '') return;
    // A new paragraph or item ends the introduction of the one before it.
    const own = kind === 'item' ? depth : depth - 0.5;
    this.leads = this.leads.filter((lead) => lead.depth < own);
    const block: Block = { text, kind, lead: isCell ? null : (this.leads.at(-1)?.block ?? null) };
    if (introduction.test(text) && !isCell) this.leads.push({ depth: own, block });
    if (this.html.tables > 0) this.html.cells.push(block);
    this.list.at(-1)!.blocks.push(block);
  }
}

/** `*.*` is no emphasis in CommonMark: this removes its stars. A tag such as `<br>` gives an empty line. */
function plainText(nodes: PhrasingNode[]): string {
  return nodes
    .map(wordsOf)
    .join('')
    .replace(/\[\^[^\]\s]{1,50}\]/g, '')
    .replace(/\*{1,3}([.,;:!?])\*{1,3}/g, '$1');
}

function wordsOf(node: PhrasingNode): string {
  if (node.type === 'text' || node.type === 'inlineCode') return node.value;
  if (node.type === 'break') return '\n';
  if (node.type === 'html')
    return breakingTag.test(/[a-z][a-z0-9]*/i.exec(node.value)?.[0] ?? '') ? '\n\n' : '';
  return 'children' in node ? node.children.map(wordsOf).join('') : '';
}
