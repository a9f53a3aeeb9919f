import { type ParseArgsConfig, parseArgs } from 'node:util';
import { CommandError } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
import { escapedLine } from '../base/text.ts';
import { type Database, type Files, openDatabase } from '../db/database.ts';
import { asCommandError } from '../db/faults.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

/** One command of the table in rule D20. `run` gives the exit code. */
export interface Command {
  name: string;
  summary: string;
  usage: string;
  /** One line for each option, for `--help`. */
  help: string[];
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
    throw new CommandError((error as Error).message.split('\n')[0]!, 2);
  }
}

/** Kinds of options: a text, a repeatable text, a flag. */
export const text = { type: 'string' } as const;
export const texts = { ...text, multiple: true } as const;
export const flag = { type: 'boolean' } as const;

const commonOptions = { db: text, 'users-db': text, json: flag, help: flag };

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
