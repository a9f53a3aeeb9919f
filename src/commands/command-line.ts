import { type Command, CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { environment } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { asCommandError } from '../base/faults.ts';
import { rightsAround } from '../base/files.ts';
import { refuseRoot } from '../base/installation.ts';
import { packageCommit, packageVersion } from '../base/root.ts';
import { escaped, escapedLine, printable } from '../base/text.ts';
import { requireDriver } from '../db/driver.ts';
import { group } from './command.ts';

/** The commands in the order of `--help`. Each is loaded on demand, because loading all is slow. */
const commands: Record<string, () => Promise<CommandUnknownOpts>> = {
  import: async () => (await import('./import.ts')).importCommand(),
  start: async () => (await import('./start.ts')).startCommand(),
  serve: async () => (await import('./serve.ts')).serveCommand(),
  content: async () => (await import('./content.ts')).contentCommand(),
  backup: async () => (await import('./backup.ts')).backupCommand(),
  restore: async () => (await import('./backup.ts')).restoreCommand(),
  check: async () => (await import('./check.ts')).checkCommand(),
  status: async () => (await import('./status.ts')).statusCommand(),
  token: async () => (await import('./token.ts')).tokenCommand(),
  mapping: async () => (await import('./mapping.ts')).mappingCommand(),
  collection: async () => (await import('./collection.ts')).collectionCommand(),
  checklists: async () => (await import('./checklists.ts')).checklistsCommand(),
  references: async () => (await import('./references.ts')).referencesCommand(),
  mcp: async () => (await import('./mcp.ts')).mcpCommand(),
  config: async () => (await import('./show-config.ts')).configCommand(),
  purge: async () => (await import('./purge.ts')).purgeCommand(),
  tidy: async () => (await import('./tidy.ts')).tidyCommand(),
};

/** The commands that have another name since version 1.1 (rule D20). */
const renamed = new Map([
  ['upgrade-check', 'check --upgrade'],
  ['self-assessment', 'check --self-assessment'],
  ['user-token', 'token user'],
  ['integration-token', 'token integration'],
]);

/** The program with some of its commands. */
async function programOf(names: string[]): Promise<Command> {
  const loaded = await Promise.all(names.map((name) => commands[name]!()));
  const summary = `Gapstone ${packageVersion}: an offline catalog of STIGs, controls and their crosswalk`;
  const about = {
    notes: ['gapstone COMMAND --help explains a command, gapstone config --help the settings.'],
    exitCodes: [
      ['0', 'done'],
      ['1', 'failed; one line on standard error says why'],
      ['2', 'wrong usage, or a wrong setting'],
    ] as [string, string][],
    examples: [
      'gapstone start',
      'gapstone import U_SRG-STIG_Library_July_2026.zip',
      'gapstone token issue --subject ann --org team-red',
    ],
  };
  return group('gapstone', summary, loaded, about)
    .option('-v, --version', 'what this is')
    .enablePositionalOptions()
    .hook('preAction', (_, command) => checkUsage(command));
}

/** Refuses an empty argument, as from an unset variable of a script, and root where it would own the files. */
function checkUsage(command: CommandUnknownOpts): void {
  const given = [...command.args, ...Object.values(command.opts()).flat()];
  if (given.includes('')) throw new CommandError('an argument or the value of an option is empty', 2);
  // `config` writes nothing, and says itself what is wrong.
  if (command.name() !== 'config') refuseRoot(environment().GAPSTONE_DB);
}

/** Runs the command line, and sets `process.exitCode`. Throws what `failureOf` puts into words. */
export async function run(args: string[]): Promise<void> {
  const [name = '', ...rest] = args;
  const sqlite = await requireDriver();
  if (['--version', '-v', 'version'].includes(name)) {
    process.stdout.write(
      `gapstone ${packageVersion}\ncommit ${packageCommit}\nnode ${process.versions.node}\nsqlite ${sqlite}\n`,
    );
    return;
  }
  if (renamed.has(name)) throw new CommandError(`"${name}" is now "gapstone ${renamed.get(name)}"`, 2);
  if (name === 'help' && rest.length > 0) return run([...rest, '--help']);
  const program = await programOf(Object.hasOwn(commands, name) ? [name] : Object.keys(commands));
  if (args.length === 0) {
    program.outputHelp();
    process.exitCode = 2;
    return;
  }
  try {
    await program.parseAsync(upToUnknownCommand(program, args), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw asCommandError(error);
    if (error.exitCode === 0) return;
    const isAlone = error.code === 'commander.help';
    const message = isAlone ? `"${args.join(' ')}" alone does nothing: see --help` : error.message;
    throw new CommandError(printable(message.replace(/^error: /, '').replace('\n', ' '), 400), 2);
  }
}

/**
 * The arguments, cut after a word that is no command: with `--help` commander would explain the commands before it, as it would
 * after `help`.
 */
function upToUnknownCommand(program: CommandUnknownOpts, args: string[]): string[] {
  let commands = program.commands;
  for (const [index, word] of args.entries()) {
    if (commands.length === 0 || word.startsWith('-')) break;
    if (word === 'help') return upToUnknownCommand(program, [...args.toSpliced(index, 1), '--help']);
    const named = commands.find((command) => command.name() === word);
    if (named === undefined) return args.slice(0, index + 1);
    commands = named.commands;
  }
  return args;
}

/** Whether the operating system refused something (too long a name, too many open files): its message suffices. */
function isRefusedBySystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}

const stackOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error));

/** What is said of the failure of a command, with its exit code; what nobody foresaw is said with its stack. */
export function failureOf(error: unknown): { message: string; exitCode: number; isKnown: boolean } {
  const isKnown = error instanceof CommandError || isRefusedBySystem(error);
  const rights = isRefusedBySystem(error) ? rightsAround(error.path ?? '.', error) : '';
  const text = isKnown ? escapedLine(`${error.message}${rights}`) : escaped(stackOf(error));
  return {
    message: `gapstone: ${text}\n`,
    exitCode: error instanceof CommandError ? error.exitCode : 1,
    isKnown,
  };
}
