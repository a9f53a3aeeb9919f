import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { ImportError } from '../../src/read/import-error.ts';

// Measured: within these bounds, far above real documents, the parser needs seconds and some hundred megabytes.
const longestText = 4 * 1024 * 1024;
const maxMarks = 80_000;
const maxDepth = 60;
const maxNesting = 1_000_000;
const maxPairs = 40_000_000;

const mark = /[\n*_[\]()<>`~|#!&\\:^]/g;
const inline = /[*_[\]!<~`]/g;
const listMark = /[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t])/;
const prefix = new RegExp(`^(?:[ \\t>]|${listMark.source})*`);
const thematicBreak = /^[ \t>]*([-*_])(?:[ \t]*\1){2,}[ \t]*$/;

export type Tree = ReturnType<typeof fromMarkdown>;
export type FlowNode = Tree['children'][number];
export type PhrasingNode = Extract<FlowNode, { type: 'paragraph' }>['children'][number];

const pairing = [
  'attention',
  'autolink',
  'characterEscape',
  'characterReference',
  'codeText',
  'htmlText',
  'labelEnd',
  'labelStartImage',
  'labelStartLink',
  'strikethrough',
  'gfmFootnoteCall',
  'gfmPotentialFootnoteCall',
  'emailAutolink',
  'protocolAutolink',
  'wwwAutolink',
];

/** Reads the files of one Markdown document (GFM), each alone: code ends with its file. Throws `ImportError`. */
export function parseFiles(files: string[]): { text: string; tree: Tree }[] {
  if (files.reduce((sum, text) => sum + text.length, 0) > longestText)
    throw tooMuch('has more than 4 million characters');
  if (files.reduce((sum, text) => sum + (text.match(mark)?.length ?? 0), 0) > maxMarks)
    throw tooMuch(`has more than ${maxMarks} lines and marks`);
  return files.map((file) => {
    const text = withoutTemplates(file);
    checkLines(text);
    checkPairs(text);
    return { text, tree: parseMarkdown(text) };
  });
}

/** Parses a piece of a checked file, without the constructs in `disabled`. */
export function parseMarkdown(text: string, disabled: string[] = []): Tree {
  return fromMarkdown(text, {
    extensions: [gfm(), { disable: { null: disabled } }],
    mdastExtensions: [gfmFromMarkdown()],
  });
}

function tooMuch(what: string): ImportError {
  return new ImportError(`the Markdown ${what}`, 'regdoc-markdown');
}

/**
 * Removes comments and the marks of site generators (`{#id}`, `{:start="3"}`, `{{ site.baseurl }}`), and rewrites what
 * only those understand: bullets (`•`), definitions (`: `), and code that begins in a quotation and continues without
 * its mark.
 */
function withoutTemplates(file: string): string {
  const lastComment = file.lastIndexOf('-->') + 3;
  return (file.slice(0, lastComment).replace(/<!--[\s\S]*?-->/g, '') + file.slice(lastComment))
    .replace(/\r\n?/g, '\n')
    .replace(/\{\{[^{}\n]{0,200}\}\}|\{[:%][^{}\n]{0,200}\}|\{[#.][^{}\n]{0,200}\}(?=[ \t]*$)/gm, '')
    .replace(/^([ \t>]*)•(?=[ \t])/gm, '$1-')
    .replace(/^((?![ \t]*>).*\n)[ \t]*>[ \t>]*(?=(?:```|~~~)[^`\n]*\n(?![ \t]*>))/gm, '$1')
    .replace(/^ {0,3}:[ \t]+/gm, '\n')
    .replaceAll('\0', ' ')
    .replace(/&#(?:x([\da-f]{1,6})|(\d{1,7}));/gi, (reference, hex?: string, decimal?: string) =>
      namesCharacter(hex ? Number.parseInt(hex, 16) : Number(decimal)) ? reference : ' ',
    );
}

/** Whether a code is a character: CommonMark would read others as U+FFFD, which no source states. */
function namesCharacter(code: number): boolean {
  return code <= 0x10ffff && /[^\p{Cc}\p{Cs}\p{Cn}]|[\t\n\f\r]/u.test(String.fromCodePoint(code));
}

function checkLines(text: string): void {
  let depth = 0;
  let nesting = 0;
  for (const [index, line] of text.split('\n').entries()) {
    if (/^#{1,6}[ \t]/.test(line)) depth = 0;
    const begin = prefix.exec(line)![0];
    if (/[^ \t]/.test(begin) && !thematicBreak.test(line)) {
      const containers = begin.match(/[^ \t\d]/g)!.length;
      const level = containers + (begin.replaceAll('\t', '    ').match(/ /g)?.length ?? 0) / 2;
      if (level > maxDepth) throw tooMuch(`nests more than ${maxDepth} levels deep (line ${index + 1})`);
      depth = Math.max(depth, level);
      nesting += (level * level) / 6;
    }
    nesting += depth;
  }
  if (nesting > maxNesting) throw tooMuch('has too many lines in nested lists and quotations');
  const definitions = sumOfSquares(runsOf(text), /\]:/g);
  if (definitions > maxPairs) throw tooMuch('has too many definitions in one run of lines');
}

function checkPairs(text: string): void {
  if (sumOfSquares(runsOf(text), inline) <= maxPairs) return;
  // Lists and tables have many paragraphs in a run of lines: parse it without pairs to count each.
  const words: string[] = [];
  const visit = (node: FlowNode | PhrasingNode | Tree, paragraph: number): void => {
    if (node.type === 'text') words[paragraph] = (words[paragraph] ?? '') + node.value;
    if (!('children' in node)) return;
    const isParagraph = ['paragraph', 'heading', 'tableCell'].includes(node.type);
    for (const child of node.children) visit(child, isParagraph ? words.length - 1 : words.push('') - 1);
  };
  visit(parseMarkdown(text, pairing), 0);
  if (sumOfSquares(words, inline) > maxPairs) throw tooMuch('has too many marks in one paragraph');
}

function runsOf(text: string): string[] {
  return text.split(/\n[ \t]*(?=\n)/);
}

function sumOfSquares(texts: string[], pattern: RegExp): number {
  return texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0) ** 2, 0);
}
