import { LRUCache } from 'lru-cache';

/** Sums of fractions end a hair beside the whole: who waited as long as was said must not wait again. */
const nearlyOne = 1 - 1e-9;

/**
 * Buckets that fill with `perMinute` tokens a minute and hold that many. At most `keys` keys are remembered: the ones not
 * seen for longest are forgotten, which gives them a full bucket again and can only be in their favour.
 */
export function createBuckets(perMinute: number, keys = 100_000) {
  const rate = perMinute / 60_000;
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max: keys });

  /** Takes so many tokens of a key (1 or 0) at a time in milliseconds; gives 0, or the milliseconds until there is one. */
  function take(key: string, now: number, count: 0 | 1): number {
    const bucket = buckets.get(key) ?? { tokens: perMinute, at: now };
    if (now > bucket.at) bucket.tokens = Math.min(perMinute, bucket.tokens + (now - bucket.at) * rate);
    bucket.at = now;
    buckets.set(key, bucket);
    if (bucket.tokens < nearlyOne) return Math.ceil((1 - bucket.tokens) / rate);
    bucket.tokens -= count;
    return 0;
  }

  return {
    take: (key: string, now: number) => take(key, now, 1),
    /** As `take`, and takes nothing. */
    wait: (key: string, now: number) => take(key, now, 0),
    size: () => buckets.size,
  };
}
