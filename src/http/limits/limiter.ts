import { AppError } from '../../base/errors.ts';
import { createBuckets } from './buckets.ts';

/** Why a request was turned away before any work was done for it. */
export type Rejection = 'rate' | 'expensive_rate' | 'invalid_tokens' | 'busy' | 'bodies' | 'connections';

/** A limiter that lets everything pass. */
export const unlimited = {
  take: (_key: string, _expensive: boolean) => 0,
  tokenWait: (_key: string) => 0,
  tokenFailed(_key: string) {},
};
export type Limiter = typeof unlimited;

/**
 * Limits callers to so many requests a minute, a tenth of it on expensive routes, and addresses to a tenth of it in invalid
 * tokens; null limits nothing. Keys are those of `callerKey` and `addressKey`. `clock` gives milliseconds that never go back.
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
    /** Counts a request; gives 0, or the milliseconds after which it may come again. */
    take(key, expensive) {
      const now = clock();
      const wait = expensive ? counted(expensives.take(key, now), 'expensive_rate') : 0;
      return wait > 0 ? wait : counted(requests.take(key, now), 'rate');
    },
    /** The milliseconds during which tokens of an address are not looked at, as it sent too many invalid ones; or 0. */
    tokenWait: (key) => counted(failures.wait(key, clock()), 'invalid_tokens'),
    /** Counts an invalid token of an address. */
    tokenFailed(key) {
      failures.take(key, clock());
    },
  };
}

/** The 429 of a caller who has to wait so many milliseconds. */
export function tooMany(wait: number): AppError {
  const seconds = String(Math.ceil(wait / 1000));
  return new AppError('TOO_MANY_REQUESTS', 'Too many requests. Try again after the seconds in Retry-After', {
    'Retry-After': seconds,
  });
}
