import { type AppError, callerGone, unavailable } from '../../base/errors.ts';
import type { Rejection } from './limiter.ts';

const mebibyte = 1024 * 1024;

/** Limits on simultaneous work. Times are in milliseconds. */
export interface ConcurrencyLimits {
  /** Bytes of unsent answers, in total and for one caller; beyond them expensive requests wait. */
  total: number;
  perCaller: number;
  /** Expensive requests running at once. */
  computing: number;
  waiting: number;
  patience: number;
}

/** Far more than a fair client holds: reading an answer frees its bytes at once. */
export const concurrencyLimits: ConcurrencyLimits = {
  total: 128 * mebibyte,
  perCaller: 32 * mebibyte,
  computing: 4,
  waiting: 10_000,
  patience: 120_000,
};

/** Smaller answers are not counted. */
export const smallAnswer = 64 * 1024;

/**
 * The most bytes of a small upload, which never waits for large ones: they have queues and threads of their own (rule
 * S2.9).
 */
export const smallUpload = 4 * mebibyte;

/** The size of an upload that picks its queue. A gzip, raw or in a form, counts as large: it may unpack to 64 MiB. */
export function uploadSize(bytes: Uint8Array): number {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isPacked = (body[0] === 0x1f && body[1] === 0x8b) || body.includes('\r\n\r\n\x1f\x8b', 0, 'latin1');
  return isPacked ? Math.max(body.length, smallUpload + 1) : body.length;
}

/** A thread works on one upload at a time; uploads that wait for it block no other work. */
const uploadLimits = {
  small: { ...concurrencyLimits, total: 64 * mebibyte, perCaller: 8 * mebibyte, computing: 1 },
  large: { ...concurrencyLimits, total: 64 * mebibyte, computing: 1 },
};

type Waiting = { onClose: (() => void) | null };

interface Waiter {
  expensive: boolean;
  admit(): void;
}

export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>;

/**
 * Keeps unread answers from filling the memory: beyond the limits requests queue, served round-robin by caller, and get
 * 503 after `patience`. So no caller blocks another for longer than that.
 */
export function createConcurrencyLimit(
  limits: ConcurrencyLimits = concurrencyLimits,
  rejected: (why: Rejection) => void = () => undefined,
) {
  const held = createHeldBytes();
  const queues = createQueues();
  let computing = 0;
  /** Whether an expensive request began in this turn of the event loop. */
  let turnTaken = false;

  /** Cheap requests have twice the room, so that they never wait for the downloads of their own caller. */
  function fits(caller: string, expensive: boolean): boolean {
    if (expensive && (turnTaken || computing >= limits.computing)) return false;
    const room = expensive ? 1 : 2;
    const own = limits.perCaller * room;
    return held.total() < limits.total * room && (held.total() < own || held.of(caller) < own);
  }

  /** One in each turn of the event loop: otherwise all that arrived at once would run before any other event. */
  function beginComputing(): void {
    computing++;
    turnTaken = true;
    setImmediate(() => {
      turnTaken = false;
      pump();
    });
  }

  function pump(): void {
    for (let next = queues.next(fits); next !== null; next = queues.next(fits)) {
      if (next.expensive) beginComputing();
      next.admit();
    }
  }

  function busy(): AppError {
    rejected('busy');
    return unavailable('The service is busy. Try again', 5);
  }

  return {
    /** Whether a cheap request of a caller would be admitted at once. */
    hasRoom: (caller: string) => fits(caller, false),
    /** Counts unsent bytes of a cached answer until `release`. */
    hold: held.add,
    /** Admits a request: null at once, or a promise that rejects with 503. Call `leave` after each admitted request. */
    enter(caller: string, expensive: boolean, presence: Waiting = { onClose: null }): Promise<void> | null {
      // A caller's expensive requests keep their order; its cheap ones may pass them.
      if (fits(caller, expensive) && !(expensive && queues.has(caller))) {
        if (expensive) beginComputing();
        return null;
      }
      if (queues.size() >= limits.waiting) return Promise.reject(busy());
      return queues.wait(caller, expensive, presence, limits.patience, busy);
    },
    /** The request is done; its answer has `bytes` to send, counted until `release`. */
    leave(caller: string, expensive: boolean, bytes: number): void {
      if (expensive) computing--;
      held.add(caller, bytes);
      pump();
    },
    /** The client received the bytes or disconnected. */
    release(caller: string, bytes: number): void {
      held.remove(caller, bytes);
      pump();
    },
    state: () => ({ total: held.total(), computing, waiting: queues.size() }),
  };
}

function createHeldBytes() {
  const held = new Map<string, number>();
  let total = 0;
  return {
    total: () => total,
    of: (caller: string) => held.get(caller) ?? 0,
    add(caller: string, bytes: number): void {
      if (bytes === 0) return;
      total += bytes;
      held.set(caller, (held.get(caller) ?? 0) + bytes);
    },
    remove(caller: string, bytes: number): void {
      total -= bytes;
      const rest = held.get(caller)! - bytes;
      if (rest > 0) held.set(caller, rest);
      else held.delete(caller);
    },
  };
}

/** A queue for each caller, in round-robin order: a caller with an admitted request goes to the end. */
function createQueues() {
  const queues = new Map<string, Waiter[]>();
  let size = 0;

  function remove(caller: string, waiter: Waiter): void {
    const queue = queues.get(caller)!;
    queue.splice(queue.indexOf(waiter), 1);
    queues.delete(caller);
    if (queue.length > 0) queues.set(caller, queue);
    size--;
  }

  return {
    size: () => size,
    has: (caller: string) => queues.has(caller),
    /** Queues a request; it rejects with `busy` after `patience` ms, and as soon as its client disconnects. */
    wait(
      caller: string,
      expensive: boolean,
      presence: Waiting,
      patience: number,
      busy: () => AppError,
    ): Promise<void> {
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
        const timer = setTimeout(giveUp, patience, busy);
        presence.onClose = () => giveUp(callerGone);
        const queue = queues.get(caller);
        if (queue) queue.push(waiter);
        else queues.set(caller, [waiter]);
        size++;
      });
    },
    /** Removes and gives the first request that fits; null for none. */
    next(fits: (caller: string, expensive: boolean) => boolean): Waiter | null {
      for (const [caller, [first]] of queues) {
        if (!fits(caller, first!.expensive)) continue;
        remove(caller, first!);
        return first!;
      }
      return null;
    },
  };
}

/** Creates the limits of uploads; gives the limit for an upload of so many bytes. */
export function createUploadConcurrency(
  rejected?: (why: Rejection) => void,
): (bytes: number) => ConcurrencyLimit {
  const small = createConcurrencyLimit(uploadLimits.small, rejected);
  const large = createConcurrencyLimit(uploadLimits.large, rejected);
  return (bytes) => (bytes <= smallUpload ? small : large);
}
