import * as assert from 'uvu/assert';
import { createBodyBudget } from '../../src/http/limits/bodies.ts';
import { suite } from '../support/harness.ts';

// Rule S2.9, threat M2: nobody keeps others out.
const bodies = suite('Request bodies in memory');

/** A budget, and what holds bodies that are not whole yet and notes those that are dropped. */
function held(perCaller: number) {
  const budget = createBodyBudget({ total: 100, perCaller });
  const dropped: string[] = [];
  const receive = (name: string, bytes: number) => {
    const body = budget.hold(name[0]!);
    body.dropped.catch(() => dropped.push(name));
    body.take(bytes);
    return body;
  };
  return { budget, dropped, receive };
}

bodies('one caller holds no more than it leaves free, in whatever order callers come', () => {
  for (const perCaller of [30, 60]) {
    const { budget, receive } = held(perCaller);
    for (const caller of 'abcdef') {
      const body = receive(caller, Math.min(perCaller, Math.floor((100 - budget.held()) / 2)));
      body.whole();
      assert.throws(() => body.take(1), 'Too many request bodies', caller);
    }
  }
});

bodies('an unfinished body makes room for who holds less, the oldest of who holds most first', async () => {
  const { budget, dropped, receive } = held(60);
  receive('a1', 20).whole();
  const second = receive('a2', 15);
  receive('a3', 15);
  assert.throws(() => receive('a4', 1), 'Too many request bodies', 'half of all is what one may hold');
  const own = receive('b1', 30);
  await Promise.resolve();
  assert.equal([dropped, budget.held()], [['a2'], 65], 'the first is whole');
  second.release();
  assert.is(budget.held(), 65, 'its bytes were given back already');
  own.take(2);
  assert.throws(() => own.take(10), 'Too many request bodies');
  await Promise.resolve();
  assert.equal(dropped, ['a2'], 'nobody makes room for a caller who would then hold more');
});

bodies.run();
