import { type Command, wrongAction } from './command.ts';
import { applyCommand, rollbackCommand } from './content-apply.ts';
import { buildCommand } from './content-build.ts';
import { keygenCommand, trustCommand } from './content-keys.ts';
import { planCommand } from './content-plan.ts';
import { listCommand, verifyCommand } from './content-verify.ts';

/** The commands for bundles, by their second word (rule D32.1). */
const commands: Record<string, Omit<Command, 'name' | 'summary' | 'examples'>> = {
  keygen: keygenCommand,
  trust: trustCommand,
  build: buildCommand,
  verify: verifyCommand,
  plan: planCommand,
  apply: applyCommand,
  rollback: rollbackCommand,
  list: listCommand,
};

export const contentCommand: Command = {
  name: 'content',
  summary: 'build signed bundles of a catalog for other sites, and apply them',
  usage: Object.values(commands)
    .map(({ usage }) => usage)
    .join('\n'),
  help: Object.values(commands).flatMap(({ help }) => help),
  settings: ['auditFile', 'auditFailure'],
  examples: [
    'gapstone content keygen --out content-key',
    'gapstone content build --out q3.bundle --key content-key --sequence 1',
    'gapstone content trust add content-key.pub --name depot',
    'gapstone content verify q3.bundle',
    'gapstone content plan q3.bundle',
    'gapstone content apply q3.bundle',
  ],
  async run([action = '', ...args]) {
    if (!Object.hasOwn(commands, action)) throw wrongAction('content', action, Object.keys(commands));
    return commands[action]!.run(args);
  },
};
