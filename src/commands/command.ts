import { readFileSync } from 'node:fs';
import {
  Command,
  type CommandUnknownOpts,
  Help,
  InvalidArgumentError,
  Option,
} from '@commander-js/extra-typings';
import { CommandError } from '../base/errors.ts';
import { whyRefused } from '../base/files.ts';
import { lifetimeOf } from '../base/lifetime.ts';
import { descriptionOf, type Setting, settingNames, variableOf } from '../base/settings.ts';
import { escapedLine } from '../base/text.ts';
import { decodeText } from '../read/decode.ts';

/** What `--help` says of a command after its options. */
interface About {
  /** The settings that count besides those of the two files. */
  settings?: readonly Setting[];
  /** The exit codes that mean more than 0, 1 and 2 do elsewhere. */
  exitCodes?: [code: string, meaning: string][];
  /** Sentences about the whole command. */
  notes?: string[];
  examples?: string[];
}

/** The settings of a server: all but those that every command has. */
export const serverSettings = settingNames.filter((name) => name !== 'db' && name !== 'usersDb');

const commonOptions = ['--db', '--users-db', '--json', '--help'];

/** A command without options: one that has others, or the beginning of one. */
function bare(name: string, summary: string, about: About): Command {
  return new Command(name)
    .description(summary)
    .helpOption('-h, --help', 'this text')
    .configureHelp({
      visibleOptions: (shown) => {
        const options = new Help().visibleOptions(shown);
        const isOwn = ({ long }: { long?: string }) => !commonOptions.includes(long ?? '');
        return [...options.filter(isOwn), ...options.filter((each) => !isOwn(each))];
      },
    })
    .configureOutput({ writeErr: () => undefined })
    .exitOverride()
    .addHelpText('after', () => helpAfter(about));
}

/**
 * A command of the table in rule D20, with the options that all have. Its action sets `process.exitCode` where that is not
 * 0.
 */
export const command = (name: string, summary: string, about: About = {}) =>
  bare(name, summary, { ...about, settings: ['db', 'usersDb', ...(about.settings ?? [])] })
    .option('--db <file>', 'the catalog')
    .option('--users-db <file>', "users' data")
    .option('--json', 'print the result as JSON');

/** Where a server listens. */
export const hostOption = new Option('--host <host>', 'address to listen on (127.0.0.1)');
export const portOption = new Option('--port <port>', 'port to listen on (8080; 0 picks a free one)');

/** A command that only has others, such as `content`. */
export function group(
  name: string,
  summary: string,
  commands: CommandUnknownOpts[],
  about: About = {},
): Command {
  const made = bare(name, summary, about);
  for (const each of commands) made.addCommand(each);
  return made;
}

/** The parts of `--help` after the options. */
function helpAfter({ settings = [], exitCodes = [], notes = [], examples = [] }: About): string {
  const help = new Help();
  help.prepareContext({ helpWidth: 80 });
  const table = (rows: [term: string, text: string][]) => {
    const width = Math.max(...rows.map(([term]) => term.length));
    return rows.map(([term, text]) => help.formatItem(term, width, text, help));
  };
  const parts: [title: string, lines: string[]][] = [
    ['Notes', notes.map((note) => `  ${help.boxWrap(note, 78).replaceAll('\n', '\n  ')}`)],
    ['Environment', table(settings.map((name) => [variableOf(name), descriptionOf(name)]))],
    ['Exit codes', table(exitCodes)],
    ['Examples', examples.map((example) => `  ${example}`)],
  ];
  return parts
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `\n${title}:\n${lines.join('\n')}`)
    .join('\n');
}

/** Reads an option such as 30m, 8h or 90d as seconds. */
export function seconds(text: string): number {
  const read = lifetimeOf(text);
  if (read === null) throw new InvalidArgumentError('It must be a number with s, m, h or d.');
  return read;
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
