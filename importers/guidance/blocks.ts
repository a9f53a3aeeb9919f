import { collapseLine } from '../read/source-text.ts';
import { type FlowNode, type PhrasingNode, parseFiles, parseMarkdown } from './markdown-tree.ts';

/** A paragraph, list item or table cell as plain text. */
export interface Block {
  text: string;
  kind: 'paragraph' | 'item' | 'cell';
  /** The nearest introduction of the list that it is in. */
  lead: Block | null;
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
  for (const { text, tree } of parseFiles(files)) reader.readNodes(tree.children, text, 0);
  return reader.sections;
}

/** The elements of HTML that are open: they may begin before a node and end after it. */
const nothingOpen = () => ({ lists: 0, tables: 0, heading: 0, isItem: false, isCode: false });

class SectionReader {
  readonly sections: DocumentSection[] = [{ ordinal: 0, level: 0, heading: '', path: [], blocks: [] }];
  /** The heading of the current section behind those that it is below. */
  private headings: { level: number; heading: string }[] = [];
  /** Introductions that may apply to the next block, by depth: a paragraph is above the items beside it. */
  private leads: { depth: number; block: Block }[] = [];
  private open = nothingOpen();
  /** The blocks of the open table of HTML. */
  private cells: Block[] = [];

  readNodes(nodes: FlowNode[], source: string, depth: number): void {
    for (const node of nodes) this.readNode(node, source, depth);
  }

  private readNode(node: FlowNode, source: string, depth: number): void {
    switch (node.type) {
      case 'paragraph':
        this.addLines(plainText(node.children), 'paragraph', depth);
        break;
      case 'heading': {
        const text = plainText(node.children);
        const isUnderlined = !source.startsWith('#', node.position!.start.offset);
        // A sentence with a line of hyphens below it is not a heading.
        if (isUnderlined && /[.!?:;,]$/.test(text.trim())) this.addLines(text, 'paragraph', depth);
        else this.beginSection(node.depth, text);
        break;
      }
      case 'list':
        for (const { children } of node.children) {
          const [first, ...rest] = children;
          const isText = first?.type === 'paragraph';
          if (isText) this.addLines(plainText(first.children), 'item', depth + 1);
          this.readNodes(isText ? rest : children, source, depth + 2);
        }
        break;
      case 'table':
        for (const cell of node.children.flatMap((row) => row.children))
          this.addBlock(plainText(cell.children), 'cell', depth);
        break;
      case 'blockquote':
        this.readNodes(node.children, source, depth + 1);
        break;
      case 'footnoteDefinition':
        this.readNodes(node.children, source, depth);
        break;
      case 'html':
        this.readHtml(node.value, depth);
    }
  }

  /** Text between tags is Markdown. */
  private readHtml(html: string, depth: number): void {
    let from = 0;
    for (const { 0: whole, 1: slash, 2: tagName, index } of html.matchAll(tag)) {
      const name = tagName!.toLowerCase();
      if (!breakingTag.test(name)) continue;
      this.readHtmlText(html.slice(from, index), depth);
      from = index + whole.length;
      const isStart = slash === '';
      const step = isStart ? 1 : -1;
      const { open } = this;
      if (name === 'table') this.changeTables(step);
      else if (name === 'ol' || name === 'ul') open.lists = Math.max(0, open.lists + step);
      else if (name === 'li') open.isItem = isStart;
      else if (/^(?:pre|script|style)$/.test(name)) open.isCode = isStart;
      else if (/^h\d$/.test(name)) open.heading = isStart ? Number(name[1]) : 0;
    }
    this.readHtmlText(html.slice(from), depth);
  }

  /** A table with text in only one cell is a layout for a picture. */
  private changeTables(step: number): void {
    this.open.tables = Math.max(0, this.open.tables + step);
    if (this.open.tables > 0) return;
    if (this.cells.length === 1) this.cells[0]!.kind = 'paragraph';
    this.cells = [];
  }

  private readHtmlText(value: string, depth: number): void {
    const markdown = value.replace(tag, '').replace(/^[ \t]+/gm, '');
    if (markdown.trim() === '' || this.open.isCode) return;
    const { lists, heading, isItem } = this.open;
    for (const node of parseMarkdown(markdown).children) {
      if (node.type === 'paragraph' && heading > 0) this.beginSection(heading, plainText(node.children));
      else if (node.type === 'paragraph' && isItem)
        this.addLines(plainText(node.children), 'item', depth + 2 * lists - 1);
      else if (node.type !== 'html') this.readNode(node, markdown, depth + 2 * lists);
      this.open.isItem = false;
    }
  }

  private beginSection(level: number, text: string): void {
    const heading = collapseLine(text);
    if (heading === '') return;
    this.leads = [];
    this.open = nothingOpen();
    this.cells = [];
    this.headings = [...this.headings.filter((above) => above.level < level), { level, heading }];
    const path = this.headings.map((above) => above.heading);
    this.sections.push({ ordinal: this.sections.length, level, heading, path, blocks: [] });
  }

  /** Lines may begin items that Markdown does not know: first, after a colon and after another item. */
  private addLines(text: string, first: 'paragraph' | 'item', depth: number): void {
    let kind = first;
    let lines: string[] = [];
    let below = 0;
    const end = () => {
      this.addBlock(lines.join(' '), kind, depth + below);
      lines = [];
    };
    for (const line of text.split('\n').map((each) => each.trim())) {
      const isMarked =
        itemMark.test(line) && (lines.length === 0 || kind === 'item' || introduction.test(lines.at(-1)!));
      if (isMarked && first === 'item' && lines.length > 0) {
        end();
        below = 1;
      } else if (line === '' || isMarked) end();
      if (isMarked) kind = 'item';
      else if (line === '') kind = 'paragraph';
      if (line !== '') lines.push(line);
    }
    end();
  }

  private addBlock(words: string, stated: Block['kind'], depth: number): void {
    const inTable = this.open.tables > 0;
    const kind = inTable || words.startsWith('|') ? 'cell' : stated;
    const text = kind === 'paragraph' ? collapseLine(words) : collapseLine(words).replace(itemMark, '');
    if (text === '') return;
    // A new paragraph or item ends the introduction of the one before it.
    const own = kind === 'item' ? depth : depth - 0.5;
    this.leads = this.leads.filter((lead) => lead.depth < own);
    const lead = kind === 'cell' ? null : (this.leads.at(-1)?.block ?? null);
    const block: Block = { text, kind, lead };
    if (kind !== 'cell' && introduction.test(text)) this.leads.push({ depth: own, block });
    if (inTable) this.cells.push(block);
    this.sections.at(-1)!.blocks.push(block);
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
