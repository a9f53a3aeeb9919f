import { isDeep } from './harness.ts';

/** Only deep runs measure: in others the work is done once, for what it asserts, and counts as 1. */
const measures = process.env[isDeep] === '1';

/** The processor time of the yardstick where the bounds of the tests were set, in milliseconds. */
const usual = 30;

/**
 * The processor time that a piece of work takes in this process, in milliseconds of the machine where the bounds were
 * set: it is measured against a yardstick in the same run. So a bound holds on a slow machine, and on a loaded one.
 */
export async function effortOf(work: () => unknown): Promise<number> {
  if (!measures) return Promise.resolve(work()).then(() => 1);
  const before = paceOfNow();
  const own = await timeOf(work);
  return own * Math.min(before, paceOfNow());
}

let latest = { pace: 0, at: Number.NEGATIVE_INFINITY };

/** The pace, measured anew when this process has worked for a while: the yardstick takes longer than many a work. */
function paceOfNow(): number {
  if (used() - latest.at > 300) latest = { pace: pace(), at: used() };
  return latest.pace;
}

/** How fast this machine is just now: 1 is the one where the bounds were set, less is slower. */
export function pace(): number {
  const before = used();
  yardstick();
  return usual / (used() - before);
}

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

/** What a program does: objects, texts, maps, sorting. */
function yardstick(): number {
  let sum = 0;
  for (let round = 0; round < 6; round++) {
    const rows = Array.from({ length: 5000 }, (_, index) => ({
      id: `V-${(index * 7919) % 5000}`,
      text: `the ${index}th rule`,
    }));
    const read = JSON.parse(JSON.stringify(rows)) as typeof rows;
    const byId = new Map(read.map((row) => [row.id, row.text.replace(/\d+/g, 'n')]));
    sum += [...byId.keys()].sort().length;
  }
  return sum;
}
