import { ImportError } from '../read/errors.ts';
import { linkLabels, plainText } from './plain-text.ts';

/** A paragraph, list item or table cell as plain text. */
export interface Block {
  text: string;
  isItem: boolean;
  /** The block ending in a colon that introduces this one, when there is one. */
  lead: Block | null;
  /** What the rule found that it hands down to the list below it; long lists ask again and again. */
  below?: HandedDown;
}

/** What an introduction gives to the items below it. */
export interface HandedDown {
  /** The sentence that introduces them. */
  introduction: string;
  force: 'duty' | 'advice' | null;
  timingOrTrigger: boolean;
  applicationConditions: string;
  exemptConditions: string;
}

/** What stands under one heading. */
export interface Section {
  /** 0 for what stands before the first heading. */
  ordinal: number;
  level: number;
  heading: string;
  /** The headings above and this one. */
  path: string[];
  blocks: Block[];
}

const itemMark = /^(?:[*+•-]|\d{1,3}[.)]|[A-Za-z][.)]|[ivx]{1,5}[.)])\s+(?=\S)/;
const underline = /^(?:=+|-{2,})$/;
const htmlHeading = /^<h([1-6])\b[^<>]{0,500}>(.{1,1000})<\/h[1-6]>$/i;
const fence = /^\s*(?:>\s*)*(?:(`{3,})[^`]*|(~{3,}).*)$/;
const rule = /^(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|=+)$/;

/** Longer than any document that a person reads, and short enough for rules that look ahead. */
const longestText = 4 * 1024 * 1024;

/**
 * Reads Markdown, which may be in parts, into sections and blocks, as far as finding sentences needs; code blocks and comments
 * are passed over, and end with their part.
 */
export function readSections(...parts: string[]): Section[] {
  if (parts.reduce((sum, part) => sum + part.length, 0) > longestText)
    throw new ImportError('the Markdown has more than 4 million characters', 'regdoc-markdown');
  const lines = parts.flatMap((part) => [...withoutCode(withoutComments(part).split(/\r?\n/)), '']);
  const reader = new SectionReader(linkLabels(lines));
  for (const line of lines) reader.line(line);
  return reader.sections();
}

/** The lines with an empty one in place of each of a fenced block, which ends at marks of its own kind. */
function withoutCode(lines: string[]): string[] {
  let open: string | null = null;
  return lines.map((line) => {
    const [, ticks, tildes] = fence.exec(line) ?? [];
    const mark = ticks ?? tildes;
    if (open === null) {
      open = mark ?? null;
      return open === null ? line : '';
    }
    // Marks with a word behind them begin a block, and end none.
    if (mark?.startsWith(open) && line.trimEnd().endsWith(mark)) open = null;
    return '';
  });
}

/** A heading without its attributes (`{#id}`) and the number signs that may close it; a pattern would try each run of them anew. */
function withoutClosing(heading: string): string {
  const text = heading.replace(/\{[#.:][^{}]{0,200}\}$/, '').trimEnd();
  let end = text.length;
  while (text[end - 1] === '#') end--;
  return text.slice(0, end).trimEnd();
}

/** Takes out comments, in one pass: a pattern would look for the end of each that has none. */
function withoutComments(text: string): string {
  let kept = '';
  let from = 0;
  for (let open = text.indexOf('<!--'); open !== -1; open = text.indexOf('<!--', from)) {
    const close = text.indexOf('-->', open + 4);
    if (close === -1) break;
    kept += text.slice(from, open);
    from = close + 3;
  }
  return kept + text.slice(from);
}

class SectionReader {
  private readonly list: Section[] = [{ ordinal: 0, level: 0, heading: '', path: [], blocks: [] }];
  private readonly above: { level: number; heading: string }[] = [];
  /** Blocks that end in a colon and what may follow them, by indentation. */
  private leads: { indent: number; block: Block }[] = [];
  private open: { lines: string[]; isItem: boolean; indent: number } | null = null;
  private readonly labels: Set<string>;

  /** `labels` are those that the links of the document may name. */
  constructor(labels: Set<string>) {
    this.labels = labels;
  }

  sections(): Section[] {
    this.endBlock();
    return this.list;
  }

  line(raw: string): void {
    const html = htmlHeading.exec(raw.trim());
    if (html) {
      this.heading(Number(html[1]), html[2]!);
      return;
    }
    // A break within a line ends a block, as a table cell or paragraph of HTML does.
    const parts = raw.split(/<br\s*\/?>|<\/(?:td|th|tr|p|li|div|table)>/i);
    if (parts.length > 1) {
      for (const part of parts) {
        this.line(part);
        this.endBlock();
      }
      return;
    }
    // The marks of a quotation count as blanks: a list in it is below what stands before it.
    const indent = /^[ \t]*(?:>[ \t]*)*/.exec(raw)![0].replaceAll('\t', '    ').length;
    const text = raw.trim().replace(/^(?:>\s*)+/, '');
    const heading = /^(#{1,6})\s+(.*)$/.exec(text);
    if (heading) this.heading(heading[1]!.length, heading[2]!);
    else if (underline.test(text) && this.isHeadingLine()) {
      const [line] = this.open!.lines;
      this.open = null;
      this.heading(text.startsWith('=') ? 1 : 2, line!);
    } else if (text === '' || rule.test(text) || /^\{:.*\}$/.test(text)) this.endBlock();
    else if (this.open === null && linkLabels([raw]).size > 0) return;
    else if (text.startsWith('|')) this.tableRow(text);
    else if (this.beginsItem(text)) {
      this.endBlock();
      this.open = { lines: [text.replace(itemMark, '').replace(/^\[[ xX]\]\s+/, '')], isItem: true, indent };
    } else if (/^(?::\s|\[\^[^\]]{1,50}\]:)/.test(text)) {
      // A definition of what stands above, or a footnote.
      this.endBlock();
      this.open = { lines: [text.replace(/^:\s+/, '')], isItem: false, indent };
    } else if (this.open) this.open.lines.push(text);
    else this.open = { lines: [text], isItem: false, indent };
  }

  /** Whether what is open is one line that a line of `=` or `-` makes a heading; a sentence with a rule below it is none. */
  private isHeadingLine(): boolean {
    return this.open?.lines.length === 1 && !this.open.isItem && !/[.!?:;,]$/.test(this.open.lines[0]!);
  }

  /** A line such as `A. Smith` inside a paragraph begins no item. */
  private beginsItem(text: string): boolean {
    if (!itemMark.test(text)) return false;
    return this.open === null || this.open.isItem || /^(?:[*+•-]|\d)/.test(text);
  }

  private tableRow(text: string): void {
    this.endBlock();
    if (/^[|\s:-]+$/.test(text)) return;
    for (const cell of text.split(/(?<!\\)\|/)) {
      this.open = { lines: [cell], isItem: false, indent: 0 };
      this.endBlock();
    }
  }

  private heading(level: number, markdown: string): void {
    this.endBlock();
    const heading = plainText(withoutClosing(markdown), this.labels);
    if (heading === '') return;
    this.leads = [];
    while ((this.above.at(-1)?.level ?? 0) >= level) this.above.pop();
    this.above.push({ level, heading });
    const path = this.above.map((each) => each.heading);
    this.list.push({ ordinal: this.list.length, level, heading, path, blocks: [] });
  }

  endBlock(): void {
    if (!this.open) return;
    const { lines, isItem, indent } = this.open;
    this.open = null;
    const text = plainText(lines.join(' '), this.labels);
    if (text === '') return;
    if (!isItem && indent === 0) this.leads = [];
    else this.leads = this.leads.filter((lead) => lead.indent < indent);
    const block: Block = { text, isItem, lead: isItem ? (this.leads.at(-1)?.block ?? null) : null };
    if (text.endsWith(':')) this.leads.push({ indent: isItem ? indent : indent - 1, block });
    this.list.at(-1)!.blocks.push(block);
  }
}
