import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { scratchFolder } from './scratch.ts';

/** The compiled command line, beside the compiled tests. */
export const cli = fileURLToPath(new URL('../../src/cli.js', import.meta.url));

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
  const kept = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('GAPSTONE_')),
  );
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
    env: { ...kept, ...options.env },
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
