import { LRUCache } from 'lru-cache';

/** Token buckets, one for each key. */
export interface Buckets {
  /** Takes one token of a key at a time in milliseconds; gives 0, or the milliseconds until there is one. */
  take(key: string, now: number): number;
  /** As `take`, and takes nothing. */
  wait(key: string, now: number): number;
  /** How many keys are remembered. */
  size(): number;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** Sums of fractions end a hair beside the whole: who waited as long as was said must not wait again. */
const nearlyOne = 1 - 1e-9;

/**
 * Buckets that fill with `perMinute` tokens a minute and hold that many. At most `keys` keys are remembered: the ones not
 * seen for longest are forgotten, which gives them a full bucket again and can only be in their favour.
 */
export function createBuckets(perMinute: number, keys = 100_000): Buckets {
  const rate = perMinute / 60_000;
  const buckets = new LRUCache<string, Bucket>({ max: keys });

  function find(key: string, now: number): Bucket {
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      bucket = { tokens: perMinute, at: now };
      buckets.set(key, bucket);
    }
    if (now > bucket.at) bucket.tokens = Math.min(perMinute, bucket.tokens + (now - bucket.at) * rate);
    bucket.at = now;
    return bucket;
  }

  const missing = (bucket: Bucket) =>
    bucket.tokens >= nearlyOne ? 0 : Math.ceil((1 - bucket.tokens) / rate);

  return {
    take(key, now) {
      const bucket = find(key, now);
      const wait = missing(bucket);
      if (wait === 0) bucket.tokens -= 1;
      return wait;
    },
    wait: (key, now) => missing(find(key, now)),
    size: () => buckets.size,
  };
}
