import { CommandError } from '../base/errors.ts';
import type { Command } from './command.ts';
import { applyCommand, rollbackCommand } from './content-apply.ts';
import { attachCommand, buildCommand } from './content-build.ts';
import { keygenCommand, trustCommand } from './content-keys.ts';
import { planCommand } from './content-plan.ts';
import { listCommand, verifyCommand } from './content-verify.ts';

/** The commands for bundles, by their second word (rule D32.1). */
const commands: Record<string, Omit<Command, 'name' | 'summary'>> = {
  keygen: keygenCommand,
  trust: trustCommand,
  build: buildCommand,
  attach: attachCommand,
  verify: verifyCommand,
  plan: planCommand,
  apply: applyCommand,
  rollback: rollbackCommand,
  list: listCommand,
};

const names = Object.keys(commands);

export const contentCommand: Command = {
  name: 'content',
  summary: 'build signed bundles of a catalog for other sites, and apply them',
  usage: Object.values(commands)
    .map(({ usage }) => usage)
    .join('\n'),
  help: Object.values(commands).flatMap(({ help }) => help),
  async run([action = '', ...args]) {
    if (!Object.hasOwn(commands, action))
      throw new CommandError(
        `the content commands are ${names.slice(0, -1).join(', ')} and ${names.at(-1)}`,
        2,
      );
    return commands[action]!.run(args);
  },
};
