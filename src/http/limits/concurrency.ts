import { type AppError, callerGone, unavailable } from '../../base/errors.ts';
import type { Rejection } from './limiter.ts';

const mebibyte = 1024 * 1024;

/** What is allowed at once. Waiting is in milliseconds. */
export interface ConcurrencyLimits {
  /** Bytes of answers that their callers have not taken yet, of all callers and of one: past them the expensive wait. */
  total: number;
  perCaller: number;
  /** Expensive requests that are being computed. */
  computing: number;
  waiting: number;
  patience: number;
}

/** Far above what a fair client holds: who reads an answer frees it at once. */
export const concurrencyLimits: ConcurrencyLimits = {
  total: 128 * mebibyte,
  perCaller: 32 * mebibyte,
  computing: 4,
  waiting: 10_000,
  patience: 120_000,
};

/** Answers of fewer bytes are not worth holding back for. */
export const smallAnswer = 64 * 1024;

/**
 * The most bytes of a small upload. Small and large uploads have turns and a thread of their own (rule S2.9): so the
 * checklist of one system never waits for the large uploads of others.
 */
export const smallUpload = 4 * mebibyte;

/** Each thread works on one upload at a time; who waits for it holds up no other work. */
const uploadLimits = {
  small: { ...concurrencyLimits, total: 64 * mebibyte, perCaller: 8 * mebibyte, computing: 1 },
  large: { ...concurrencyLimits, total: 64 * mebibyte, computing: 1 },
};

interface Waiter {
  expensive: boolean;
  admit(): void;
}

export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>;

/**
 * Keeps answers that nobody reads from filling the memory: past the limits a request waits for its turn, callers by
 * turns, and gets 503 when that takes too long. So no caller can starve another for longer than the patience.
 */
export function createConcurrencyLimit(
  limits: ConcurrencyLimits = concurrencyLimits,
  rejected: (why: Rejection) => void = () => undefined,
) {
  /** Bytes held for each caller, and those who wait, callers in the order of their turns. */
  const held = new Map<string, number>();
  const queues = new Map<string, Waiter[]>();
  let total = 0;
  let computing = 0;
  let waiting = 0;
  /** Whether an expensive request was let in since the event loop last looked at its connections. */
  let turnTaken = false;

  /** Cheap requests have twice the room, so that they never wait for the downloads of their own caller. */
  function fits(caller: string, expensive: boolean): boolean {
    if (expensive && (turnTaken || computing >= limits.computing)) return false;
    const room = expensive ? 1 : 2;
    const own = limits.perCaller * room;
    return total < limits.total * room && (total < own || (held.get(caller) ?? 0) < own);
  }

  /** One in each turn of the event loop: all that arrived at once would otherwise run before anything else is heard. */
  function beginComputing(): void {
    computing++;
    turnTaken = true;
    setImmediate(() => {
      turnTaken = false;
      pump();
    });
  }

  function remove(caller: string, waiter: Waiter): void {
    const queue = queues.get(caller)!;
    queue.splice(queue.indexOf(waiter), 1);
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
        if (first.expensive) beginComputing();
        first.admit();
        admitted = true;
        break;
      }
    }
  }

  function busy(): AppError {
    rejected('busy');
    return unavailable('The service is busy. Try again', 5);
  }

  function hold(caller: string, bytes: number): void {
    if (bytes === 0) return;
    total += bytes;
    held.set(caller, (held.get(caller) ?? 0) + bytes);
  }

  return {
    /** Whether a cheap request of a caller would be let in at once. */
    hasRoom: (caller: string) => fits(caller, false),
    /** Counts bytes that a caller has to take until `release`, of an answer that nothing had to be computed for. */
    hold,
    /**
     * Lets a request in: null at once, or a promise for its turn, which rejects with 503. Each that is let in is followed by
     * `leave`. Who hangs up while waiting (`presence` tells) gives up its place at once, and with it what it holds.
     */
    enter(
      caller: string,
      expensive: boolean,
      presence: { onClose: (() => void) | null } = { onClose: null },
    ): Promise<void> | null {
      // Who waits already is not overtaken by itself, but by what is cheap.
      if (fits(caller, expensive) && !(expensive && queues.has(caller))) {
        if (expensive) beginComputing();
        return null;
      }
      if (waiting >= limits.waiting) return Promise.reject(busy());
      return new Promise((resolve, reject) => {
        const end = (outcome: () => void) => {
          clearTimeout(timer);
          presence.onClose = null;
          outcome();
        };
        const waiter: Waiter = { expensive, admit: () => end(resolve) };
        const giveUp = (why: () => AppError) =>
          end(() => {
            remove(caller, waiter);
            reject(why());
          });
        const timer = setTimeout(giveUp, limits.patience, busy);
        presence.onClose = () => giveUp(callerGone);
        const queue = queues.get(caller);
        if (queue) queue.push(waiter);
        else queues.set(caller, [waiter]);
        waiting++;
      });
    },
    /** Says that the answer is made, and how many bytes its caller has to take until `release`. */
    leave(caller: string, expensive: boolean, bytes: number): void {
      if (expensive) computing--;
      hold(caller, bytes);
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

/** Makes the limits of uploads, and gives for an upload of so many bytes the one that it waits for. */
export function createUploadConcurrency(
  rejected?: (why: Rejection) => void,
): (bytes: number) => ConcurrencyLimit {
  const small = createConcurrencyLimit(uploadLimits.small, rejected);
  const large = createConcurrencyLimit(uploadLimits.large, rejected);
  return (bytes) => (bytes <= smallUpload ? small : large);
}
