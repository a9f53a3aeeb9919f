import { setImmediate as turn } from 'node:timers/promises';

/** Milliseconds of work after which other requests have their turn. */
const longestSlice = 10;

/** Does a piece of work for each item in order, and yields to the event loop every ten milliseconds. */
export async function inSlices<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  let until = performance.now() + longestSlice;
  for (const item of items) {
    work(item);
    if (performance.now() < until) continue;
    await turn();
    until = performance.now() + longestSlice;
  }
}
