import { LRUCache } from 'lru-cache';
import { AppError, callerGone, unavailable } from '../base/errors.ts';

/** Why a request was rejected before any work. */
export const rejections = [
  'rate',
  'expensive_rate',
  'invalid_tokens',
  'busy',
  'bodies',
  'connections',
  'handshakes',
] as const;
export type Rejection = (typeof rejections)[number];

/** Counts a rejection. */
export type Rejected = (why: Rejection) => void;

const mebibyte = 1024 * 1024;

export const unlimited = {
  take: (_key: string, _expensive: boolean) => 0,
  tokenWait: (_key: string) => 0,
  tokenFailed(_key: string) {},
};
export type Limiter = typeof unlimited;

/**
 * Limits callers to `perMinute` requests a minute, a tenth of them on expensive routes, and addresses to a tenth of
 * them in invalid tokens; null limits nothing. Keys: `callerKey` and `addressKey`. `clock` gives monotonic
 * milliseconds.
 */
export function createLimiter(
  perMinute: number | null,
  clock: () => number,
  rejected: Rejected = () => undefined,
): Limiter {
  if (perMinute === null) return unlimited;
  const tenth = Math.max(1, Math.floor(perMinute / 10));
  const requests = createBuckets(perMinute);
  const expensives = createBuckets(tenth);
  const failures = createBuckets(tenth);
  const counted = (wait: number, why: Rejection) => {
    if (wait > 0) rejected(why);
    return wait;
  };
  return {
    take(key, expensive) {
      const now = clock();
      const wait =
        (expensive && counted(expensives.wait(key, now), 'expensive_rate')) ||
        counted(requests.wait(key, now), 'rate');
      if (wait > 0) return wait;
      requests.take(key, now);
      if (expensive) expensives.take(key, now);
      return 0;
    },
    /** The milliseconds for which tokens of an address are rejected unchecked, after too many invalid ones; or 0. */
    tokenWait: (key) => counted(failures.wait(key, clock()), 'invalid_tokens'),
    tokenFailed: (key) => failures.take(key, clock()),
  };
}

/**
 * Token buckets of `perMinute` tokens that refill within a minute, as the time at which each is full again (GCRA). At
 * most `keys` keys are stored; the least recently used are forgotten, which can only give a caller more tokens.
 */
export function createBuckets(perMinute: number, keys = 100_000) {
  const interval = 60_000 / perMinute;
  const fullAt = new LRUCache<string, number>({ max: keys });
  return {
    /** The milliseconds from `now` until a token is available; 0 when one is. */
    wait(key: string, now: number): number {
      const left = (fullAt.get(key) ?? now) + interval - 60_000 - now;
      // Sums of fractions are inexact: a caller that waited as long as it was told must not wait again.
      return Math.max(0, Math.ceil(left - 1e-6));
    },
    take(key: string, now: number): void {
      fullAt.set(key, Math.max(fullAt.get(key) ?? now, now) + interval);
    },
  };
}

/** The 429 of a caller that must wait `wait` milliseconds. */
export function tooMany(wait: number): AppError {
  const seconds = String(Math.ceil(wait / 1000));
  return new AppError('TOO_MANY_REQUESTS', 'Too many requests. Try again after the seconds in Retry-After', {
    'Retry-After': seconds,
  });
}

/** Bytes that may be in memory: in all and for one caller. */
interface ByteLimits {
  total: number;
  perCaller: number;
}

/** Request bodies of at most `maxBody` bytes each (rule S2.9). */
export const bodyLimits = (maxBody: number): ByteLimits => ({ total: 64 * maxBody, perCaller: 16 * maxBody });
export const uploadBodyLimits: ByteLimits = { total: 192 * mebibyte, perCaller: 96 * mebibyte };

/** Counts the bytes that callers hold in memory. */
export function createByteBudget({ total, perCaller }: ByteLimits) {
  const held = new Map<string, number>();
  let sum = 0;
  return {
    /** Whether a caller may hold so many bytes more. */
    hasRoom: (caller: string, bytes = 1): boolean =>
      sum + bytes <= total && (held.get(caller) ?? 0) + bytes <= perCaller,
    /** Adds bytes to those of a caller; a negative number frees them. */
    add(caller: string, bytes: number): void {
      sum += bytes;
      const own = (held.get(caller) ?? 0) + bytes;
      if (own > 0) held.set(caller, own);
      else held.delete(caller);
    },
  };
}

interface QueueLimits {
  /** Requests that run at once, and those of one caller that wait. */
  running: number;
  waitingPerCaller: number;
  /** Milliseconds that a request waits at most. */
  patience: number;
  /**
   * Answers that their clients have not read; reading an answer frees its bytes at once. Files that are made while they are
   * sent have a budget of this size for themselves.
   */
  unsent: ByteLimits;
}

export const expensiveLimits: QueueLimits = {
  running: 4,
  waitingPerCaller: 200,
  patience: 120_000,
  unsent: { total: 256 * mebibyte, perCaller: 64 * mebibyte },
};

/** Smaller answers are not counted. */
export const smallAnswer = 64 * 1024;

/** Whether the client is still connected, and a callback for when it disconnects. */
export interface Presence {
  closed: boolean;
  onClose: (() => void) | null;
}

export type Queue = ReturnType<typeof createQueue>;

/**
 * A queue of expensive requests with a cap for each caller. Those of a caller with too many unsent bytes wait. A request for
 * a file that is made while it is sent (`isMade`) also waits for other such files; other requests do not wait for them.
 */
export function createQueue(limits: QueueLimits = expensiveLimits, rejected: Rejected = () => undefined) {
  const unsent = createByteBudget(limits.unsent);
  const made = createByteBudget(limits.unsent);
  const budgetOf = (isMade: boolean) => (isMade ? made : unsent);
  const waiting: { caller: string; isMade: boolean; admit(): void }[] = [];
  let running = 0;

  /** The 503 of a request that cannot be answered at this load. */
  function busy(): AppError {
    rejected('busy');
    return unavailable('The service is busy. Try again', 5);
  }

  function admitNext(): void {
    while (running < limits.running) {
      const index = waiting.findIndex(
        ({ caller, isMade }) => unsent.hasRoom(caller) && (!isMade || made.hasRoom(caller)),
      );
      if (index < 0) return;
      const [next] = waiting.splice(index, 1);
      running++;
      next!.admit();
    }
  }

  return {
    busy,
    /** Whether the caller has read most of its answers. */
    hasRoom: (caller: string) => unsent.hasRoom(caller),
    /**
     * Resolves when it is the caller's turn; then call `leave`. Throws 503 when too many wait, or for too long, and at
     * once when the client disconnects.
     */
    async enter(caller: string, client: Presence, isMade = false): Promise<void> {
      if (waiting.filter((each) => each.caller === caller).length >= limits.waitingPerCaller) throw busy();
      await new Promise<void>((resolve, reject) => {
        const waiter = {
          caller,
          isMade,
          admit() {
            settle();
            resolve();
          },
        };
        const giveUp = (why: () => AppError) => {
          settle();
          waiting.splice(waiting.indexOf(waiter), 1);
          reject(why());
        };
        const timer = setTimeout(giveUp, limits.patience, busy);
        function settle(): void {
          clearTimeout(timer);
          client.onClose = null;
        }
        client.onClose = () => giveUp(callerGone);
        waiting.push(waiter);
        admitNext();
      });
    },
    leave(): void {
      running--;
      admitNext();
    },
    /** Counts the bytes of an answer until `release`. */
    hold: (caller: string, bytes: number, isMade = false): void => budgetOf(isMade).add(caller, bytes),
    release(caller: string, bytes: number, isMade = false): void {
      budgetOf(isMade).add(caller, -bytes);
      admitNext();
    },
  };
}

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

/** Creates the queues of uploads, one for each thread; gives the queue for an upload of so many bytes. */
export function createUploadQueues(rejected?: Rejected) {
  const limits = { ...expensiveLimits, running: 1 };
  const small = createQueue(limits, rejected);
  const large = createQueue(limits, rejected);
  return (bytes: number): Queue => (bytes <= smallUpload ? small : large);
}
