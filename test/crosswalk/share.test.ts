import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { createTaker, shareBytes, type Taken } from '../../src/catalog/crosswalk/share.ts';
import { suite } from '../support/harness.ts';

const test = suite('the bytes of a crosswalk answer');

/** Paths are texts here; each takes its JSON and a comma. */
const cost = (text: string) => Buffer.byteLength(JSON.stringify(text)) + 1;
const sum = (numbers: number[]) => numbers.reduce((total, each) => total + each, 0);

function taken(paths: string[], bytes: number): Taken<string> {
  const { taken, take } = createTaker<string>(bytes);
  paths.every(take);
  return taken;
}

const never = () => false;
const questions = fc.array(fc.array(fc.string({ unit: 'binary', maxLength: 40 }), { maxLength: 12 }), {
  minLength: 1,
  maxLength: 12,
});

test('paths are taken as long as they fit, counted as UTF-8, and at most 10,000', () => {
  assert.equal(taken(['a', 'é', '"'], 14), {
    paths: ['a', 'é', '"'],
    texts: ['"a"', '"é"', '"\\""'],
    bytes: 14,
    truncated: false,
    isFull: false,
  });
  const { paths, truncated, isFull } = taken(Array(10_001).fill(''), 1e9);
  assert.equal([paths.length, truncated, isFull], [10_000, true, false]);
  assert.is(taken(Array(10_000).fill(''), 1e9).truncated, false);
});

test('bytes are shared so that nobody is cut who needs no more than another has, and none without need', async () => {
  await fc.assert(
    fc.asyncProperty(questions, fc.nat(2000), async (all, bytes) => {
      const answer = async (index: number, most: number) => taken(all[index]!, most);
      const answers = await shareBytes(all.length, bytes, answer, never);
      const needs = all.map((paths) => sum(paths.map(cost)));
      assert.ok(sum(answers.map((each) => each.bytes)) <= bytes);
      if (sum(needs) <= bytes) assert.ok(answers.every((each) => !each.truncated));
      const cut = all.flatMap((_, index) => (answers[index]!.truncated ? [index] : []));
      for (const index of cut) {
        const next = all[index]![answers[index]!.paths.length]!;
        // Whoever was cut had room for all that anybody else has.
        const room = answers[index]!.bytes + cost(next);
        for (const other of answers) assert.ok(other.bytes < room, `${other.bytes} ${room}`);
      }
      // What is left over is not enough for each of those who are cut to have as much more as one of them wants.
      const left = bytes - sum(answers.map((each) => each.bytes));
      const wanted = sum(cut.map((index) => cost(all[index]![answers[index]!.paths.length]!)));
      if (cut.length > 0) assert.ok(left < wanted, `${left} ${wanted}`);
      assert.equal(await shareBytes(all.length, bytes, answer, never), answers, 'the same each time');
    }),
    { numRuns: 500 },
  );
});

test.run();
