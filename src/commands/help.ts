import { descriptionOf, type Setting, variableOf } from '../base/settings.ts';

import type { Command } from './command.ts';

const width = 80;

/** Breaks a text at blanks into lines that fit; further lines begin with `indent` blanks. */
function wrap(text: string, first: number, indent: number): string[] {
  const lines: string[] = [];
  let line = '';
  let room = width - first;
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line);
      line = '';
      room = width - indent;
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** Lines of a list: names, each with its text beside it; a text without a name takes the whole line. */
export function listed(rows: [name: string, text: string][]): string[] {
  const column =
    Math.min(26, Math.max(0, ...rows.filter(([, text]) => text !== '').map(([name]) => name.length))) + 4;
  return rows.flatMap(([name, text]) => {
    if (name === '') return hang(text, 2, 2);
    if (text === '') return hang(name, 2, 2);
    const beside = wrap(text, column, column).map((line) => `${' '.repeat(column)}${line}`);
    if (name.length + 4 > column) return [`  ${name}`, ...beside];
    return [`  ${name}`.padEnd(column) + beside[0]!.slice(column), ...beside.slice(1)];
  });
}

function hang(text: string, first: number, indent: number): string[] {
  return wrap(text, first, indent).map((line, at) => `${' '.repeat(at === 0 ? first : indent)}${line}`);
}

const common: [string, string][] = [
  ['--db FILE', 'the catalog'],
  ['--users-db FILE', "users' data"],
  ['-h, --help', 'this text'],
];

const exitCodes: [string, string][] = [
  ['0', 'done'],
  ['1', 'failed; one line on standard error says why'],
  ['2', 'wrong usage, or a wrong setting'],
];

/** A line of help as `name  text`; a line without two blanks inside is a text of its own. */
function row(line: string): [string, string] {
  const [, name, text] = /^(\S.*?) {2,}(.*)$/.exec(line) ?? [];
  return name === undefined ? ['', line] : [name, text!];
}

/** Lines that begin with blanks, and with no option, belong to the row before them. */
function rows(lines: string[]): [string, string][] {
  const all: [string, string][] = [];
  for (const line of lines) {
    const before = all.at(-1);
    const [name, text] = row(line.trim());
    const isOption = /^(--[a-z]|[A-Z]{2,}$)/.test(name);
    if (line.startsWith('  ') && before && !isOption) before[1] += ` ${line.trim()}`;
    else all.push([name, text]);
  }
  return all;
}

const section = (title: string, lines: string[]) => (lines.length === 0 ? [] : ['', `${title}:`, ...lines]);

/** What `gapstone COMMAND --help` prints: usage, options, environment, exit codes and examples, 80 columns wide. */
export function usageOf(command: Command): string {
  const settings: Setting[] = ['db', 'usersDb', ...(command.settings ?? [])];
  const codes = new Map([...exitCodes, ...(command.exitCodes ?? [])]);
  const about = new Set(settings);
  const own = rows(command.help);
  // What is no option follows all of them.
  const options = own.findLastIndex(([name]) => name !== '') + 1;
  // An option stays beside its value.
  const usage = command.usage
    .replace(/\n {2,}/g, ' ')
    .replace(/\[[^\]]*\]/g, (part) => part.replaceAll(' ', '\u00a0'));
  return `${[
    ...usage.split('\n').flatMap((line) => hang(line, 0, 4).map((part) => part.replaceAll('\u00a0', ' '))),
    ...hang(`${command.summary[0]!.toUpperCase()}${command.summary.slice(1)}.`, 0, 0),
    ...section('Options', listed([...own.slice(0, options), ...common, ...own.slice(options)])),
    ...section('Environment', listed([...about].map((name) => [variableOf(name), descriptionOf(name)]))),
    '  Settings may also stand in gapstone.env: see gapstone config --help.',
    ...section('Exit codes', listed([...codes].sort(([a], [b]) => Number(a) - Number(b)))),
    ...section(
      'Examples',
      command.examples.map((line) => `  ${line}`),
    ),
  ].join('\n')}\n`;
}
