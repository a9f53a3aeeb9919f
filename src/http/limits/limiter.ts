import { AppError } from '../../base/errors.ts';
import { createBuckets } from './buckets.ts';

/** Why a request was rejected before any work. */
export type Rejection =
  | 'rate'
  | 'expensive_rate'
  | 'invalid_tokens'
  | 'busy'
  | 'bodies'
  | 'connections'
  | 'handshakes';

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
  rejected: (why: Rejection) => void = () => undefined,
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
      const dear = expensive ? counted(expensives.wait(key, now), 'expensive_rate') : 0;
      if (dear > 0) return dear;
      const wait = counted(requests.take(key, now), 'rate');
      if (expensive && wait === 0) expensives.take(key, now);
      return wait;
    },
    /** The milliseconds for which tokens of an address are rejected unchecked, after too many invalid ones; or 0. */
    tokenWait: (key) => counted(failures.wait(key, clock()), 'invalid_tokens'),
    tokenFailed(key) {
      failures.take(key, clock());
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
