import * as assert from 'uvu/assert';
import { createMemoryLook, garbageCollector } from '../../src/base/idle-memory.ts';
import { suite } from '../support/harness.ts';

const memory = suite('Memory given back');

const mebibyte = 1024 * 1024;

/** A process whose collections leave `inUse` megabytes, as rule S2.10 sees it. */
function imagined(inUse = 100) {
  const state = { resident: inUse, inUse, utilization: 0, collections: 0 };
  const look = createMemoryLook({
    resident: () => state.resident * mebibyte,
    utilization: () => state.utilization,
    collect() {
      state.collections++;
      state.resident = state.inUse;
    },
  });
  return { state, look };
}

memory('garbage is collected once where memory has grown and the process is idle', () => {
  const { state, look } = imagined();
  for (let count = 0; count < 20; count++) look();
  assert.is(state.collections, 0, 'nothing grew');
  Object.assign(state, { resident: 163 });
  look();
  assert.is(state.collections, 0, 'too little');
  Object.assign(state, { resident: 700, utilization: 0.9 });
  for (let count = 0; count < 20; count++) look();
  assert.is(state.collections, 0, 'V8 collects by itself during work');
  state.utilization = 0.01;
  look();
  assert.equal(state, { resident: 100, inUse: 100, utilization: 0.01, collections: 1 });
  for (let count = 0; count < 20; count++) look();
  assert.is(state.collections, 1);
});

memory('what stays in use is no reason to collect again, and new growth is, after a while', () => {
  const { state, look } = imagined();
  look();
  Object.assign(state, { resident: 400, inUse: 300 });
  for (let count = 0; count < 50; count++) look();
  assert.equal([state.collections, state.resident], [1, 300], 'kept answers, for one');
  state.resident = 400;
  look();
  assert.equal([state.collections, state.resident], [2, 300]);
  state.resident = 400;
  const looks = [1, 2, 3, 4, 5, 6].map(() => {
    look();
    return state.collections;
  });
  assert.equal(looks, [2, 2, 2, 2, 2, 3], 'five looks lie between two collections');
});

memory('the collector frees what nothing refers to, and other contexts do not see it', () => {
  const collect = garbageCollector();
  const garbage = new WeakRef({ text: 'x'.repeat(1000) });
  return new Promise<void>((resolve) => {
    setImmediate(() => {
      collect();
      assert.is(garbage.deref(), undefined);
      assert.is((globalThis as { gc?: unknown }).gc, undefined);
      resolve();
    });
  });
});

memory.run();
