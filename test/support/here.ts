import { failureOf, run } from '../../src/commands/command-line.ts';
import { type ChildResult, gapstone } from './child.ts';
import { scratchFolder } from './scratch.ts';

type Ended = Pick<ChildResult, 'code' | 'stdout' | 'stderr'>;

const signals = ['SIGINT', 'SIGTERM'] as const;

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs the command line to its end as `gapstone` does, in this process: for what a command says and does where a process
 * of its own is not the point, as each start takes some tenths of a second. One runs at a time; a server is a process.
 */
export function commandHere(
  args: string[],
  { cwd = scratchFolder(), env = {} }: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ended> {
  const isServer = args[0] === 'serve' || args[0] === 'start';
  const turn = last.then(() => (isServer ? endedApart(args, cwd, env) : ended(args, cwd, env)));
  last = turn.catch(() => undefined);
  return turn;
}

/** As `runToEnd`. */
export const runHere = (cwd: string, args: string[], env: Record<string, string> = {}) =>
  commandHere(args, { cwd, env });

async function endedApart(args: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ended> {
  const { code, stdout, stderr } = await gapstone(args, { cwd, env });
  return { code, stdout, stderr };
}

async function ended(args: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ended> {
  const out = { stdout: '', stderr: '' };
  const before = {
    exitCode: process.exitCode,
    env: process.env,
    cwd: process.cwd(),
    umask: process.umask(0o077),
  };
  const writes = { stdout: process.stdout.write, stderr: process.stderr.write };
  for (const name of ['stdout', 'stderr'] as const)
    process[name].write = ((part: string, done?: () => void) => {
      out[name] += part;
      if (typeof done === 'function') done();
      return true;
    }) as typeof process.stdout.write;
  const listeners = signals.map((signal) => process.listeners(signal));
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GAPSTONE_'));
  process.env = { ...Object.fromEntries(inherited), ...env };
  process.chdir(cwd);
  try {
    process.exitCode = 0;
    await run(args);
    return { code: Number(process.exitCode), ...out };
  } catch (error) {
    const { message, exitCode } = failureOf(error);
    return { code: exitCode, stdout: out.stdout, stderr: out.stderr + message };
  } finally {
    process.exitCode = before.exitCode;
    process.env = before.env;
    for (const [index, signal] of signals.entries())
      for (const listener of process.listeners(signal))
        if (!listeners[index]!.includes(listener)) process.off(signal, listener);
    process.chdir(before.cwd);
    process.umask(before.umask);
    for (const name of ['stdout', 'stderr'] as const) process[name].write = writes[name];
  }
}
