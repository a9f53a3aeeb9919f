import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { nodeOptions } from '../../src/runtime.ts';
import { cli, gapstone } from '../support/child.ts';
import { hasReferenceData, reference, shipped } from '../support/reference.ts';
import { put } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// What is measured: a catalog, and a server that runs apart.

/** Imports as a user does. */
export async function imported(cwd: string, ...paths: string[]): Promise<void> {
  const { code, stderr } = await gapstone(['import', ...paths], { cwd });
  if (code !== 0 && code !== 3) throw new Error(stderr);
}

/** A STIG of our own; its V-ids begin at `2,000,000 + 100 * index`. */
export function sample(index: number, rules = 20): string {
  const title = `Sample Product ${index} Security Technical Implementation Guide`;
  return writeXccdf({
    id: `Sample_${index}`,
    title,
    rules,
    stem: `OWN-${index}`,
    first: 2_000_000 + 100 * index,
  });
}

/** Imports what is shipped, the real files where they are here, and so many STIGs of our own. */
export async function fill(cwd: string, stigs: number, rules?: number): Promise<void> {
  for (let index = 0; index < stigs; index++) put(cwd, `in/${index}.xml`, sample(index, rules));
  const real = ['xccdf', 'oscal', 'sp800-171', 'cci', 'dod-8500', 'nice', 'onet', 'regulatory'];
  const paths = hasReferenceData ? real.map((name) => reference(name)) : [];
  await imported(cwd, shipped(), ...paths, join(cwd, 'in'));
}

/** A user token of a site. */
export async function tokenOf(cwd: string): Promise<string> {
  return (await gapstone(['token', 'issue', '--subject', 'bench', '--org', 'bench'], { cwd })).stdout.trim();
}

/** Prints a row of a table. */
export function row(name: string, ...cells: (string | number)[]): void {
  console.log(name.padEnd(52) + cells.map((cell) => String(cell).padStart(11)).join(''));
}

export const middle = (values: number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;

const pinned = process.platform === 'linux' && availableParallelism() > 1;

/** Keeps this process on the second processor, so that what `start` starts on the first is not disturbed. */
export function stayApart(): void {
  if (pinned) execFileSync('taskset', ['-pc', '1', String(process.pid)], { stdio: 'ignore' });
}

/** Starts a server, or another program of Node, on the first processor, and waits until it says its port. */
export async function start(
  cwd: string,
  args = [...nodeOptions, cli, 'serve', '--port', '0'],
  says = /"url":"http:\/\/[^"]+:(\d+)"/,
) {
  const started = performance.now();
  const [command, ...rest] = [...(pinned ? ['taskset', '-c', '0'] : []), process.execPath, ...args];
  const child = spawn(command!, rest, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  while (!says.test(said)) said += (await once(child.stdout!, 'data'))[0];
  child.stdout!.resume();
  return {
    port: Number(says.exec(said)![1]),
    /** Milliseconds from its start until it listened. */
    ready: performance.now() - started,
    /** What it has in memory. */
    megabytes: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'close');
    },
  };
}
