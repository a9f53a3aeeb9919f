import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/root.ts';
import { isBundled } from './harness.ts';
import { scratchFolder } from './scratch.ts';

const bundled = process.env[isBundled] === '1';

/** The command line: that of the bundle in deep tests, otherwise the source. */
export const cli = join(packageRoot, ...(bundled ? ['dist', 'src', 'cli.js'] : ['src', 'cli.ts']));

/** The environment of this process without Gapstone's variables. Only the source needs the loader of the tests. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('GAPSTONE_') && !(bundled && name === 'NODE_OPTIONS'),
  );
  return Object.fromEntries(inherited);
}

export interface ChildResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  ms: number;
}

/** What a command says but for its progress, of which there is more the busier the machine is, and its log lines. */
export function withoutProgress(stderr: string): string {
  return stderr.replaceAll(/^(?:reading: |\{).*\n/gm, '');
}

/** Runs the command line as a child in an empty folder; `killAfter` sends SIGKILL after so many milliseconds. */
export function gapstone(
  args: string[],
  options: {
    killAfter?: number;
    nodeArgs?: string[];
    cwd?: string;
    env?: NodeJS.ProcessEnv;
    /** A command that runs it, such as a tracer. */
    under?: string[];
    /** Called with the child when it was started. */
    onStart?: (child: ChildProcess) => void;
  } = {},
): Promise<ChildResult> {
  const start = performance.now();
  const [command, ...rest] = [
    ...(options.under ?? []),
    process.execPath,
    ...(options.nodeArgs ?? []),
    cli,
    ...args,
  ];
  const child = spawn(command!, rest, {
    cwd: options.cwd ?? scratchFolder(),
    env: { ...childEnvironment(), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  options.onStart?.(child);
  const timer =
    options.killAfter === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), options.killAfter);
  const out: Record<'stdout' | 'stderr', string> = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (part: string) => {
      out[name] += part;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, ...out, ms: performance.now() - start });
    });
  });
}
