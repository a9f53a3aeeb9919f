import * as assert from 'uvu/assert';
import { AppError } from '../../src/base/errors.ts';
import { createConcurrencyLimit } from '../../src/http/limits/concurrency.ts';
import { createConnections, type Peer } from '../../src/http/limits/connections.ts';
import { suite } from '../support/harness.ts';

const limits = suite('ConcurrencyLimit and connections');

const small = { total: 100, perCaller: 40, computing: 2, waiting: 5, patience: 50 };
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Asks a limit for entry, and notes the name when it is let in. */
function asker(concurrency: ReturnType<typeof createConcurrencyLimit>) {
  const admitted: string[] = [];
  const enter = (name: string, caller: string, expensive = false) => {
    const turn = concurrency.enter(caller, expensive);
    if (turn === null) admitted.push(name);
    return (turn ?? Promise.resolve()).then(
      () => turn !== null && admitted.push(name),
      (error: AppError) => error,
    );
  };
  return { admitted, enter };
}

limits('a caller who does not take its answers waits, and others do not', async () => {
  const concurrency = createConcurrencyLimit({ ...small, patience: 10_000 });
  const { admitted, enter } = asker(concurrency);
  await enter('greedy 1', 'greedy', true);
  concurrency.leave('greedy', true, 45);
  const waiting = enter('greedy 2', 'greedy', true);
  await settled();
  await enter('fair', 'fair', true);
  await enter('cheap', 'greedy');
  assert.equal(admitted, ['greedy 1', 'fair', 'cheap']);
  concurrency.leave('fair', true, 0);
  concurrency.leave('greedy', false, 36);
  const cheap = enter('cheap 2', 'greedy');
  assert.equal(admitted, ['greedy 1', 'fair', 'cheap'], 'past twice the room the cheap wait too');
  concurrency.release('greedy', 45);
  await Promise.all([waiting, cheap]);
  assert.equal(admitted, ['greedy 1', 'fair', 'cheap', 'greedy 2', 'cheap 2']);
  concurrency.leave('greedy', true, 0);
  concurrency.leave('greedy', false, 0);
  concurrency.release('greedy', 36);
  assert.equal(concurrency.state(), { total: 0, computing: 0, waiting: 0 });
});

limits('expensive requests wait for one another, callers by turns; cheap ones pass by', async () => {
  const concurrency = createConcurrencyLimit({ ...small, waiting: 100, patience: 10_000 });
  const { admitted, enter } = asker(concurrency);
  for (const number of [1, 2, 3, 4]) enter(`a${number}`, 'a', true);
  enter('b1', 'b', true);
  enter('c1', 'c', true);
  enter('cheap', 'd');
  assert.equal(admitted, ['a1', 'cheap'], 'one in a turn of the event loop');
  await settled();
  await settled();
  assert.equal(admitted, ['a1', 'cheap', 'a2'], 'two at once');
  for (const caller of ['a', 'a', 'b', 'c']) {
    concurrency.leave(caller, true, 0);
    await settled();
    await settled();
  }
  assert.equal(admitted, ['a1', 'cheap', 'a2', 'b1', 'c1', 'a3', 'a4']);
});

limits('who hangs up while waiting gives up its place at once', async () => {
  const concurrency = createConcurrencyLimit({ ...small, computing: 1, patience: 10_000 });
  const { admitted, enter } = asker(concurrency);
  await enter('first', 'a', true);
  await settled();
  const presence: { onClose: (() => void) | null } = { onClose: null };
  const gone = concurrency.enter('b', true, presence)!.catch((error: AppError) => error);
  const next = enter('next', 'b', true);
  assert.is(concurrency.state().waiting, 2);
  presence.onClose!();
  assert.is(concurrency.state().waiting, 1);
  const error = (await gone) as AppError;
  assert.equal([error.code, error.message], ['BAD_REQUEST', 'The client closed the connection']);
  assert.is(presence.onClose, null);
  concurrency.leave('a', true, 0);
  await next;
  assert.equal(admitted, ['first', 'next']);
  concurrency.leave('b', true, 0);
  const stays: { onClose: (() => void) | null } = { onClose: null };
  await settled();
  assert.is(concurrency.enter('c', true, stays), null);
  const turn = concurrency.enter('d', true, stays);
  concurrency.leave('c', true, 0);
  await settled();
  await turn;
  assert.is(stays.onClose, null, 'who was let in is nobody who waits');
  concurrency.leave('d', true, 0);
  assert.equal(concurrency.state(), { total: 0, computing: 0, waiting: 0 });
});

limits('who waits too long, or finds too many waiting, gets 503 with Retry-After', async () => {
  const rejected: string[] = [];
  const concurrency = createConcurrencyLimit(small, (why) => rejected.push(why));
  const { enter } = asker(concurrency);
  await enter('first', 'a');
  concurrency.leave('a', false, 200);
  const others = [1, 2, 3, 4, 5].map((number) => enter(`waits ${number}`, `caller ${number}`));
  const sixth = await enter('too many', 'z');
  for (const error of [sixth, ...(await Promise.all(others))]) {
    assert.instance(error, AppError);
    assert.is((error as AppError).code, 'UNAVAILABLE');
    assert.equal((error as AppError).headers, { 'Retry-After': '5' });
  }
  assert.is(rejected.length, 6);
  assert.is(concurrency.state().waiting, 0);
  concurrency.release('a', 200);
  await enter('recovered', 'a');
  assert.equal(concurrency.state(), { total: 0, computing: 0, waiting: 0 });
});

class Fake implements Peer {
  writableLength = 0;
  destroyed = false;
  destroy() {
    this.destroyed = true;
  }
}

type FakeAnswer = { req: { complete: boolean } };
const underWay = (complete = true): FakeAnswer => ({ req: { complete } });

const bounds = { most: 10, graceMilliseconds: 30_000, slowestBytesPerSecond: 1000 };

limits('one address cannot take all connections: its oldest idle one makes room for others', () => {
  const connections = createConnections<Fake, FakeAnswer, string>(bounds);
  const hoard = Array.from({ length: 10 }, () => new Fake());
  for (const [index, socket] of hoard.entries()) {
    const connection = connections.add(socket, 'greedy', index);
    if (index === 0) connection.active.set(underWay(), '');
  }
  const newcomer = new Fake();
  assert.is(connections.add(newcomer, 'fair', 100).refused, false);
  assert.equal(
    hoard.map((socket) => socket.destroyed),
    hoard.map((_, index) => index === 1),
    'the first has an answer under way',
  );
  const own = new Fake();
  assert.is(connections.add(own, 'greedy', 101).refused, true, 'the hoarder itself is refused');
  assert.is(connections.open.size, 11);
  for (let i = 0; i < 4; i++) assert.is(connections.add(new Fake(), 'fair', 102).refused, false);
  assert.is(
    connections.add(new Fake(), 'fair', 103).refused,
    true,
    'five each: nobody has more than the other',
  );
  for (const socket of hoard.slice(5)) connections.remove(socket);
  assert.is(connections.add(new Fake(), 'greedy', 104).refused, false, 'there is room again');
});

limits(
  'room is made by what is idle, then by what still arrives, then by what nobody reads; by nothing else',
  () => {
    const connections = createConnections<Fake, FakeAnswer, string>({ ...bounds, most: 5 });
    const sockets = Array.from({ length: 5 }, () => new Fake());
    const [made, unread, arriving, half, idle] = sockets as [Fake, Fake, Fake, Fake, Fake];
    const greedy = sockets.map((socket) => connections.add(socket, 'greedy', 0));
    greedy[0]!.active.set(underWay(), '');
    greedy[1]!.active.set(underWay(), '');
    greedy[2]!.active.set(underWay(false), '');
    // One of its requests is there whole, the next is arriving.
    greedy[3]!.active.set(underWay(), '').set(underWay(false), '');
    unread.writableLength = 1;
    connections.sweep(1);
    for (const gone of [idle, arriving, unread]) {
      assert.is(connections.add(new Fake(), `fair ${sockets.indexOf(gone)}`, 2).refused, false);
      assert.equal(sockets.filter((socket) => socket.destroyed).includes(gone), true);
    }
    assert.is(connections.add(new Fake(), 'fair', 3).refused, true);
    assert.equal([made.destroyed, half.destroyed], [false, false]);
  },
);

limits('who was refused and sends nothing is cut within a second', () => {
  const connections = createConnections<Fake, FakeAnswer, string>({ ...bounds, most: 0 });
  const [silent, served] = [new Fake(), new Fake()];
  connections.add(silent, 'a', 0);
  connections.add(served, 'a', 0).active.set(underWay(), '');
  connections.sweep(600);
  assert.is(silent.destroyed, false);
  connections.sweep(601);
  assert.equal([silent.destroyed, served.destroyed], [true, false]);
});

limits('a reader has 30 seconds, and a second for every 1,000 bytes that wait; then it is cut', () => {
  const connections = createConnections<Fake, FakeAnswer, string>(bounds);
  const [slow, large, idle, fresh] = [new Fake(), new Fake(), new Fake(), new Fake()];
  for (const socket of [slow, large, idle, fresh]) connections.add(socket, 'a', 0);
  for (const socket of [slow, large, fresh]) connections.open.get(socket)!.active.set(underWay(), '');
  slow.writableLength = 2000;
  large.writableLength = 200_000;
  idle.writableLength = 0;
  fresh.writableLength = 2000;
  assert.is(connections.sweep(1000), 0);
  // Another answer on the same connection begins anew.
  connections.open.get(fresh)!.waitsSince = null;
  assert.is(connections.sweep(33_000), 0);
  assert.is(connections.sweep(33_001), 1);
  assert.equal(
    [slow.destroyed, large.destroyed, idle.destroyed, fresh.destroyed],
    [true, false, false, false],
  );
  connections.remove(slow);
  fresh.writableLength = 0;
  assert.is(connections.sweep(230_999), 0);
  assert.is(connections.sweep(231_001), 1);
  assert.ok(large.destroyed);
});

limits.run();
