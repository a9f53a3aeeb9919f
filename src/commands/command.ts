import { type ParseArgsConfig, parseArgs } from 'node:util';
import { CommandError } from '../base/errors.ts';
import { isThere } from '../base/files.ts';
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

/** Runs a command; a storage that fails under it ends it with one line. */
export async function runCommand(command: Command, args: string[]): Promise<number> {
  try {
    return await command.run(args);
  } catch (error) {
    throw asCommandError(error);
  }
}

/** Tells the operator something on stderr. */
export function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Opens both files only to be looked at; users' data that is not there is not made. Throws `CommandError`. */
export function openToLook({ db, usersDb }: Files, busyTimeout?: number): Database {
  const files = { db, usersDb: isThere(usersDb) ? usersDb : ':memory:' };
  const opened = openDatabase(files, { asItIs: true, ...(busyTimeout === undefined ? {} : { busyTimeout }) });
  opened.sqlite.pragma('query_only = ON');
  return opened;
}

/**
 * Parses the arguments of a command: as many as it has `names` for (null: the command counts them itself), and its options. Throws `CommandError` with exit code 2 for anything that is not its usage.
 */
export function parse<const O extends Options>(args: string[], names: string[] | null, options: O) {
  const parsed = parsedArgs(args, options);
  // A variable of a script that was never set.
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

/** Kinds of options: with a text, with one that may be given again, with none. */
export const text = { type: 'string' } as const;
export const texts = { ...text, multiple: true } as const;
export const flag = { type: 'boolean' } as const;

const commonOptions = { db: text, 'users-db': text, json: flag, help: flag };

/** Refuses positional arguments beyond those that a command takes. */
export function expectPositionals(positionals: string[], names: string[]): void {
  if (positionals.length === names.length) return;
  const wanted = names.length === 0 ? 'no arguments' : names.join(' ');
  throw new CommandError(`expected ${wanted}, got ${positionals.length} arguments`, 2);
}

/** The text of an option that must be given. */
export function required(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw new CommandError(`--${name} must be given`, 2);
  return value;
}
