#!/usr/bin/env node
import { escapedLine } from './base/text.ts';
import { failureOf, run } from './commands/command-line.ts';
import { isTooOld, runOnOwnNode } from './runtime.ts';

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

// Only the owner may read what a command creates: database, log, locks, copies.
process.umask(0o077);
const args = process.argv.slice(2);
watchOutput(args[0] ?? '');
try {
  if (isTooOld(process.versions.node)) process.exitCode = await runOnOwnNode();
  else await run(args);
} catch (error) {
  const { message, exitCode, isKnown } = failureOf(error);
  process.stderr.write(message);
  process.exitCode = exitCode;
  if (!isKnown) process.exit();
}
