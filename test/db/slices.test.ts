import * as assert from 'uvu/assert';
import { atOnce, longestSlice, runInSlices } from '../../src/base/slices.ts';
import { suite } from '../support/harness.ts';

const test = suite('Slices');

function* steps(count: number, done: () => void): Generator<void, string> {
  for (let step = 0; step < count; step++) {
    done();
    yield;
  }
  return 'all';
}

test('work pauses after each slice, and comes to its end', async () => {
  let time = 0;
  const turns = [0];
  let ended = false;
  const nextTurn = () => {
    turns.push(0);
    if (!ended) setImmediate(nextTurn);
  };
  setImmediate(nextTurn);
  // A step takes a millisecond.
  const work = steps(100, () => {
    time++;
    turns[turns.length - 1]!++;
  });
  assert.is(await runInSlices(work, () => time), 'all');
  ended = true;
  assert.is(Math.max(...turns), longestSlice);
  assert.is(
    turns.reduce((sum, each) => sum + each),
    100,
  );
  assert.is(atOnce(steps(3, () => undefined)), 'all');
});

test.run();
