import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { gapstone } from '../support/child.ts';
import { suite, testIf } from '../support/harness.ts';
import { holdLock } from '../support/lock.ts';
import { shipped } from '../support/reference.ts';
import { killAll, until } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { releases } from './support/catalog.ts';
import { percentile } from './support/load.ts';
import { longRun, say } from './support/profile.ts';
import { serveOver } from './support/served.ts';
import { loadWithWriters, verifyWrites } from './support/writers.ts';

// Rules D23.3, D34.2: a server whose catalog, users' data or audit stream another process has locked.
const locked = suite('Locked for seconds');
locked.after(killAll);
const inLong = testIf(longRun, locked);

const tell = (name: string, { written, readTimes }: ReturnType<typeof loadWithWriters>) => {
  const refused = written.filter(({ status }) => status !== 201).length;
  say(
    `${name}: ${written.length} writes, ${refused} refused; ${readTimes.length} reads, ` +
      `p50 ${percentile(readTimes, 0.5).toFixed(1)}, slowest ${Math.max(...readTimes).toFixed(0)} ms`,
  );
};

for (const [test, short, name] of [
  [inLong, locked, 'g-users.db'],
  [locked, inLong, 'gapstone-audit.jsonl.lock'],
] as const) {
  test(`${name}: no read waits, every write is done once when it is free`, async () => {
    const served = await serveOver([shipped('stigs')]);
    const all = loadWithWriters(served);
    await until('lists are made', () => all.written.length > 10);
    const free = holdLock(join(served.folder, name));
    // What was done before the lock was taken is answered before the reads that follow it.
    let [done, reads] = [0, all.readTimes.length];
    await until('reads are answered', () => all.readTimes.length > reads + 10);
    [done, reads] = [all.written.length, all.readTimes.length];
    await until('more are answered', () => all.readTimes.length > reads + 20);
    assert.is(all.written.length, done, 'the lock is held');
    free();
    await until('writes are done', () => all.written.length > done + 10);
    await all.stop();
    tell(name, all);
    assert.equal([...new Set(all.written.map(({ status }) => status))], [201]);
    await verifyWrites(served, all.written);
  });

  short(
    `${name} for longer than a write waits: it is refused, reads are answered, and all goes on`,
    async () => {
      const served = await serveOver([shipped('stigs')]);
      const free = holdLock(join(served.folder, name));
      const all = loadWithWriters(served);
      await until('the writes of all are refused', () => all.written.length >= 5);
      const reads = all.readTimes.length;
      free();
      await until('writes are done', () => all.written.length > 20);
      await all.stop();
      tell(name, all);
      const refused = all.written.filter(({ status }) => status !== 201);
      assert.ok(refused.length >= 5 && refused.length <= 10, `${refused.length} refused`);
      for (const { status, ms, headers } of refused) {
        assert.is(status, 503);
        assert.ok(ms >= 5000, `after ${ms} ms`);
        assert.ok(Number(headers['retry-after']) > 0);
      }
      assert.ok(reads > 20, `${reads} reads beside it`);
      await verifyWrites(served, all.written);
    },
  );
}

locked('the catalog: nobody waits, nothing is refused', async () => {
  const served = await serveOver([shipped('stigs')]);
  const all = loadWithWriters(served);
  await until('lists are made', () => all.written.length > 10);
  const free = holdLock(served.file);
  const [done, reads] = [all.written.length, all.readTimes.length];
  await until('all go on', () => all.written.length > done + 50 && all.readTimes.length > reads + 20);
  free();
  await all.stop();
  tell('the catalog', all);
  assert.equal([...new Set(all.written.map(({ status }) => status))], [201]);
  await verifyWrites(served, all.written);
});

inLong('an import of many releases beside five writers: nothing is refused', async () => {
  const served = await serveOver([shipped('stigs')]);
  const folder = scratchFolder();
  for (const { version, text } of releases(28).releases) put(folder, `${version}.xml`, text);
  const all = loadWithWriters(served);
  const { code, stderr } = await gapstone(['import', folder, '--db', served.file]);
  assert.is(code, 0, stderr.slice(-300));
  await all.stop();
  tell('an import', all);
  assert.equal([...new Set(all.written.map(({ status }) => status))], [201]);
  await verifyWrites(served, all.written);
});

locked.run();
