import * as assert from 'uvu/assert';
import { pause } from '../faults/support/load.ts';
import { serveOver } from '../faults/support/served.ts';
import { loadWithWriters, verifyWrites } from '../faults/support/writers.ts';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { killAll } from '../support/running.ts';

// DECISIONS D23.3; what is larger, and what is measured, is in `test/faults/locked.test.ts`.
const writers = suite('Users who write during an import');
writers.after(killAll);

writers('none is refused, each write is done once with one event, and what is read goes on', async () => {
  const served = await serveOver([shipped('stigs')]);
  const all = loadWithWriters(served);
  const { code, stderr } = await gapstone(['import', shipped(), '--db', served.file]);
  assert.is(code, 0, stderr.slice(-300));
  await pause(100);
  await all.stop();
  assert.ok(all.written.length > 10 && all.readTimes.length > 10);
  assert.equal([...new Set(all.written.map(({ status }) => status))], [201]);
  await verifyWrites(served, all.written);
});

writers.run();
