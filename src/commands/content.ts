import { group } from './command.ts';
import { applyCommand, rollbackCommand } from './content-apply.ts';
import { buildCommand } from './content-build.ts';
import { keygenCommand, trustCommand } from './content-keys.ts';
import { planCommand } from './content-plan.ts';
import { listCommand, verifyCommand } from './content-verify.ts';

/** The commands for bundles (rule D32.1). */
export const contentCommand = () =>
  group('content', 'build signed bundles of a catalog for other sites, and apply them', [
    keygenCommand(),
    trustCommand(),
    buildCommand(),
    verifyCommand(),
    planCommand(),
    applyCommand(),
    rollbackCommand(),
    listCommand(),
  ]);
