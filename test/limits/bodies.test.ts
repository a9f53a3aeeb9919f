import * as assert from 'uvu/assert';
import type { AppError } from '../../src/base/errors.ts';
import { createBodyBudget, uploadBodyLimits } from '../../src/http/limits/bodies.ts';
import { suite } from '../support/harness.ts';

// Rule S2.9, threat M2: nobody keeps others out.
const bodies = suite('Request bodies in memory');

const mebibyte = 1024 * 1024;

/** Receives bodies of callers in parts of 64 KiB, whole bodies unless `arriving`; gives which were refused or dropped. */
function receiver(budget: ReturnType<typeof createBodyBudget>) {
  const dropped: string[] = [];
  const receive = (name: string, bytes: number, arriving = false) => {
    const body = budget.hold(name.split(' ')[0]!);
    body.dropped.catch(() => dropped.push(name));
    try {
      for (let rest = bytes; rest > 0; rest -= 65_536) body.take(Math.min(rest, 65_536));
    } catch (error) {
      assert.is((error as AppError).code, 'UNAVAILABLE');
      body.release();
      return null;
    }
    if (!arriving) body.whole();
    return body;
  };
  return { dropped, receive };
}

bodies('two callers with three whole uploads of 32 MiB each leave room for every other caller', () => {
  const budget = createBodyBudget(uploadBodyLimits);
  const { receive } = receiver(budget);
  const large = [1, 2, 3].flatMap((number) => [`ann ${number}`, `bob ${number}`]);
  const held = large.filter((name) => receive(name, 32 * mebibyte) !== null);
  assert.equal(held, ['ann 1', 'bob 1', 'ann 2', 'bob 2'], 'no more than they leave free');
  assert.is(budget.held(), 128 * mebibyte);
  assert.ok(receive('cyd 1', 32 * mebibyte), 'a third may be as large');
  // Whoever comes next finds room, though all of it is whole.
  for (let caller = 0; caller < 10; caller++)
    assert.ok(receive(`small${caller} 1`, mebibyte), String(caller));
  assert.ok(budget.held() < uploadBodyLimits.total);
});

bodies(
  'an unfinished body makes room for a caller who holds less, the oldest of who holds most first',
  async () => {
    const budget = createBodyBudget({ total: 100, perCaller: 60 });
    const { dropped, receive } = receiver(budget);
    const first = receive('a 1', 20)!;
    const second = receive('a 2', 15, true)!;
    receive('a 3', 15, true);
    assert.is(receive('a 4', 1), null, 'half of all is what one may hold');
    assert.is(budget.held(), 50);
    const own = receive('b 1', 30, true)!;
    await Promise.resolve();
    assert.equal(dropped, ['a 2'], 'the first is whole');
    assert.is(budget.held(), 65);
    second.release();
    assert.is(budget.held(), 65, 'its bytes were given back already');
    own.take(2);
    assert.throws(() => own.take(10), 'Too many request bodies');
    await Promise.resolve();
    assert.equal(dropped, ['a 2'], 'nobody makes room for a caller who would then hold more');
    own.release();
    first.release();
    assert.is(budget.held(), 15);
  },
);

bodies.run();
