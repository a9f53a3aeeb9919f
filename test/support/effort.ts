import { isDeep } from './harness.ts';

/** Only deep runs measure: in others the work is done once, for what it asserts. */
const measures = process.env[isDeep] === '1';

/** The milliseconds of processor time that a work takes in this process; 0 where nothing is measured. */
export async function costOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return measures ? (user + system) / 1000 : 0;
}

/**
 * How many times more processor time a work takes of twice the size: 2 where it grows with the size, 4 where it grows with
 * its square. The least of two measurements.
 */
export async function growthOf(work: (size: number) => unknown, size: number): Promise<number> {
  if (!measures) return Promise.resolve(work(size)).then(() => 1);
  const ratios: number[] = [];
  for (let turn = 0; turn < 2; turn++) {
    const once = await costOf(() => work(size));
    ratios.push((await costOf(() => work(2 * size))) / once);
  }
  return Math.min(...ratios);
}
