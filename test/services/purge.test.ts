import * as assert from 'uvu/assert';
import { createAudit } from '../../src/audit/audited-action.ts';
import { silentAudit } from '../../src/audit/stream.ts';
import { createLog } from '../../src/base/log.ts';
import { createPurgeService, type PurgeService } from '../../src/collections/retention.ts';
import { purgeDaily } from '../../src/commands/purge.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, integrationCaller, userCaller } from '../support/callers.ts';
import { rejects, suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { until } from '../support/running.ts';

// Rule D8.5, threats T1 and T2.
const test = suite('Purge');
const day = 24 * 3600 * 1000;
const start = Date.parse('2026-11-21T12:00:00Z');
const cron = '/api/cron/purge-deleted-lists';
const secret = { Authorization: 'Bearer s3cret' };

let t: TestApp;
let purges: PurgeService;

test.before.each(async () => {
  t = await testApp([shipped('stigs')], { cronSecret: 's3cret' });
  purges = createPurgeService(t.db, () => t.clock.now);
});

test.after.each(() => t.db.close());

const at = (days: number) => {
  t.clock.now = new Date(start + days * day);
};
const count = (table = 'bundles') => t.db.sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get();

/** Makes a bundle with an entry, and deletes it at once; gives its path. */
async function deleted(kind = 'lists'): Promise<string> {
  const alice = await userCaller(t);
  const { json } = await ask(t, 'POST', `/api/v1/${kind}`, alice, { name: 'N' });
  const path = `/api/v1/${kind}/${json.id}`;
  if (kind === 'lists') {
    await ask(t, 'POST', `${path}/stigs`, alice, { slugs: ['harbor_linux_3'] });
    await integrationCaller(t, `${json.id.slice(0, -1)}x`, [json.id]);
  }
  await ask(t, 'DELETE', path, alice);
  return path;
}

test('more than 30 days after its deletion a list is gone for good, with what hangs on it', async () => {
  await deleted();
  at(30);
  assert.equal((await ask(t, 'POST', cron, secret)).json, { success: true, purged: 0 });
  assert.equal([count(), count('list_stigs'), count('integration_token_lists')], [1, 1, 1]);
  t.clock.now = new Date(start + 30 * day + 1);
  assert.is(await purges.purge({ dryRun: true }), 1);
  assert.is(count(), 1);
  assert.equal((await ask(t, 'GET', cron, secret)).json, { success: true, purged: 1 });
  assert.equal([count(), count('list_stigs'), count('integration_token_lists')], [0, 0, 0]);
  assert.equal((await ask(t, 'POST', cron, secret)).json, { success: true, purged: 0 }, 'twice is once');
});

test('lists that are active or restored, and control collections, are never purged', async () => {
  const restored = await deleted();
  await ask(t, 'POST', `${restored}/restore`, await userCaller(t));
  await deleted('control-collections');
  at(400);
  assert.is(await purges.purge(), 0);
  assert.is(count(), 2);
  assert.is((await ask(t, 'GET', restored, await userCaller(t))).status, 200);
});

test('with a clock behind the latest time seen nothing is purged, and it is said', async () => {
  const path = await deleted();
  at(40);
  await deleted();
  at(39);
  await rejects(purges.purge(), /clock is earlier than the latest time in the database/);
  const answer = await ask(t, 'POST', cron, secret);
  assert.is(answer.status, 503);
  assert.is(answer.json.error.code, 'UNAVAILABLE');
  assert.is(answer.headers.get('Retry-After'), '3600');
  assert.is(count(), 2);
  at(40);
  assert.is(await purges.purge(), 1);
  assert.is((await ask(t, 'POST', `${path}/restore`, await userCaller(t))).status, 404);
});

test('a list that is deleted while the clock is earlier than the latest time in the database is dated by the latest time seen', async () => {
  at(100);
  await purges.purge();
  at(0);
  await deleted();
  const dated = t.db.sqlite.prepare('SELECT deleted_at FROM bundles').pluck().get();
  assert.is(dated, new Date(start + 100 * day).toISOString());
  at(101);
  assert.is(await purges.purge(), 0, 'by the time stamp of the wrong clock it would be 101 days old');
  at(131);
  assert.is(await purges.purge(), 1);
});

test('the operator may say that the clock is right now', async () => {
  at(1000);
  await purges.purge();
  at(0);
  await deleted();
  await rejects(purges.purge(), /clock is earlier than the latest time in the database/);
  assert.is(await purges.purge({ acceptClock: true, dryRun: true }), 0);
  await rejects(purges.purge(), /clock is earlier than the latest time in the database/);
  assert.is(await purges.purge({ acceptClock: true }), 0);
  assert.is(await purges.purge(), 0);
});

test('a running server purges at its start and every day, and survives a refusal', async () => {
  const lines: { msg: string; purged?: number; reason?: string }[] = [];
  const log = createLog('info', (line) => lines.push(JSON.parse(line)));
  await deleted();
  at(31);
  const stop = purgeDaily(
    { users: t.db, log, now: () => t.clock.now, audit: createAudit(silentAudit, t.db) },
    10,
  );
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal([lines[0]!.msg, lines[0]!.purged], ['purge', 1]);
  at(30);
  await until('the next purge', () => lines.length > 1);
  await stop();
  assert.equal(
    [lines[1]!.msg, /clock is earlier than the latest time in the database/.test(lines[1]!.reason!)],
    ['purge postponed', true],
  );
});

test.run();
