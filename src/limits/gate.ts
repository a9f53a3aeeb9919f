import { AppError } from '../errors.ts';
import type { Rejection } from './limiter.ts';

const mebibyte = 1024 * 1024;

/** What the gate allows at once. Waiting is in milliseconds. */
export interface GateLimits {
  /** Bytes of answers that their callers have not taken yet, of all callers and of one. */
  total: number;
  perCaller: number;
  /** Expensive requests that are being computed. */
  computing: number;
  waiting: number;
  patience: number;
}

/** Far above what a fair client holds: who reads an answer frees it at once. */
export const gateLimits: GateLimits = {
  total: 128 * mebibyte,
  perCaller: 32 * mebibyte,
  computing: 4,
  waiting: 1000,
  patience: 30_000,
};

interface Waiter {
  expensive: boolean;
  admit(): void;
}

export type Gate = ReturnType<typeof createGate>;

/**
 * Keeps answers that nobody reads from filling the memory: past the limits a request waits for its turn, callers by
 * turns, and gets 503 when that takes too long. So no caller can starve another for longer than the patience.
 */
export function createGate(
  limits: GateLimits = gateLimits,
  rejected: (why: Rejection) => void = () => undefined,
) {
  /** Bytes held for each caller, and those who wait, callers in the order of their turns. */
  const held = new Map<string, number>();
  const queues = new Map<string, Waiter[]>();
  let total = 0;
  let computing = 0;
  let waiting = 0;

  const fits = (caller: string, expensive: boolean) =>
    (!expensive || computing < limits.computing) &&
    total < limits.total &&
    (total < limits.perCaller || (held.get(caller) ?? 0) < limits.perCaller);

  function remove(caller: string, waiter: Waiter): void {
    const queue = queues.get(caller)!.filter((each) => each !== waiter);
    queues.delete(caller);
    if (queue.length > 0) queues.set(caller, queue);
    waiting--;
  }

  /** Lets in whoever fits now; who was let in goes to the end of the turns. */
  function pump(): void {
    let admitted = waiting > 0;
    while (admitted) {
      admitted = false;
      for (const [caller, [first]] of queues) {
        if (!first || !fits(caller, first.expensive)) continue;
        remove(caller, first);
        if (first.expensive) computing++;
        first.admit();
        admitted = true;
        break;
      }
    }
  }

  function busy(): AppError {
    rejected('busy');
    return new AppError('UNAVAILABLE', 'The service is busy', { 'Retry-After': '5' });
  }

  return {
    /** Lets a request in: null at once, or a promise for its turn, which rejects with 503. Each is followed by `leave`. */
    enter(caller: string, expensive: boolean): Promise<void> | null {
      if (fits(caller, expensive) && !queues.has(caller)) {
        if (expensive) computing++;
        return null;
      }
      if (waiting >= limits.waiting) return Promise.reject(busy());
      return new Promise((resolve, reject) => {
        const waiter: Waiter = {
          expensive,
          admit() {
            clearTimeout(timer);
            resolve();
          },
        };
        const timer = setTimeout(() => {
          remove(caller, waiter);
          reject(busy());
        }, limits.patience);
        queues.set(caller, [...(queues.get(caller) ?? []), waiter]);
        waiting++;
      });
    },
    /** Says that the answer is made, and how many bytes its caller has to take until `release`. */
    leave(caller: string, expensive: boolean, bytes: number): void {
      if (expensive) computing--;
      if (bytes > 0) {
        total += bytes;
        held.set(caller, (held.get(caller) ?? 0) + bytes);
      }
      pump();
    },
    /** Says that the caller took the bytes, or is gone. */
    release(caller: string, bytes: number): void {
      total -= bytes;
      const rest = held.get(caller)! - bytes;
      if (rest > 0) held.set(caller, rest);
      else held.delete(caller);
      pump();
    },
    state: () => ({ total, computing, waiting }),
  };
}
