import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratchFolder } from '../../support/scratch.ts';

/** Why processes cannot be traced here, or null when they can. */
export function whyNoTracing(): string | null {
  const { error, status, stderr } = spawnSync('strace', ['-e', 'trace=none', 'true'], { encoding: 'utf8' });
  if (error) return 'strace is not installed';
  return status === 0 ? null : `strace is forbidden here: ${stderr.trim().split('\n').at(-1)}`;
}

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
