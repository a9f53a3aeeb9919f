import { gapstone } from './child.ts';

/** What moves a file to its place, or writes it to the disk: the points at which a kill leaves different things. */
const points = ['linkSync', 'renameSync', 'rmSync', 'fsyncSync'];

/** A program that runs before another and kills it at the call of that number of one of these functions. */
const hook = (number: number) =>
  `data:text/javascript,${encodeURIComponent(`
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    let left = ${number};
    for (const name of ${JSON.stringify(points)}) {
      const call = fs[name];
      fs[name] = (...given) => {
        if (--left === 0) process.kill(process.pid, 'SIGKILL');
        return call(...given);
      };
    }
    syncBuiltinESMExports();`)}`;

/**
 * Runs a command killed before the first such call, the second and so on until it ends of itself; `judge` looks at what
 * each leaves. Gives how many were killed.
 */
export async function killedAtEach(
  command: (number: number) => Promise<{ args: string[]; judge: () => unknown }>,
): Promise<number> {
  for (let number = 1; ; number++) {
    const { args, judge } = await command(number);
    const { signal, code, stderr } = await gapstone(args, { nodeArgs: ['--import', hook(number)] });
    await judge();
    if (signal === 'SIGKILL') continue;
    if (code !== 0) throw new Error(`it ended with ${code}: ${stderr}`);
    return number - 1;
  }
}
