import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError } from './base/errors.ts';
import { packageRoot } from './base/root.ts';

/** Older versions crash in the SQLite driver, or lack Zstandard; `engines` in package.json says the same. */
const oldestNode = '22.15';

/**
 * How npm, the image, the package and `runOnOwnNode` start Node. V8 would let young objects fill 64 MB before it looks
 * at them, which takes 6 ms in place of 2, and 70 MB of memory.
 */
export const nodeOptions = ['--max-semi-space-size=16'];

/** Whether `version` (as `process.versions.node`) is too old. */
export function isTooOld(version: string): boolean {
  const [major, minor] = version.split('.').map(Number) as [number, number];
  return major < 22 || (major === 22 && minor < 15) || (major === 23 && minor < 8);
}

/**
 * Runs this program again with the Node that `npm ci` installed, with the same arguments, input, output and signals.
 * Gives the exit code. Throws a `CommandError` without that Node.
 */
export async function runOnOwnNode(): Promise<number> {
  const own = join(packageRoot, 'node_modules', 'node', 'bin', 'node');
  if (!existsSync(own))
    throw new CommandError(
      `Gapstone needs Node ${oldestNode} or later; this is Node ${process.versions.node}`,
    );
  const child = spawn(own, [...nodeOptions, ...process.argv.slice(1)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}
