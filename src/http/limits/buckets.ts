import { LRUCache } from 'lru-cache';

/** Sums of fractions end just below 1: a caller that waited as long as it was asked to must not wait again. */
const nearlyOne = 1 - 1e-9;

/**
 * Token buckets of `perMinute` tokens that refill within a minute. At most `keys` keys are stored; the least recently
 * used are forgotten, which can only give a caller more tokens.
 */
export function createBuckets(perMinute: number, keys = 100_000) {
  const rate = perMinute / 60_000;
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max: keys });

  /** Takes `count` tokens at time `now` (ms); gives 0, or the milliseconds until one is available. */
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
    wait: (key: string, now: number) => take(key, now, 0),
    size: () => buckets.size,
  };
}
