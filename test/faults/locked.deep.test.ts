import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { holdLock } from '../support/lock.ts';
import { killAll } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { before, releases } from './support/catalog.ts';
import { pause, percentile } from './support/load.ts';
import { say } from './support/profile.ts';
import { type Served, serveOver } from './support/served.ts';
import { loadWithWriters, verifyWrites } from './support/writers.ts';

// Rules D23.3, D34.2: a server whose catalog, users' data or audit stream another process has locked.
const locked = suite('Locked for seconds');
locked.after(killAll);

/** The longest that the server's event loop was kept since the last look, in milliseconds. */
async function loopDelay({ running }: Served): Promise<number> {
  const text = await (await fetch(`${running.url}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)![1]) * 1000;
}

const tell = (name: string, { written, readTimes }: ReturnType<typeof loadWithWriters>, delay: number) => {
  const refused = written.filter(({ status }) => status !== 201).length;
  say(
    `${name}: ${written.length} writes, ${refused} refused; ` +
      `${readTimes.length} reads, p50 ${percentile(readTimes, 0.5).toFixed(1)}, slowest ` +
      `${Math.max(...readTimes).toFixed(0)} ms; the loop was kept for ${delay.toFixed(0)} ms`,
  );
};

/** Answers of those who wait for a lock of 3 s or more come when it is released, or after 5 s. */
function assertNobodyWaited(times: number[]): void {
  assert.ok(Math.max(...times) < 2500, `the slowest took ${Math.max(...times)} ms`);
}

for (const name of ['g-users.db', 'gapstone-audit.jsonl.lock']) {
  locked(`${name} for 3 s: no read waits, every write is done once`, async () => {
    const served = await serveOver(before);
    const all = loadWithWriters(served);
    await pause(1000);
    await loopDelay(served);
    const free = holdLock(join(served.folder, name));
    // What was done before the lock was taken is answered by now.
    await pause(500);
    const [done, reads] = [all.written.length, all.readTimes.length];
    await pause(2500);
    assert.is(all.written.length, done, 'the lock is held');
    free();
    await pause(500);
    await all.stop();
    const delay = await loopDelay(served);
    tell(name, all, delay);
    assert.ok(all.readTimes.length - reads > 20);
    assertNobodyWaited(all.readTimes.slice(reads));
    assert.equal([...new Set(all.written.map(({ status }) => status))], [201]);
    await verifyWrites(served, all.written);
  });

  locked(`${name} for 7 s: writes are refused after 5 s, and go on then`, async () => {
    const served = await serveOver(before);
    const free = holdLock(join(served.folder, name));
    const all = loadWithWriters(served);
    await pause(7000);
    free();
    await pause(500);
    await all.stop();
    tell(name, all, await loopDelay(served));
    const refused = all.written.filter(({ status }) => status !== 201);
    assert.is(refused.length, 5);
    for (const { status, ms, headers } of refused) {
      assert.is(status, 503);
      assert.ok(ms >= 5000 && ms < 7000, `after ${ms} ms`);
      assert.ok(Number(headers['retry-after']) > 0);
    }
    assert.ok(all.written.length > 10, 'it goes on');
    assertNobodyWaited(all.readTimes);
    await verifyWrites(served, all.written);
  });
}

locked('the catalog for 7 s: nobody waits, nothing is refused', async () => {
  const served = await serveOver(before);
  const all = loadWithWriters(served);
  await pause(500);
  const free = holdLock(served.file);
  const [done, reads] = [all.written.length, all.readTimes.length];
  await pause(7000);
  const meanwhile = all.written.slice(done);
  assert.ok(meanwhile.length > 100 && all.readTimes.length - reads > 100);
  free();
  await all.stop();
  tell('the catalog', all, await loopDelay(served));
  assert.equal([...new Set(all.written.map(({ status }) => status))], [201]);
  assertNobodyWaited(all.readTimes.slice(reads));
  assertNobodyWaited(meanwhile.map(({ ms }) => ms));
  await verifyWrites(served, all.written);
});

locked('an import of 40 MB beside five writers: nothing is refused', async () => {
  const served = await serveOver(before);
  const folder = scratchFolder();
  let bytes = 0;
  for (const { version, text } of releases(28).releases) {
    put(folder, `${version}.xml`, text);
    bytes += text.length;
  }
  const all = loadWithWriters(served);
  await loopDelay(served);
  const start = performance.now();
  const { code, stderr } = await gapstone(['import', folder, '--db', served.file]);
  const seconds = (performance.now() - start) / 1000;
  assert.is(code, 0, stderr.slice(-300));
  await pause(500);
  await all.stop();
  tell(`${(bytes / 1e6).toFixed(0)} MB in ${seconds.toFixed(1)} s`, all, await loopDelay(served));
  const slowest = Math.max(...all.written.map(({ ms }) => ms));
  say(`the slowest write took ${slowest.toFixed(0)} ms`);
  assert.equal([...new Set(all.written.map(({ status }) => status))], [201]);
  await verifyWrites(served, all.written);
});

locked.run();
