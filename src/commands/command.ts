import { readFileSync } from 'node:fs';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { CommandError } from '../base/errors.ts';
import { isThere, whyRefused } from '../base/files.ts';
import { didYouMean } from '../base/nearest.ts';
import type { Setting } from '../base/settings.ts';
import { cut, escapedLine, printable } from '../base/text.ts';
import { type Database, type Files, openDatabase } from '../db/database.ts';
import { asCommandError } from '../db/faults.ts';
import { decodeText } from '../read/decode.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

/** One command of the table in rule D20. `run` gives the exit code. */
export interface Command {
  name: string;
  summary: string;
  usage: string;
  /** One line for each option, for `--help`: name, two blanks or more, text. */
  help: string[];
  /** The settings that count besides those of the two files. */
  settings?: readonly Setting[];
  /** The exit codes that mean more than 0, 1 and 2 do elsewhere. */
  exitCodes?: [code: string, meaning: string][];
  examples: string[];
  run(args: string[]): Promise<number>;
}

/** Runs a command; a storage fault becomes a `CommandError`. */
export async function runCommand(command: Command, args: string[]): Promise<number> {
  try {
    return await command.run(args);
  } catch (error) {
    throw asCommandError(error);
  }
}

const written = (lines: string[]) => lines.map((line) => `${escapedLine(line)}\n`).join('');

/** Writes lines for the operator to stderr; a name in them cannot control the terminal. */
export function tell(...lines: string[]): void {
  process.stderr.write(written(lines));
}

/** Prints a result as a line of JSON, or as lines of text; a name in them cannot control the terminal. */
export function print(json: boolean | undefined, value: object, text: string | string[]): void {
  process.stdout.write(written(json ? [JSON.stringify(value)] : [text].flat()));
}

/** The text of a file that a command is given, with its warnings on stderr (rule D53.4). Throws `CommandError`. */
export function textOf(file: string): string {
  try {
    const { text, warnings } = decodeText(readFileSync(file));
    tell(...warnings.map((warning) => `${file}: ${warning}`));
    return text;
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${whyRefused(file, error)}`);
  }
}

/** Opens both files for reading; creates no users' data. Throws `CommandError`. */
export function openToLook({ db, usersDb }: Files, busyTimeout?: number): Database {
  const files = { db, usersDb: isThere(usersDb) ? usersDb : ':memory:' };
  const opened = openDatabase(files, { asItIs: true, ...(busyTimeout === undefined ? {} : { busyTimeout }) });
  opened.sqlite.pragma('query_only = ON');
  return opened;
}

/**
 * Parses options and positional arguments, as many as `names` (null: any number). Throws `CommandError` with code 2.
 */
export function parse<const O extends Options>(args: string[], names: string[] | null, options: O) {
  const parsed = parsedArgs(args, options);
  // As from an unset variable of a script.
  if (parsed.positionals.includes('')) throw new CommandError('an argument is empty', 2);
  if (names !== null) expectPositionals(parsed.positionals, names);
  return parsed;
}

function parsedArgs<const O extends Options>(args: string[], options: O) {
  try {
    return parseArgs({
      args,
      options: { ...options, ...commonOptions },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    const [, option] = /'(-[^' ]*)/.exec(message) ?? [];
    if (option !== undefined && code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE')
      throw new CommandError(
        `${option} ${message.includes('not take') ? 'takes no value' : 'needs a value'}`,
        2,
      );
    const unknown = code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' ? /'(-[^']*)'/.exec(message)?.[1] : undefined;
    if (unknown === undefined) throw new CommandError(message.split('\n')[0]!, 2);
    const known = Object.keys({ ...options, ...commonOptions });
    const wrong = unknown.replace(/^--?/, '');
    throw new CommandError(
      `there is no option "${printable(cut(unknown), 64)}"${didYouMean(wrong, known, '--')}`,
      2,
    );
  }
}

/** Kinds of options: a text, a repeatable text, a flag. */
export const text = { type: 'string' } as const;
export const texts = { ...text, multiple: true } as const;
export const flag = { type: 'boolean' } as const;

const commonOptions = { db: text, 'users-db': text, json: flag, help: flag };

/** The error for a wrong second word of a command, such as `content verfy`: names the right ones, and the nearest. */
export function wrongAction(
  command: string,
  given: string | undefined,
  actions: readonly string[],
): CommandError {
  const all = actions.map((each) => `"${command} ${each}"`);
  const known =
    all.length === 1
      ? `the only command is ${all[0]}`
      : `the commands are ${all.slice(0, -1).join(', ')} and ${all.at(-1)}`;
  if (given === undefined || given === '')
    return new CommandError(`"${command}" alone does nothing: ${known}`, 2);
  const nearest = didYouMean(given, actions, `${command} `);
  return new CommandError(
    `there is no command "${command} ${printable(cut(given), 64)}"${nearest || `: ${known}`}`,
    2,
  );
}

/** Throws `CommandError` for another number of positional arguments. */
export function expectPositionals(positionals: string[], names: string[]): void {
  if (positionals.length === names.length) return;
  const wanted = names.length === 0 ? 'no arguments' : names.join(' ');
  throw new CommandError(`expected ${wanted}, got ${positionals.length} arguments`, 2);
}

/** The value of an option. Throws `CommandError` where it is missing or empty. */
export function required(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw new CommandError(`--${name} must be given`, 2);
  return value;
}
