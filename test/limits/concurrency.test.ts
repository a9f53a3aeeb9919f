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
  const isRefused = (address: string) => connections.add(new Fake(), address, 1).refused;
  const hoard = Array.from({ length: 10 }, () => new Fake());
  for (const socket of hoard) connections.add(socket, 'greedy', 0);
  connections.open.get(hoard[0]!)!.active.set(underWay(), '');
  assert.not(isRefused('fair'));
  const closed = hoard.flatMap((socket, index) => (socket.destroyed ? index : []));
  assert.equal(closed, [1], 'the first has an answer under way');
  assert.ok(isRefused('greedy'), 'the hoarder itself is refused');
  for (let i = 0; i < 4; i++) assert.not(isRefused('fair'));
  assert.ok(isRefused('fair'), 'five each: nobody has more than the other');
});

limits('room is made by what is idle, then what arrives, then what nobody reads; by nothing else', () => {
  const connections = createConnections<Fake, FakeAnswer, string>({ ...bounds, most: 5 });
  const sockets = Array.from({ length: 5 }, () => new Fake());
  const [made, unread, arriving, half, idle] = sockets as [Fake, Fake, Fake, Fake, Fake];
  for (const socket of sockets) connections.add(socket, 'greedy', 0);
  for (const socket of [made, unread, half]) connections.open.get(socket)!.active.set(underWay(), '');
  // One request of `half` is there whole, the next is arriving.
  for (const socket of [arriving, half]) connections.open.get(socket)!.active.set(underWay(false), '');
  unread.writableLength = 1;
  connections.sweep(1);
  const gone: Fake[] = [];
  for (const next of [idle, arriving, unread]) {
    assert.not(connections.add(new Fake(), `fair ${gone.push(next)}`, 2).refused);
    assert.equal(new Set(sockets.filter((socket) => socket.destroyed)), new Set(gone));
  }
  assert.ok(connections.add(new Fake(), 'fair', 3).refused);
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
