#!/usr/bin/env node
import { backupCommand } from './commands/backup.ts';
import { checkCommand } from './commands/check.ts';
import { collectionCommand } from './commands/collection.ts';
import { type Command, runCommand } from './commands/command.ts';
import { importCommand } from './commands/import.ts';
import { integrationTokenCommand } from './commands/integration-token.ts';
import { mappingCommand } from './commands/mapping.ts';
import { purgeCommand } from './commands/purge.ts';
import { restoreCommand } from './commands/restore.ts';
import { selfAssessmentCommand } from './commands/self-assessment.ts';
import { serveCommand } from './commands/serve.ts';
import { startCommand } from './commands/start.ts';
import { statusCommand } from './commands/status.ts';
import { tokenCommand } from './commands/token.ts';
import { CommandError } from './errors.ts';
import { packageVersion } from './openapi.ts';

const commands: Command[] = [
  startCommand,
  serveCommand,
  importCommand,
  tokenCommand,
  mappingCommand,
  integrationTokenCommand,
  collectionCommand,
  purgeCommand,
  backupCommand,
  restoreCommand,
  checkCommand,
  statusCommand,
  selfAssessmentCommand,
];

function usage(): string {
  const width = Math.max(...commands.map((command) => command.name.length));
  const list = commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`);
  return `Gapstone ${packageVersion}: an offline catalog of STIGs, controls and their crosswalk\n\n${list.join('\n')}\n\ngapstone COMMAND --help tells more about one.\n`;
}

function usageOf(command: Command): string {
  const common = ['--db FILE  the database (GAPSTONE_DB, gapstone.db)'];
  return `${command.usage}\n${command.summary}\n\n${[...command.help, ...common].map((line) => `  ${line}`).join('\n')}\n`;
}

async function main(args: string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === '--version') {
    process.stdout.write(`${packageVersion}\n`);
    return 0;
  }
  if (name === undefined || name === '--help' || name === 'help') {
    process.stdout.write(usage());
    return name === undefined ? 2 : 0;
  }
  const command = commands.find((each) => each.name === name);
  if (!command) throw new CommandError(`there is no command "${name.slice(0, 64)}": see gapstone --help`, 2);
  if (rest.includes('--help')) {
    process.stdout.write(usageOf(command));
    return 0;
  }
  return runCommand(command, rest);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  process.stderr.write(`gapstone: ${error.message}\n`);
  process.exitCode = error.exitCode;
}
