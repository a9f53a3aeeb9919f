import { isDeep } from './harness.ts';

/** Only deep runs measure: in others the work is done once, for what it asserts, and counts as 1. */
const measures = process.env[isDeep] === '1';

/**
 * How many times more processor time a work takes of twice the size: 2 where it grows with the size, 4 where it grows with
 * its square. The least of two measurements.
 */
export async function growthOf(work: (size: number) => unknown, size: number): Promise<number> {
  if (!measures) return Promise.resolve(work(size)).then(() => 1);
  const ratios: number[] = [];
  for (let turn = 0; turn < 2; turn++) {
    const once = await timeOf(() => work(size));
    ratios.push((await timeOf(() => work(2 * size))) / once);
  }
  return Math.min(...ratios);
}

/** Milliseconds of processor time since the process began. */
const used = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
async function timeOf(work: () => unknown): Promise<number> {
  const before = used();
  await work();
  return used() - before;
}
