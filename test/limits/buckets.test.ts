import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { createBuckets, createLimiter, type Rejection, tooMany } from '../../src/http/limits.ts';
import { suite } from '../support/harness.ts';

const buckets = suite('Token buckets');

/** Buckets whose `take` gives the time to wait where there is no token. */
function bucketsOf(...given: Parameters<typeof createBuckets>) {
  const { wait, take } = createBuckets(...given);
  return {
    wait,
    take(key: string, now: number) {
      const told = wait(key, now);
      if (told === 0) take(key, now);
      return told;
    },
  };
}

buckets('a key has a minute of requests at once, and as many a minute from then on', () => {
  const bucket = bucketsOf(60);
  for (let i = 0; i < 60; i++) assert.is(bucket.take('a', 0), 0);
  assert.is(bucket.take('a', 0), 1000);
  assert.is(bucket.take('a', 400), 600);
  assert.is(bucket.take('a', 1000), 0);
  assert.is(bucket.take('a', 1000), 1000);
  assert.is(bucket.take('b', 1000), 0, 'another key is another bucket');
  for (let i = 0; i < 60; i++) assert.is(bucket.take('a', 10_000_000), 0);
  assert.ok(bucket.take('a', 10_000_000) > 0, 'it never contains more than a minute of them');
});

buckets(
  'whatever the times, no more pass than one bucket and the rate allow, and the wait told is right',
  () => {
    const steps = fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c'), ms: fc.nat(3000) }), {
      maxLength: 300,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), steps, (perMinute, each) => {
        const bucket = bucketsOf(perMinute);
        const passed: Record<string, number> = {};
        const first: Record<string, number> = {};
        let now = 0;
        for (const { key, ms } of each) {
          now += ms;
          first[key] ??= now;
          const told = bucket.wait(key, now);
          const wait = bucket.take(key, now);
          assert.is(wait, told, 'asking takes nothing');
          if (wait === 0) passed[key] = (passed[key] ?? 0) + 1;
          const most = perMinute + ((now - first[key]!) * perMinute) / 60_000;
          assert.ok((passed[key] ?? 0) <= most + 1e-6, `${passed[key]} of ${most}`);
          if (wait === 0) continue;
          // One who waits as long as it was told gets through, and not a good while before.
          assert.is(bucket.wait(key, now + wait), 0);
          now += wait;
        }
      }),
      { numRuns: 200 },
    );
  },
);

buckets('a key in use is not forgotten for a hundred thousand others', () => {
  const bucket = bucketsOf(2, 1000);
  bucket.take('busy', 0);
  bucket.take('busy', 0);
  for (let i = 0; i < 100_000; i++) {
    bucket.take(`key ${i}`, 0);
    if (i % 999 === 0) assert.ok(bucket.take('busy', 0) > 0);
  }
});

buckets(
  'the limiter: expensive requests and invalid tokens have a tenth, and each refusal is counted',
  () => {
    const counts: Partial<Record<Rejection, number>> = {};
    let now = 0;
    const limiter = createLimiter(
      100,
      () => now,
      (why) => {
        counts[why] = (counts[why] ?? 0) + 1;
      },
    );
    for (let i = 0; i < 10; i++) assert.is(limiter.take('a', true), 0);
    assert.is(limiter.take('a', true), 6000);
    for (let i = 0; i < 90; i++) assert.is(limiter.take('a', false), 0);
    assert.is(limiter.take('a', false), 600);
    assert.is(limiter.tokenWait('a'), 0);
    for (let i = 0; i < 10; i++) limiter.tokenFailed('a');
    assert.is(limiter.tokenWait('a'), 6000);
    assert.is(limiter.tokenWait('b'), 0);
    now = 6000;
    assert.is(limiter.tokenWait('a'), 0);
    assert.equal(counts, { expensive_rate: 1, rate: 1, invalid_tokens: 1 });
    const slow = createLimiter(1, () => now);
    assert.is(slow.take('a', true), 0, 'a tenth is one at least');
    assert.equal(tooMany(1).headers, { 'Retry-After': '1' });
    assert.equal(tooMany(60_001).headers, { 'Retry-After': '61' });
  },
);

buckets('a request that is refused takes neither of the two tokens', () => {
  let now = 0;
  for (const first of ['rate', 'expensive_rate'] as const) {
    const why: Rejection[] = [];
    const limiter = createLimiter(
      20,
      () => now,
      (each) => why.push(each),
    );
    // All 20 are used up, one or none of the two expensive ones; or both of those.
    const taken = first === 'rate' ? [true, ...Array(19).fill(false)] : [true, true];
    for (const expensive of taken) assert.is(limiter.take(first, expensive), 0);
    for (let refused = 0; refused < 50; refused++) assert.ok(limiter.take(first, true) > 0);
    assert.equal(new Set(why), new Set([first]));
    now += 3000;
    assert.is(limiter.take(first, first === 'rate'), 0, `${first}: the next that is due`);
  }
});

buckets.run();
