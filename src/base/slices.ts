import { setImmediate as turn } from 'node:timers/promises';

/** How long one piece of work may hold the event loop before others have their turn, in milliseconds. */
export const sliceMilliseconds = 10;

/**
 * Does work in slices, so that others have their turn in between. The work yields wherever it can be interrupted. Gives what
 * it returns.
 */
export async function inSlices<T>(
  work: Generator<void, T>,
  clock: () => number = () => performance.now(),
): Promise<T> {
  let until = clock() + sliceMilliseconds;
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    if (clock() < until) continue;
    await turn();
    until = clock() + sliceMilliseconds;
  }
}

/** Does the same work in one go. */
export function atOnce<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}
