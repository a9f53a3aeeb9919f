import { setImmediate as turn } from 'node:timers/promises';

// What work costs in processor time, which another program beside it does not make longer as it does the clock. A faster
// or slower machine changes it, and a busy one by a part: so all is counted in yardsticks, a piece of work of the same run.

/** What some work cost, in milliseconds of processor time. */
export interface Effort {
  /** The most in one turn of the event loop: as long as that, nobody else is answered. */
  turn: number;
  /** In the other threads, of which one reads uploads. */
  elsewhere: number;
}

const sum = ({ user, system }: { user: number; system: number }) => (user + system) / 1000;
const here = () => sum(process.threadCpuUsage());

/** Counts the processor time of some work turn by turn. */
export async function effortOfTurns(work: () => Promise<unknown>): Promise<Effort> {
  await turn();
  const [started, all] = [here(), sum(process.cpuUsage())];
  let [before, longest] = [started, 0];
  const look = () => {
    const now = here();
    longest = Math.max(longest, now - before);
    before = now;
  };
  // Once in each turn that takes longer than a millisecond; shorter ones count together until there is one.
  const looking = setInterval(look, 1);
  try {
    await work();
    await turn();
  } finally {
    clearInterval(looking);
  }
  look();
  return { turn: longest, elsewhere: sum(process.cpuUsage()) - all - (before - started) };
}

const yard = JSON.stringify(Array(200_000).fill('abc'));
/** A kernel counts in ticks of up to 4 milliseconds: as many yardsticks together are worth ten of these. */
const together = 10;

/** Works for so many yardsticks. */
export function work(yardsticks: number): void {
  for (let time = 0; time < yardsticks; time++) JSON.parse(yard);
}

/** The processor time of a fixed piece of work: a text of about 1 MiB parsed as JSON; the least of some. */
export function yardstick(): number {
  const times = Array.from({ length: 3 }, () => {
    const before = here();
    work(together);
    return (here() - before) / together;
  });
  return Math.min(...times);
}
