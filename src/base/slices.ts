import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

export { yieldToEventLoop };

/** Milliseconds of work before a slice yields to the event loop. */
export const longestSlice = 10;

/** Runs work for each item in order, yielding to the event loop every ten milliseconds. */
export function inSlices<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  function* steps(): Generator<void, void> {
    for (const item of items) {
      work(item);
      yield;
    }
  }
  return runInSlices(steps());
}

/** Runs a generator in slices; it yields wherever it can pause. Gives what the generator returns. */
export async function runInSlices<T>(
  work: Generator<void, T>,
  clock: () => number = () => performance.now(),
): Promise<T> {
  for (;;) {
    const until = clock() + longestSlice;
    do {
      const step = work.next();
      if (step.done) return step.value;
    } while (clock() < until);
    await yieldToEventLoop();
  }
}

/** Runs such a generator without pauses. */
export function atOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}
