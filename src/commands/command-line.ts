import { CommandError } from '../base/errors.ts';
import { rightsAround } from '../base/files.ts';
import { refuseRoot } from '../base/installation.ts';
import { didYouMean } from '../base/nearest.ts';
import { packageCommit, packageVersion } from '../base/root.ts';
import { cut, escaped, escapedLine, printable } from '../base/text.ts';
import { requireDriver } from '../db/driver.ts';
import type { Command } from './command.ts';

/** The commands in the order of `--help`. Each is loaded on demand, because loading all is slow. */
const commands: Record<string, () => Promise<Command>> = {
  start: async () => (await import('./start.ts')).startCommand,
  serve: async () => (await import('./serve.ts')).serveCommand,
  import: async () => (await import('./import.ts')).importCommand,
  token: async () => (await import('./token.ts')).tokenCommand,
  mapping: async () => (await import('./mapping.ts')).mappingCommand,
  'integration-token': async () => (await import('./integration-token.ts')).integrationTokenCommand,
  'user-token': async () => (await import('./user-token.ts')).userTokenCommand,
  collection: async () => (await import('./collection.ts')).collectionCommand,
  content: async () => (await import('./content.ts')).contentCommand,
  checklists: async () => (await import('./checklists.ts')).checklistsCommand,
  references: async () => (await import('./find-references.ts')).referencesCommand,
  mcp: async () => (await import('./mcp.ts')).mcpCommand,
  purge: async () => (await import('./purge.ts')).purgeCommand,
  backup: async () => (await import('./backup.ts')).backupCommand,
  tidy: async () => (await import('./tidy.ts')).tidyCommand,
  restore: async () => (await import('./restore.ts')).restoreCommand,
  check: async () => (await import('./check.ts')).checkCommand,
  config: async () => (await import('./show-config.ts')).configCommand,
  status: async () => (await import('./status.ts')).statusCommand,
  'upgrade-check': async () => (await import('./upgrade-check.ts')).upgradeCheckCommand,
  'self-assessment': async () => (await import('./self-assessment.ts')).selfAssessmentCommand,
};

async function usage(): Promise<string> {
  const all = await Promise.all(Object.values(commands).map((load) => load()));
  const { listed } = await import('./help.ts');
  const list = listed(all.map(({ name, summary }) => [name, summary]));
  return `Gapstone ${packageVersion}: an offline catalog of STIGs, controls and their crosswalk\n\n${list.join('\n')}\n\n${firstSteps}\n`;
}

async function versions(): Promise<string> {
  const sqlite = await requireDriver();
  return `gapstone ${packageVersion}\ncommit ${packageCommit}\nnode ${process.versions.node}\nsqlite ${sqlite}\n`;
}

const firstSteps = `gapstone COMMAND --help explains a command, gapstone config --help the settings,
gapstone --version (-v) says what this is.

Examples:
  gapstone start
  gapstone import U_SRG-STIG_Library_July_2026.zip
  gapstone token issue --subject ann --org team-red`;

/** The command of a name. Throws `CommandError` that names the nearest one. */
async function commandOf(name: string): Promise<Command> {
  if (!Object.hasOwn(commands, name)) {
    const nearest = didYouMean(name, [...Object.keys(commands), 'help', 'version']);
    throw new CommandError(
      `there is no command "${printable(cut(name), 64)}"${nearest || ': see gapstone --help'}`,
      2,
    );
  }
  // First: loading a command loads the driver with it.
  await requireDriver();
  return commands[name]!();
}

async function printHelp(command: Command): Promise<number> {
  const { usageOf } = await import('./help.ts');
  process.stdout.write(usageOf(command));
  return 0;
}

/** Runs the command line; gives the exit code. Throws what `failureOf` puts into words. */
export async function run(args: string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === '--version' || name === '-v' || name === 'version') {
    process.stdout.write(await versions());
    return 0;
  }
  if (name === 'help' && rest[0] !== undefined) return printHelp(await commandOf(rest[0]));
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(await usage());
    return name === undefined ? 2 : 0;
  }
  if (name.startsWith('-')) {
    const given = `"${printable(cut(name), 64)}"`;
    const nearest = didYouMean(name.replace(/^-+/, ''), ['help', 'version'], '--');
    throw new CommandError(
      nearest === ''
        ? `the command must come before ${given}: see gapstone --help`
        : `there is no option ${given}${nearest}`,
      2,
    );
  }
  const command = await commandOf(name);
  if (rest.includes('--help') || rest.includes('-h')) return printHelp(command);
  const { environment } = await import('../base/config.ts');
  // `config` writes nothing, and says itself what is wrong.
  if (name !== 'config') refuseRoot(environment().GAPSTONE_DB);
  const { runCommand } = await import('./command.ts');
  return runCommand(command, rest);
}

/** Whether the operating system refused something (too long a name, too many open files): its message suffices. */
function isRefusedBySystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}

const stackOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error));

/** What is said of the failure of a command, with its exit code; what nobody foresaw is said with its stack. */
export function failureOf(error: unknown): { said: string; exitCode: number; isKnown: boolean } {
  const isKnown = error instanceof CommandError || isRefusedBySystem(error);
  const rights = isRefusedBySystem(error) ? rightsAround(error.path ?? '.', error) : '';
  const said = isKnown ? escapedLine(`${error.message}${rights}`) : escaped(stackOf(error));
  return {
    said: `gapstone: ${said}\n`,
    exitCode: error instanceof CommandError ? error.exitCode : 1,
    isKnown,
  };
}
