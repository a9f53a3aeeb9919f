import * as assert from 'uvu/assert';
import { AppError } from '../../src/base/errors.ts';
import { createPool, type PoolOptions } from '../../src/work/pool.ts';
import { suite } from '../support/harness.ts';

const test = suite('Query workers');

const names = ['loop', 'crash', 'fail', 'next', 'a', 'b', 'c', 'waits', 'more', 'late', 'listChecklists'];
const setup = { files: { db: '', usersDb: '' }, banner: null };

/** A pool of workers that run the little jobs of `endless-worker.mjs`, and what it logged. */
function littlePool(options: PoolOptions = {}) {
  const logged: string[] = [];
  const entry = new URL('endless-worker.mjs', import.meta.url);
  const known = Object.fromEntries(names.map((name) => [name, (_: never, ..._args: unknown[]) => name]));
  const log = { error: (message: string) => void logged.push(message) };
  const pool = createPool(setup, log, { entry, known, ...options });
  return { ...pool, logged, ask: (name: string, ...args: unknown[]) => pool.ask(known[name]!, ...args) };
}

const refused = (work: Promise<unknown>): Promise<AppError> =>
  work.then(
    () => Promise.reject(new Error('it was answered')),
    (error: AppError) => error,
  );

test('a job that loops in JavaScript is ended at its limit with a 503, and its worker replaced', async () => {
  const pool = littlePool({ workers: 1, limit: 2000 });
  const error = await refused(pool.ask('loop'));
  assert.instance(error, AppError);
  assert.is(error.code, 'UNAVAILABLE');
  assert.is(error.headers['Retry-After'], '60');
  assert.is(await pool.ask('next'), 'next');
  assert.equal(pool.logged, ['a job took too long, and its worker was ended']);
  await pool.stop();
});

test('a looping job keeps no other worker from answering', async () => {
  const pool = littlePool({ workers: 2, limit: 4000 });
  const looping = refused(pool.ask('loop'));
  assert.equal(await Promise.all(['a', 'b', 'c'].map((name) => pool.ask(name))), ['a', 'b', 'c']);
  assert.is((await looping).code, 'UNAVAILABLE');
  await pool.stop();
});

test('a worker that crashes refuses its job alone', async () => {
  const pool = littlePool({ workers: 1 });
  const [crashed, next] = await Promise.all([refused(pool.ask('crash')), pool.ask('next')]);
  assert.is(crashed.code, 'UNAVAILABLE');
  assert.is(next, 'next');
  await pool.stop();
});

test('an error of the application crosses the thread with its code, message, headers and field', async () => {
  const pool = littlePool();
  const { code, message, headers, field } = await refused(pool.ask('fail'));
  assert.equal(
    { code, message, headers, field },
    { code: 'NOT_FOUND', message: 'Not found', headers: { 'X-Why': 'none' }, field: 'list' },
  );
  await pool.stop();
});

test('callers take turns, and one alone cannot fill the queue', async () => {
  let caller = 'greedy';
  const pool = littlePool({ workers: 1, waitingPerCaller: 3, callerOf: () => caller });
  const done: string[] = [];
  const ask = (name: string) => pool.ask(name).then((value) => void done.push(value));
  // The worker has started, and is free.
  await pool.ask('next');
  const all = ['a', 'b', 'c', 'waits'].map(ask);
  assert.is((await refused(pool.ask('more'))).code, 'UNAVAILABLE');
  caller = 'other';
  all.push(ask('late'));
  await Promise.all(all);
  assert.ok(done.indexOf('late') < done.indexOf('waits'), done.join(' '));
  await pool.stop();
});

test('jobs with a longer limit hold one worker alone', async () => {
  const pool = littlePool({ workers: 2 });
  await Promise.all(['a', 'b'].map((name) => pool.ask(name)));
  const done: string[] = [];
  const all = ['listChecklists', 'listChecklists', 'next'];
  await Promise.all(all.map((name) => pool.ask(name).then(() => done.push(name))));
  assert.equal(done, ['next', 'listChecklists', 'listChecklists']);
  await pool.stop();
});

test('arguments that cannot be sent refuse their job alone', async () => {
  const pool = littlePool({ workers: 1 });
  assert.is((await refused(pool.ask('a', () => undefined))).name, 'DataCloneError');
  assert.is(await pool.ask('next'), 'next');
  await pool.stop();
});

test('a full queue refuses further jobs, and a stopped pool all of them', async () => {
  const pool = littlePool({ workers: 1, limit: 2000, mostWaiting: 1 });
  // The worker has started.
  await pool.ask('next');
  const looping = refused(pool.ask('loop'));
  const waiting = pool.ask('waits');
  assert.is((await refused(pool.ask('more'))).code, 'UNAVAILABLE');
  assert.is((await looping).code, 'UNAVAILABLE');
  assert.is(await waiting, 'waits');
  await pool.stop();
  assert.is((await refused(pool.ask('late'))).code, 'UNAVAILABLE');
});

test.run();
