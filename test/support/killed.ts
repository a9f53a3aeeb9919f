import { join } from 'node:path';
import { packageRoot } from '../../src/base/root.ts';
import { gapstone } from './child.ts';

/**
 * The points at which a kill leaves different things: what moves a file to its place or writes it to the disk, and
 * `backup`, the steps of SQLite's backup: with its lock taken, between pages, and when it is committed.
 */
export const killPoints = ['linkSync', 'renameSync', 'rmSync', 'fsyncSync', 'backup'];

/** A program that runs before another and kills it at the point of that number. */
const hook = (number: number, points: string[]) =>
  `data:text/javascript,${encodeURIComponent(`
    import fs from 'node:fs';
    import { createRequire, syncBuiltinESMExports } from 'node:module';
    let left = ${number};
    const point = () => {
      if (--left === 0) process.kill(process.pid, 'SIGKILL');
    };
    for (const name of ${JSON.stringify(points.filter((each) => each !== 'backup'))}) {
      const call = fs[name];
      fs[name] = (...given) => {
        point();
        return call(...given);
      };
    }
    syncBuiltinESMExports();
    if (${points.includes('backup')}) {
      const { prototype } = createRequire(${JSON.stringify(join(packageRoot, 'package.json'))})('better-sqlite3');
      const { backup } = prototype;
      prototype.backup = async function (file, options) {
        const progress = (pages) => {
          point();
          options?.progress?.(pages);
          return Math.ceil(pages.totalPages / 2);
        };
        const result = await backup.call(this, file, { ...options, progress });
        point();
        return result;
      };
    }`)}`;

/**
 * Runs a command killed at the first such point, the second and so on until it ends of itself; `judge` looks at what
 * each leaves. Gives how many were killed.
 */
export async function killedAtEach(
  command: (number: number) => Promise<{ args: string[]; judge: () => unknown }>,
  options: { points?: string[]; cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<number> {
  const { points = killPoints, ...rest } = options;
  for (let number = 1; ; number++) {
    const { args, judge } = await command(number);
    const nodeArgs = ['--import', hook(number, points)];
    const { signal, code, stderr } = await gapstone(args, { ...rest, nodeArgs });
    await judge();
    if (signal === 'SIGKILL') continue;
    if (code !== 0) throw new Error(`it ended with ${code}: ${stderr}`);
    return number - 1;
  }
}
