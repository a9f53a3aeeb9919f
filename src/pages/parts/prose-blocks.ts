import {
  type BlockKind,
  beginsSql,
  continuesSql,
  hasSign,
  isSentence,
  type KnownLine,
  kindOf,
} from './prose-lines.ts';

/** A block: concatenated, `prompt` and `text` are its lines as published, line ends included. */
export interface ProseBlock {
  kind: BlockKind;
  /** The prompt and blanks before a command, which are not typed; empty for other kinds. */
  prompt: string;
  text: string;
}

interface Line extends KnownLine {
  text: string;
  /** Whether it continues the command of the previous line. */
  goesOn: boolean;
}

/** A longer text is not analyzed: no check is that long, and finding the ends of commands takes time. */
const mostCharacters = 50_000;
/** The most lines of a command, of a here-document, and of searches for a missing end. */
const mostLines = 60;
const mostOfDocument = 200;
const mostInVain = 5000;

/** What is open in a command so far: a quote, the brackets of a script, the loops of a shell. */
interface Open {
  quote: string;
  depth: number;
  loops: number;
}

function readOn(open: Open, line: string, isScript: boolean): void {
  for (let at = 0; at < line.length; at++) {
    const sign = line[at]!;
    if (sign === (isScript ? '`' : '\\') && open.quote !== "'") at++;
    else if (open.quote !== '') open.quote = sign === open.quote ? '' : open.quote;
    else if (sign === '"' || sign === "'") open.quote = sign;
    else if (isScript && /[({]/.test(sign)) open.depth++;
    else if (isScript && /[)}]/.test(sign)) open.depth--;
  }
  const times = (word: RegExp) => line.match(word)?.length ?? 0;
  open.loops += times(/(?:^|[;\s])do(?=\s)/g) - times(/(?:^|[;\s])done\b/g);
}

const endsOpen = /(?:\\|\||&&|`)\s*$/;

/** How many lines after a command belong to it: while a trailing sign, a quote, a here-document or a loop is open. */
function reach(lines: string[], first: number, { kind, prompt }: KnownLine, vain: { lines: number }): number {
  if (vain.lines > mostInVain) return 0;
  const open: Open = { quote: '', depth: 0, loops: 0 };
  const document = /<<-?\s*(["']?)(\w+)\1/.exec(lines[first]!)?.[2];
  let line = lines[first]!.slice(prompt.length);
  for (let more = 0; more <= (document === undefined ? mostLines : mostOfDocument); more++) {
    if (document === undefined) readOn(open, line, kind === 'powershell');
    const isWhole =
      document === undefined
        ? open.quote === '' && open.depth <= 0 && open.loops <= 0 && !endsOpen.test(line)
        : more > 0 && line.trim() === document;
    if (isWhole) return more;
    vain.lines++;
    const next = lines[first + more + 1];
    if (next === undefined || (next.trim() === '' && endsOpen.test(line))) break;
    if (document === undefined && isSentence(next)) break;
    line = next;
  }
  // Never closed, so the sign was plain text: the line stands alone.
  return 0;
}

/** How many lines after the first belong to a run of SQL statements. */
function reachOfSql(lines: string[], first: number): number {
  let last = first;
  for (let at = first + 1; at < lines.length; at++) {
    const line = lines[at]!.trim();
    if (line === '') continue;
    const isMore =
      continuesSql(line) || beginsSql(line) || (/^[a-z]/.test(line) && continuesSql(line.toUpperCase()));
    // After an empty line, continue only with what cannot begin anything else.
    const isOther =
      at > last + 1
        ? !continuesSql(line) || isSentence(line)
        : !isMore && (isSentence(line) || /;\s*$/.test(lines[last]!));
    if (isOther) break;
    last = at;
  }
  return last - first;
}

function readLines(text: string): Line[] {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const read: (Line | null)[] = [];
  let before: Line['kind'] = 'words';
  let hasPrompts = false;
  const vain = { lines: 0 };
  for (let at = 0; at < lines.length; at++) {
    const found = kindOf(lines[at]!);
    // Where commands have prompts, a path or word without one below a command is its output.
    const isAnswer =
      hasPrompts && found?.kind === 'command' && found.prompt === '' && !/^\s*sudo\s/.test(lines[at]!);
    const known: KnownLine | null =
      isAnswer && before !== 'words' ? { ...found!, kind: 'literal' as const } : found;
    if (known?.kind !== 'blank') before = known?.kind ?? before;
    if (known?.kind === 'command' && known.prompt !== '') hasPrompts = true;
    read.push(known && { ...known, text: lines[at]!, goesOn: false });
    if (!known || known.kind === 'blank' || known.kind === 'words' || known.kind === 'literal') continue;
    const more = known.kind === 'sql' ? reachOfSql(lines, at) : reach(lines, at, known, vain);
    vain.lines -= more;
    for (let end = at + more; at < end; )
      read.push({ kind: known.kind, prompt: '', text: lines[++at]!, goesOn: true });
  }
  return settle(lines, read);
}

/** Classifies runs of ambiguous lines by the line before them. */
function settle(lines: string[], read: (Line | null)[]): Line[] {
  let before: Line | null = null;
  let last = 0;
  for (let at = 0; at < read.length; at++) {
    if (read[at]) continue;
    let end = at;
    while (end < read.length && read[end] === null) end++;
    const run = lines.slice(at, end);
    while (last < at) {
      if (read[last]!.kind !== 'blank') before = read[last]!;
      last++;
    }
    const next = read[end]?.kind === 'words' && /^\s*[a-z]/.test(lines[end]!);
    const kind =
      before && !next && isLiteral(run, before, read[at - 1]?.kind === 'words') ? 'literal' : 'words';
    for (; at < end; at++) read[at] = { kind, prompt: '', text: lines[at]!, goesOn: false };
    at--;
  }
  return read as Line[];
}

/** Whether a run of lines is content of a file, a device or an output, judged by the line before it. */
function isLiteral(run: string[], before: Line, isSameParagraph: boolean): boolean {
  if (before.kind !== 'words') {
    const isAnswer = before.kind !== 'literal' || !/^\s*[A-Z]/.test(run[0]!);
    return isAnswer || run.some(hasSign);
  }
  // A stanza of a device configuration is indented.
  if (/^[a-z]/.test(run[0]!) && run.length > 1 && run.slice(1).every((line) => /^\s+\S/.test(line)))
    return true;
  const isAnnounced =
    /:\s*$/.test(before.text) ||
    (!isSameParagraph && /\b(?:example|below|following|commands?)\b/i.test(before.text));
  return (
    isAnnounced &&
    run.filter((line) => hasSign(line) && !/^\s*[A-Z][a-z]+(?: |$)(?!.*[=/\\_{}<>$|;])/.test(line)).length *
      2 >
      run.length
  );
}

/** Whether a program wrapped and indented the text, so that its line breaks mean nothing. */
function isReflowed(text: string): boolean {
  const [, ...others] = text.split('\n').filter((line) => line.trim() !== '');
  return others.length > 0 && others.every((line) => /^\s{8}/.test(line));
}

/** A check or fix text in blocks, recognized by heuristics. Concatenated, prompts and texts are the text. */
export function blocksOf(text: string): ProseBlock[] {
  if (text.length > mostCharacters || isReflowed(text)) return [{ kind: 'words', prompt: '', text }];
  const blocks: ProseBlock[] = [];
  const lines = readLines(text);
  for (const [at, line] of lines.entries()) {
    const last = blocks.at(-1);
    const isGap =
      line.kind === 'blank' &&
      last?.kind === 'literal' &&
      lines[at + 1]?.kind === 'literal' &&
      lines[at - 1]?.kind === 'literal';
    const kind = isGap ? 'literal' : line.kind === 'blank' ? 'words' : line.kind;
    const isOwn = kind === 'command' || kind === 'powershell' || kind === 'sql';
    if (last && (line.goesOn || (last.kind === kind && !isOwn))) last.text += line.text;
    else blocks.push({ kind, prompt: line.prompt, text: line.text.slice(line.prompt.length) });
  }
  return blocks;
}
