import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Need } from '../../support/harness.ts';
import { scratchFolder } from '../../support/scratch.ts';

/** What tests need that trace processes. */
export const tracing: Need = {
  here: spawnSync('strace', ['-e', 'trace=none', 'true']).status === 0,
  bring: 'Install strace, where tracing is allowed.',
};

/** A command that runs another under strace, and what strace wrote when that has ended. */
export interface Trace {
  under: string[];
  lines(): string[];
}

/** Traces what the arguments of strace say, children and threads too; the process that is started is the traced one. */
export function trace(...args: string[]): Trace {
  const file = join(scratchFolder(), 'trace');
  return {
    under: ['strace', '-D', '-f', '--seccomp-bpf', '-qq', '-o', file, ...args],
    lines: () =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
  };
}
