import { setTimeout as pause } from 'node:timers/promises';
import { storageFault } from './faults.ts';

/** How long a locked operation is retried, in milliseconds (rule D34.2). */
export const lockPatience = 5000;

/** As many as connections: more wait only where clients disconnect and reconnect, each leaving a body in memory. */
const mostWaiting = 1000;

/** One attempt of work that may find a lock held. */
interface Attempt {
  isLast: boolean;
  /** Set this when all locks are held and the work begins: it is not retried after that. */
  begun: boolean;
}

/**
 * A queue of attempts that may find a lock of another process. SQLITE_BUSY is retried for `patience` milliseconds while
 * the event loop runs, and then a last time; other errors are thrown at once. Rejects with SQLITE_BUSY where too many
 * are waiting.
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
    // Random, so that two processes do not collide again and again.
    await pause(5 + Math.random() * 15);
  }
}
