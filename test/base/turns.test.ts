import { setTimeout as pause } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { createTurns } from '../../src/base/turns.ts';
import { rejects, suite } from '../support/harness.ts';

const test = suite('Turns: what finds a lock held');

const busy = () => Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });

test('what finds no lock is done at once, in the order in which it was asked for', async () => {
  const turns = createTurns();
  const done: number[] = [];
  const all = Array.from({ length: 20 }, (_, index) => turns.take(() => done.push(index)));
  await all[0];
  assert.equal(done[0], 0);
  assert.equal(
    await Promise.all(all),
    [...Array(20).keys()].map((index) => index + 1),
  );
  assert.equal(done, [...Array(20).keys()]);
});

test('a lock is tried again by the first alone until it is free; the others keep their order, the loop goes on', async () => {
  const turns = createTurns();
  let held = true;
  const attempts = [0, 0, 0];
  const done: number[] = [];
  const all = attempts.map((_, index) =>
    turns.take(() => {
      attempts[index]!++;
      if (held) throw busy();
      done.push(index);
    }),
  );
  for (let turn = 0; turn < 20 || attempts[0]! < 3; turn++) await pause(1);
  assert.equal([attempts.slice(1), done], [[0, 0], []]);
  held = false;
  await Promise.all(all);
  assert.equal(
    [done, attempts.slice(1)],
    [
      [0, 1, 2],
      [1, 1],
    ],
  );
});

test('after the patience comes one last attempt, told so; each has its own patience', async () => {
  const turns = createTurns();
  const seen: [name: string, isLast: boolean][] = [];
  const held = (name: string) =>
    turns.take(({ isLast }) => {
      seen.push([name, isLast]);
      throw busy();
    }, 100);
  const first = held('first');
  const second = held('second');
  await rejects(first, /locked/);
  await rejects(second, /locked/);
  assert.ok(seen.length > 3);
  assert.equal(
    seen.filter(([, isLast]) => isLast),
    [
      ['first', true],
      ['second', true],
    ],
  );
  assert.equal(seen.at(-1), ['second', true]);
});

test('without patience the first attempt is the last', async () => {
  const turns = createTurns();
  let attempts = 0;
  const attempt = turns.take(({ isLast }) => {
    attempts++;
    assert.ok(isLast);
    throw busy();
  }, 0);
  await rejects(attempt, /locked/);
  assert.is(attempts, 1);
});

test('another failure is final, and so is a lock that is found held when the work has begun', async () => {
  const turns = createTurns();
  let attempts = 0;
  const failing = turns.take(() => {
    attempts++;
    throw Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' });
  });
  const begun = turns.take((turn) => {
    attempts++;
    turn.begun = true;
    throw busy();
  });
  const next = turns.take(() => 'done');
  await rejects(failing, /disk full/);
  await rejects(begun, /locked/);
  assert.is(await next, 'done', 'those behind it do not care');
  assert.is(attempts, 2);
});

test('a thousand may wait, the next is told that it is busy; then there is room again', async () => {
  const turns = createTurns();
  let held = true;
  let done = 0;
  const take = () =>
    turns.take(() => {
      if (held) throw busy();
      done++;
    });
  const all = Array.from({ length: 1000 }, take);
  const error = await take().catch((reason) => reason);
  assert.is(error.code, 'SQLITE_BUSY');
  held = false;
  await turns.idle();
  assert.is(done, 1000);
  await Promise.all([...all, take()]);
  assert.is(done, 1001);
});

test.run();
