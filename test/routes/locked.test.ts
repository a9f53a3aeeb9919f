import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { companionsOf } from '../../src/audit/file.ts';
import { verifyAuditFile } from '../../src/audit/verify.ts';
import { sha256 } from '../../src/base/ids.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { type TestAudit, testAudit } from '../support/audit.ts';
import { ask, type Caller, countingIds, sessionCaller, testId, userCaller } from '../support/callers.ts';
import { addControls } from '../support/control-rows.ts';
import { suite } from '../support/harness.ts';
import { holdLock } from '../support/lock.ts';
import { loadPage } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { scratchFolder } from '../support/scratch.ts';
import { assertError } from '../support/service.ts';
import { openSite } from '../support/site.ts';

// Rules D23.3, D34.2: another process holds the lock of the database or of the audit stream.
const locked = suite('Locked by another process');

interface Locked extends TestApp {
  file: string;
  audit: TestAudit;
  alice: Caller;
  bob: Caller;
}

const list = testId(1);
const collection = testId(2);
const opened: Locked[] = [];

/** An application as a server has it. Alice of red has a list and a collection that red sees. */
async function lockable(failure: 'stop' | 'continue' = 'stop'): Promise<Locked> {
  const folder = scratchFolder();
  const db = await openSite(folder, [shipped('stigs')]);
  const file = join(folder, 'g-users.db');
  db.neverBlock();
  const clock = { now: new Date('2026-11-21T12:00:00Z') };
  const audit = testAudit(clock, { failure, lockTimeout: 0 });
  const deps = { db, audit: audit.stream, newId: countingIds(), now: () => clock.now };
  const t = await testApp([], deps);
  addControls(db);
  const alice = await userCaller(t);
  const shared = { name: 'N', visibility: 'SHARED' };
  await ask(t, 'POST', '/api/v1/lists', alice, shared);
  await ask(t, 'POST', `/api/v1/lists/${list}/stigs`, alice, { slugs: ['harbor_linux_3'] });
  await ask(t, 'POST', '/api/v1/control-collections', alice, shared);
  const made = { ...t, clock, file, audit, alice, bob: await userCaller(t, { sub: 'bob' }) };
  opened.push(made);
  return made;
}

locked.after(() => {
  for (const { db, audit } of opened) {
    db.close();
    audit.stream.close();
  }
});

const usersData = ({ db }: TestApp) =>
  ['bundles', 'list_stigs', 'collection_controls', 'favorite_stigs', 'sessions', 'clock'].map((table) =>
    db.sqlite.prepare(`SELECT * FROM ${table} ORDER BY 1`).all(),
  );
const actionsOf = (audit: TestAudit) => audit.lines().map((line) => `${line.action} ${line.outcome}`);

locked(
  'while the database is locked every page and every GET answers as before, and waits for nothing',
  async () => {
    const t = await lockable();
    const callers = [t.alice, t.bob, await userCaller(t, { sub: 'carol', org: 'blue' })];
    const sessions = await Promise.all(callers.map((caller) => sessionCaller(t, caller)));
    const owned = [`/systems/${list}/stigs/harbor_linux_3`, `/collections/${collection}/edit`];
    const pages = `/ /systems /systems/${list} /collections /collections/${collection} /favorites /content
    /systems/${list}/settings /stigs/harbor_linux_3 /controls/nist-800-53/AC-2 ${owned.join(' ')}`.split(
      /\s+/,
    );
    const api = `/healthz /readyz /api/v1/lists /api/v1/lists?include=slugs /api/v1/lists/${list}
    /api/v1/lists/${list}/export /api/v1/my-stigs`.split(/\s+/);
    /** What everybody is answered: the status, and the hash of what is shown. */
    const look = async () => {
      const seen: Record<string, string> = {};
      for (const [who, caller] of sessions.entries()) {
        for (const path of pages) {
          const { status, html } = await loadPage(t, path, caller);
          seen[`${who} ${path}`] = `${status} ${status === 200 ? sha256(html) : ''}`;
        }
        for (const path of api) {
          const { status, text } = await ask(t, 'GET', path, caller);
          seen[`${who} ${path}`] = `${status} ${status === 200 ? sha256(text) : ''}`;
        }
      }
      return seen;
    };
    const before = await look();
    const free = holdLock(t.file);
    const during = await look();
    free();
    // What writes would have been refused after five seconds.
    assert.equal(during, before);
    for (const path of owned)
      assert.is([0, 1, 2].map((who) => before[`${who} ${path}`]!.slice(0, 3)).join(), '200,403,404', path);
  },
);

locked('sessions that are used or over need no write: it is made up for when the lock is free', async () => {
  const t = await lockable();
  const session = await sessionCaller(t, t.alice);
  const other = await sessionCaller(t, t.bob);
  const rows = () => t.db.sqlite.prepare('SELECT subject, used_at FROM sessions ORDER BY 1').raw().all();
  const begun = rows();
  t.clock.now = new Date('2026-11-21T12:10:00Z');
  const lists = async (caller: Caller) => (await ask(t, 'GET', '/api/v1/my-stigs', caller)).status;
  for (const lock of [t.file, companionsOf(t.audit.file).lock]) {
    const free = holdLock(lock);
    assert.is(await lists(session), 200);
    free();
  }
  assert.is(t.db.sqlite.pragma('busy_timeout', { simple: true }), 0);
  t.clock.now = new Date('2026-11-21T12:15:00Z');
  for (const lock of [t.file, companionsOf(t.audit.file).lock]) {
    const free = holdLock(lock);
    assert.is(await lists(other), 401);
    free();
    assert.is(rows().length, begun.length, 'it cannot be ended now');
  }
  assert.not.ok(actionsOf(t.audit).includes('session.timeout success'));
  assert.is(await lists(other), 401);
  assert.is(rows().length, 1);
  assert.is(actionsOf(t.audit).filter((each) => each === 'session.timeout success').length, 1);
  assert.is(verifyAuditFile(t.audit.file).problem, null);
});

for (const name of ['database', 'audit stream'])
  locked(
    `while the ${name} is locked writers wait, reads do not; then each write is done once, with one event`,
    async () => {
      const t = await lockable();
      const before = actionsOf(t.audit).length;
      const free = holdLock(name === 'database' ? t.file : companionsOf(t.audit.file).lock);
      let answered = 0;
      const names = [0, 1, 2, 3, 4].map((index) => `while locked ${index}`);
      const writes = names.map(async (each) => {
        const { status } = await ask(t, 'POST', '/api/v1/lists', t.alice, { name: each });
        answered++;
        return status;
      });
      for (let read = 0; read < 20; read++) {
        for (const path of ['/healthz', '/api/v1/stigs', '/api/v1/lists'])
          assert.is((await ask(t, 'GET', path, t.alice)).status, 200);
        assert.is((await ask(t, 'GET', '/api/v1/lists', { Authorization: 'Bearer x' })).status, 401);
      }
      assert.is(answered, 0, 'the lock is held');
      free();
      assert.equal(await Promise.all(writes), [201, 201, 201, 201, 201]);
      const rows = t.db.sqlite
        .prepare<[], { id: string; name: string }>("SELECT id, name FROM bundles WHERE name LIKE 'while%'")
        .all();
      assert.equal(rows.map((row) => row.name).sort(), names);
      t.audit.stream.tick(true);
      await pause(0);
      const lines = t.audit.lines().slice(before);
      const created = lines.filter((line) => line.action === 'list.create');
      assert.equal(
        created.map((line) => `${line.objectId} ${line.outcome}`).sort(),
        rows.map((row) => `${row.id} success`).sort(),
      );
      const refusals = lines.filter((line) => line.action === 'auth.failure');
      const repeats = refusals.reduce((sum, line) => sum + Number(line.detail?.repeats ?? 1), 0);
      assert.is(repeats, 20, 'what is only noted is kept and written later');
      assert.equal([verifyAuditFile(t.audit.file).problem, t.audit.stream.stats().failing], [null, false]);
      assert.not.ok(existsSync(`${companionsOf(t.audit.file).lock}-journal`));
    },
  );

locked(
  'a lock that is held for longer than 5 s: 503 then, nothing is changed, and then it goes on',
  async () => {
    const [database, stop, goOn] = [await lockable(), await lockable(), await lockable('continue')] as const;
    const free = [database.file, companionsOf(stop.audit.file).lock, companionsOf(goOn.audit.file).lock].map(
      holdLock,
    );
    const timed = async (t: Locked, method: string, path: string, body?: unknown) => {
      const before = usersData(t);
      const start = performance.now();
      const answer = await ask(t, method, path, t.alice, body);
      const passed = performance.now() - start;
      assert.ok(passed >= 5000, `${path} after ${passed} ms`);
      return { ...answer, changed: JSON.stringify(usersData(t)) !== JSON.stringify(before) };
    };
    const path = `/api/v1/lists/${list}`;
    const [change, session, unaudited, exported, lost] = await Promise.all([
      timed(database, 'PATCH', path, { name: 'never' }),
      timed(database, 'POST', '/api/v1/session'),
      timed(stop, 'PATCH', path, { name: 'never' }),
      timed(stop, 'GET', `${path}/export`),
      timed(goOn, 'PATCH', path, { name: 'not audited' }),
    ]);
    for (const answer of [change, session]) {
      assertError(answer, 503, 'UNAVAILABLE', 'The database is busy. Try again');
      assert.equal([answer.headers.get('Retry-After'), answer.changed], ['5', false]);
    }
    for (const answer of [unaudited, exported]) {
      assertError(answer, 503, 'UNAVAILABLE', 'not audited');
      assert.equal([answer.headers.get('Retry-After'), answer.changed], ['30', false]);
    }
    assert.equal([lost.status, lost.changed], [200, true]);
    assert.equal(
      [database, stop, goOn].map(({ audit }) => audit.stream.stats().failing),
      [false, true, true],
    );
    assert.is(goOn.audit.stream.stats().lost, 1);
    for (const each of free) each();
    for (const t of [database, stop, goOn]) {
      const before = t.audit.lines().length;
      assert.is((await ask(t, 'PATCH', path, t.alice, { name: 'at last' })).status, 200);
      assert.is(t.audit.stream.stats().failing, false);
      const added = t.audit.lines().slice(before);
      assert.equal(
        added.filter((line) => line.action !== 'audit.failure').map((line) => [line.action, line.outcome]),
        [['list.update', 'success']],
      );
      assert.is(verifyAuditFile(t.audit.file).problem, null);
    }
    const gap = stop.audit.lines().find((line) => line.action === 'audit.failure')!;
    assert.equal([gap.reason, gap.detail?.lost, gap.detail?.refused], ['SQLITE_BUSY', 0, 2]);
    // Both waited as long: which was told first is chance.
    const failures = actionsOf(database.audit).filter((each) => each.endsWith('failure'));
    assert.equal(failures.sort(), ['list.update failure', 'session.create failure']);
  },
);

locked.run();
