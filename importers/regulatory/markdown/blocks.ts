import { ImportError } from '../../errors.ts';
import { plainText } from './plain.ts';

/** A paragraph, list item or table cell as plain text. */
export interface Block {
  text: string;
  isItem: boolean;
  /** The block ending in a colon that introduces this one, when there is one. */
  lead: Block | null;
  /** What the rule found that it asks of the list below it; long lists ask again and again. */
  forceBelow?: 'duty' | 'advice' | null;
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

const itemMark = /^(?:[*+-]|\d{1,3}[.)]|[A-Za-z][.)]|[ivx]{1,5}[.)])\s+(?=\S)/;
const rule = /^(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|=+)$/;

/** Longer than any document that a person reads, and short enough for rules that look ahead. */
const longestText = 4 * 1024 * 1024;

/** Reads Markdown into sections and blocks, as far as finding sentences needs; code blocks are passed over. */
export function readSections(markdown: string): Section[] {
  if (markdown.length > longestText)
    throw new ImportError('the Markdown has more than 4 million characters', 'regdoc-markdown');
  const reader = new SectionReader();
  let isCode = false;
  for (const line of withoutComments(markdown).split(/\r?\n/)) {
    if (/^\s*(?:```|~~~)/.test(line)) {
      isCode = !isCode;
      reader.endBlock();
    } else if (!isCode) reader.line(line);
  }
  return reader.sections();
}

/** A heading without the number signs that may close it; a pattern would try each run of them anew. */
function withoutClosing(heading: string): string {
  let end = heading.length;
  while (heading[end - 1] === '#') end--;
  return heading.slice(0, end).trimEnd();
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

  sections(): Section[] {
    this.endBlock();
    return this.list;
  }

  line(raw: string): void {
    // A break within a line ends a block, as a table cell or paragraph of HTML does.
    const parts = raw.split(/<br\s*\/?>|<\/(?:td|th|tr|p|li|div|table)>/i);
    if (parts.length > 1) {
      for (const part of parts) {
        this.line(part);
        this.endBlock();
      }
      return;
    }
    const indent = /^[ \t]*/.exec(raw)![0].replaceAll('\t', '    ').length;
    const text = raw.trim().replace(/^(?:>\s*)+/, '');
    const heading = /^(#{1,6})\s+(.*)$/.exec(text);
    if (heading) this.heading(heading[1]!.length, plainText(withoutClosing(heading[2]!)));
    else if (text === '' || rule.test(text) || /^\{:.*\}$/.test(text)) this.endBlock();
    else if (text.startsWith('|')) this.tableRow(text);
    else if (this.beginsItem(text)) {
      this.endBlock();
      this.open = { lines: [text.replace(itemMark, '')], isItem: true, indent };
    } else if (this.open) this.open.lines.push(text);
    else this.open = { lines: [text], isItem: false, indent };
  }

  /** A line such as `A. Smith` inside a paragraph begins no item. */
  private beginsItem(text: string): boolean {
    if (!itemMark.test(text)) return false;
    return this.open === null || this.open.isItem || /^(?:[*+-]|\d)/.test(text);
  }

  private tableRow(text: string): void {
    this.endBlock();
    if (/^[|\s:-]+$/.test(text)) return;
    for (const cell of text.split('|')) {
      this.open = { lines: [cell], isItem: false, indent: 0 };
      this.endBlock();
    }
  }

  private heading(level: number, heading: string): void {
    this.endBlock();
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
    const text = plainText(lines.join(' '));
    if (text === '') return;
    if (!isItem && indent === 0) this.leads = [];
    else this.leads = this.leads.filter((lead) => lead.indent < indent);
    const block: Block = { text, isItem, lead: isItem ? (this.leads.at(-1)?.block ?? null) : null };
    if (text.endsWith(':')) this.leads.push({ indent: isItem ? indent : indent - 1, block });
    this.list.at(-1)!.blocks.push(block);
  }
}
