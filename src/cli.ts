#!/usr/bin/env node
import { CommandError } from './base/errors.ts';
import { rightsAround } from './base/files.ts';
import { packageCommit, packageVersion } from './base/root.ts';
import { escaped, escapedLine } from './base/text.ts';
import type { Command } from './commands/command.ts';
import { requireDriver } from './db/driver.ts';
import { isTooOld, runOnOwnNode } from './runtime.ts';

/** The commands in the order of `--help`. Each is loaded on demand, because loading all is slow. */
const commands: Record<string, () => Promise<Command>> = {
  start: async () => (await import('./commands/start.ts')).startCommand,
  serve: async () => (await import('./commands/serve.ts')).serveCommand,
  import: async () => (await import('./commands/import.ts')).importCommand,
  token: async () => (await import('./commands/token.ts')).tokenCommand,
  mapping: async () => (await import('./commands/mapping.ts')).mappingCommand,
  'integration-token': async () => (await import('./commands/integration-token.ts')).integrationTokenCommand,
  collection: async () => (await import('./commands/collection.ts')).collectionCommand,
  content: async () => (await import('./commands/content.ts')).contentCommand,
  checklists: async () => (await import('./commands/checklists.ts')).checklistsCommand,
  references: async () => (await import('./commands/find-references.ts')).referencesCommand,
  mcp: async () => (await import('./commands/mcp.ts')).mcpCommand,
  purge: async () => (await import('./commands/purge.ts')).purgeCommand,
  backup: async () => (await import('./commands/backup.ts')).backupCommand,
  restore: async () => (await import('./commands/restore.ts')).restoreCommand,
  check: async () => (await import('./commands/check.ts')).checkCommand,
  status: async () => (await import('./commands/status.ts')).statusCommand,
  'upgrade-check': async () => (await import('./commands/upgrade-check.ts')).upgradeCheckCommand,
  'self-assessment': async () => (await import('./commands/self-assessment.ts')).selfAssessmentCommand,
};

async function usage(): Promise<string> {
  const all = await Promise.all(Object.values(commands).map((load) => load()));
  const width = Math.max(...all.map((command) => command.name.length));
  const list = all.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`);
  return `Gapstone ${packageVersion}: an offline catalog of STIGs, controls and their crosswalk\n\n${list.join('\n')}\n\ngapstone COMMAND --help explains a command.\n`;
}

async function versions(): Promise<string> {
  const sqlite = await requireDriver();
  return `gapstone ${packageVersion}\ncommit ${packageCommit}\nnode ${process.versions.node}\nsqlite ${sqlite}\n`;
}

function usageOf(command: Command): string {
  const common = [
    '--db FILE        the catalog (GAPSTONE_DB, gapstone.db)',
    "--users-db FILE  users' data (GAPSTONE_USERS_DB, gapstone-users.db beside the catalog)",
  ];
  return `${command.usage}\n${command.summary}\n\n${[...command.help, ...common].map((line) => `  ${line}`).join('\n')}\n`;
}

async function main(args: string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === '--version') {
    process.stdout.write(await versions());
    return 0;
  }
  if (name === undefined || name === '--help' || name === 'help') {
    process.stdout.write(await usage());
    return name === undefined ? 2 : 0;
  }
  if (name.startsWith('-'))
    throw new CommandError(`the command must come before "${name.slice(0, 64)}": see gapstone --help`, 2);
  if (!Object.hasOwn(commands, name))
    throw new CommandError(`there is no command "${name.slice(0, 64)}": see gapstone --help`, 2);
  // First: loading a command loads the driver with it.
  await requireDriver();
  const command = await commands[name]!();
  if (rest.includes('--help')) {
    process.stdout.write(usageOf(command));
    return 0;
  }
  const { runCommand } = await import('./commands/command.ts');
  return runCommand(command, rest);
}

/**
 * Without listeners, a failed write would end the process with a stack trace, even in the middle of an import. A closed
 * pipe (`status | head`) is no failure; output lost on a full disk makes the command fail. A server continues, and its
 * log counts lost lines.
 */
function watchOutput(command: string): void {
  process.stderr.on('error', () => undefined);
  let reported = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || reported) return;
    reported = true;
    process.stderr.write(`gapstone: the output cannot be written: ${escapedLine(error.message)}\n`);
    if (command === 'serve' || command === 'start') return;
    process.once('exit', () => {
      process.exitCode = 1;
    });
  });
}

/** Whether the operating system refused something (too long a name, too many open files): its message suffices. */
function isRefusedBySystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}

const stackOf = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error));

// Only the owner may read what a command creates: database, log, locks, copies.
process.umask(0o077);
const args = process.argv.slice(2);
watchOutput(args[0] ?? '');
try {
  process.exitCode = isTooOld(process.versions.node) ? await runOnOwnNode() : await main(args);
} catch (error) {
  const isKnown = error instanceof CommandError || isRefusedBySystem(error);
  const rights = isRefusedBySystem(error) ? rightsAround(error.path ?? '.', error) : '';
  const said = isKnown ? escapedLine(`${error.message}${rights}`) : escaped(stackOf(error));
  process.stderr.write(`gapstone: ${said}\n`);
  process.exitCode = error instanceof CommandError ? error.exitCode : 1;
  if (!isKnown) process.exit();
}
