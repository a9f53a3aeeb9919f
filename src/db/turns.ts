import { setTimeout as pause } from 'node:timers/promises';
import { storageFault } from './faults.ts';

/** How long what finds a lock held is tried again, in milliseconds (rule D34.2). */
export const lockPatience = 5000;

/** The pause between two attempts, in milliseconds: of a random length, so that processes do not keep meeting. */
const shortestPause = 5;
const longestPause = 20;

/** As many as there are connections: more wait only where callers hang up and come again, each leaving a body in memory. */
const mostWaiting = 1000;

/** One attempt of something that may find a lock held. */
export interface Attempt {
  /** Whether there will be no other. */
  isLast: boolean;
  /** To be set when every lock is taken and the work begins: it is never tried again then. */
  begun: boolean;
}

/**
 * Makes attempts that may find a lock held by another process, in the order in which they were asked for. What finds it held
 * (SQLITE_BUSY) is tried again, the event loop going on meanwhile, for `patience` milliseconds, and then a last time. What an
 * attempt throws otherwise is thrown on at once. Rejects with SQLITE_BUSY where too many are waiting.
 */
export function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return {
    take<T>(attempt: (turn: Attempt) => T, patience = lockPatience): Promise<T> {
      if (waiting >= mostWaiting)
        return Promise.reject(
          Object.assign(new Error('too many requests are waiting'), { code: 'SQLITE_BUSY' }),
        );
      const deadline = performance.now() + patience;
      waiting++;
      const turn = last
        .then(() => untilFree(attempt, deadline))
        .finally(() => {
          waiting--;
        });
      last = turn.catch(() => undefined);
      return turn;
    },
    /** Waits until everything that was asked for is over, and who asked had a turn of the event loop to hear of it. */
    async idle(): Promise<void> {
      await last;
      await pause(0);
    },
  };
}

async function untilFree<T>(attempt: (turn: Attempt) => T, deadline: number): Promise<T> {
  for (;;) {
    const turn = { isLast: performance.now() >= deadline, begun: false };
    try {
      return attempt(turn);
    } catch (error) {
      if (turn.isLast || turn.begun || storageFault(error) !== 'busy') throw error;
    }
    await pause(shortestPause + Math.random() * (longestPause - shortestPause));
  }
}
