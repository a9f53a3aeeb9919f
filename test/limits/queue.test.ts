import * as assert from 'uvu/assert';
import { AppError } from '../../src/base/errors.ts';
import { createByteBudget, createQueue, type Presence } from '../../src/http/limits.ts';
import { suite } from '../support/harness.ts';

const limits = suite('Queues and bytes in memory');

const small = { running: 2, waitingPerCaller: 3, patience: 10_000, unsent: { total: 100, perCaller: 40 } };
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A queue, and a function that enters it and notes the name when it is let in, or the error. */
function queueOf(given: Partial<typeof small> = {}) {
  const queue = createQueue({ ...small, ...given });
  const admitted: string[] = [];
  const errors: AppError[] = [];
  const clients = new Map<string, Presence>();
  const enter = (name: string, caller: string) => {
    const client: Presence = { closed: false, onClose: null };
    clients.set(name, client);
    return queue.enter(caller, client).then(
      () => void admitted.push(name),
      (error: AppError) => void errors.push(error),
    );
  };
  return { queue, admitted, errors, enter, clients };
}

limits('so many run at once, the others in the order in which they came', async () => {
  const { queue, admitted, enter } = queueOf();
  const all = ['a1', 'a2', 'b1', 'a3'].map((name) => enter(name, name[0]!));
  await settled();
  assert.equal(admitted, ['a1', 'a2']);
  queue.leave();
  await settled();
  assert.equal(admitted, ['a1', 'a2', 'b1']);
  queue.leave();
  await Promise.all(all);
  assert.equal(admitted, ['a1', 'a2', 'b1', 'a3']);
});

limits('a caller with too many waiting, and who waits too long, gets 503 with Retry-After', async () => {
  const { queue, admitted, errors, enter } = queueOf({ patience: 50 });
  const all = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1'].map((name) => enter(name, name[0]!));
  await settled();
  assert.is(errors.length, 1, 'three of one caller wait, and those of others beside them');
  await Promise.all(all);
  assert.equal([admitted, errors.length], [['a1', 'a2'], 5]);
  for (const error of errors) {
    assert.instance(error, AppError);
    assert.equal([error.code, error.headers], ['UNAVAILABLE', { 'Retry-After': '5' }]);
  }
  queue.leave();
  await enter('a7', 'a');
  assert.equal(admitted, ['a1', 'a2', 'a7'], 'who gave up takes no turn');
});

limits('who disconnects leaves the queue at once, and takes no turn', async () => {
  const { queue, admitted, errors, enter, clients } = queueOf();
  const all = ['a1', 'a2', 'a3', 'b1'].map((name) => enter(name, name[0]!));
  await settled();
  assert.is(clients.get('a1')!.onClose, null, 'who was let in waits no more');
  clients.get('a3')!.onClose!();
  await settled();
  assert.equal([admitted, errors.length], [['a1', 'a2'], 1]);
  queue.leave();
  await settled();
  assert.equal(admitted, ['a1', 'a2', 'b1']);
  await Promise.all(all);
});

limits('files that are made while they are sent wait for each other, and nothing else for them', async () => {
  const { queue, admitted, enter, clients } = queueOf();
  const enterMade = (name: string, caller: string) => {
    const client: Presence = { closed: false, onClose: null };
    clients.set(name, client);
    return queue.enter(caller, client, true).then(() => void admitted.push(name));
  };
  await enterMade('zip 1', 'ann');
  queue.hold('ann', 45, true);
  queue.leave();
  assert.ok(queue.hasRoom('ann'));
  const second = enterMade('zip 2', 'ann');
  await enter('report', 'ann');
  await enterMade('zip 3', 'bob');
  assert.equal(admitted, ['zip 1', 'report', 'zip 3']);
  queue.leave();
  queue.release('ann', 45, true);
  await second;
  assert.equal(admitted, ['zip 1', 'report', 'zip 3', 'zip 2']);
});

limits('a caller who does not take its answers waits, and others do not', async () => {
  const { queue, admitted, enter } = queueOf();
  await enter('greedy 1', 'greedy');
  queue.hold('greedy', 45);
  queue.leave();
  const waiting = enter('greedy 2', 'greedy');
  await enter('fair', 'fair');
  assert.equal(admitted, ['greedy 1', 'fair']);
  assert.equal([queue.hasRoom('greedy'), queue.hasRoom('fair')], [false, true]);
  queue.release('greedy', 45);
  await waiting;
  assert.equal(admitted, ['greedy 1', 'fair', 'greedy 2']);
});

limits('bytes are bounded for a caller and in all, and are free again', () => {
  const budget = createByteBudget({ total: 100, perCaller: 60 });
  budget.add('a', 60);
  assert.equal(
    [budget.hasRoom('a', 1), budget.hasRoom('b', 40), budget.hasRoom('b', 41)],
    [false, true, false],
  );
  budget.add('a', -60);
  assert.ok(budget.hasRoom('a', 60));
  assert.not(budget.hasRoom('b', 61));
});

limits.run();
