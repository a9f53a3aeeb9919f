import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { ImportError } from '../../src/read/import-error.ts';

// Far above real documents. Within these bounds the parser takes seconds and some hundred megabytes (measured).
const longestText = 4 * 1024 * 1024;
const maxMarks = 80_000;
const maxDepth = 60;
/** The square of the deepest level times the number of lines. */
const maxNesting = 8_000_000;
/** The parser compares each mark of a paragraph with the others. */
const maxPairs = 40_000_000;

const mark = /[\n*_[\]()<>`~|#!&\\:^]/g;
const inlineMark = /[*_[\]!<~`]/g;
/** The marks of quotations and list items at the beginning of a line, with the blanks between them. */
const containers = /^(?:[ \t>]|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))*/;
const thematicBreak = /^[ \t>]*([-*_])(?:[ \t]*\1){2,}[ \t]*$/;

export type Tree = ReturnType<typeof fromMarkdown>;
export type FlowNode = Tree['children'][number];
export type PhrasingNode = Extract<FlowNode, { type: 'paragraph' }>['children'][number];

/** Reads the files of one Markdown document (GFM), each alone: code ends with its file. Throws `ImportError`. */
export function parseFiles(files: string[]): { text: string; tree: Tree }[] {
  if (files.reduce((sum, text) => sum + text.length, 0) > longestText)
    throw tooMuch('has more than 4 million characters');
  if (files.reduce((sum, text) => sum + (text.match(mark)?.length ?? 0), 0) > maxMarks)
    throw tooMuch(`has more than ${maxMarks} lines and marks`);
  return files.map((file) => {
    const text = withoutTemplates(file);
    checkNesting(text);
    checkPairs(text);
    return { text, tree: parseMarkdown(text) };
  });
}

/** Parses a piece of a checked file. */
export function parseMarkdown(text: string): Tree {
  return fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
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

function checkNesting(text: string): void {
  const lines = text.split('\n');
  let deepest = 0;
  for (const [index, line] of lines.entries()) {
    const level = levelOf(line);
    if (level > maxDepth) throw tooMuch(`nests more than ${maxDepth} levels deep (line ${index + 1})`);
    deepest = Math.max(deepest, level);
  }
  if (deepest ** 2 * lines.length > maxNesting)
    throw tooMuch('has too many lines in nested lists and quotations');
}

/** How deep a line begins: each mark of a container is a level, and so are two blanks. */
function levelOf(line: string): number {
  const begin = containers.exec(line)![0].replaceAll('\t', '    ');
  const marks = begin.match(/[^ \d]/g)?.length ?? 0;
  return marks === 0 || thematicBreak.test(line) ? 0 : marks + (begin.match(/ /g)?.length ?? 0) / 2;
}

function checkPairs(text: string): void {
  const marksOfRuns = text.split(/\n[ \t]*(?=\n)/).map((run) => run.match(inlineMark)?.length ?? 0);
  if (marksOfRuns.reduce((sum, marks) => sum + marks ** 2, 0) > maxPairs)
    throw tooMuch('has too many marks in one run of lines');
}
