import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { verifyAuditFile } from '../../src/audit/verify.ts';
import { sha256 } from '../../src/base/ids.ts';
import { createLog } from '../../src/base/log.ts';
import { type Answer, testApp } from '../support/app.ts';
import { type AuditLine, disk, type TestAudit, testAudit } from '../support/audit.ts';
import {
  ask,
  type Caller,
  cookieOf,
  integrationCaller,
  sessionCaller,
  testId,
  userCaller,
} from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import {
  cronSecret,
  kindOf,
  type Operation,
  type OperationSite,
  operationSite,
  operations,
} from '../support/operations.ts';
import { assertError } from '../support/service.ts';

// Alice of red owns everything; bob is of red too. The events of all operations stand in their table.
const test = suite('Audit: what requests leave in the stream');
const clock = { now: new Date('2026-11-21T12:00:00Z') };

/** What the log says of sessions. */
const logLines: string[] = [];
const sessionLog = createLog('info', (line) => {
  if (line.includes('"msg":"session')) logLines.push(line);
});
let t: OperationSite;
let audit: TestAudit;
let alice: Caller;
let bob: Caller;
let list: string;

test.before(async () => {
  audit = testAudit(clock);
  t = await operationSite({ now: () => clock.now, audit: audit.stream, log: sessionLog });
  [alice, bob] = [t.callers.owner, t.callers.member];
  list = String(t.names['lists SHARED']);
});

function advance(milliseconds: number): void {
  clock.now = new Date(clock.now.getTime() + milliseconds);
  t.clock.now = clock.now;
}

test.after(() => {
  audit.stream.close();
  t.db.close();
});

/** The lines that some requests add. */
async function linesOf(work: () => Promise<unknown>): Promise<AuditLine[]> {
  const before = audit.lines().length;
  await work();
  return audit.lines().slice(before);
}

const audited = operations.filter(({ event }) => event !== '');
const more = (operation: Operation) => ({
  id: t.names[`${kindOf(operation)} SHARED`],
  visibility: 'SHARED',
});

/** Who may use an operation. */
const callerOf = ({ rule }: Operation) =>
  ({ session: t.callers.session, cron: t.callers.cron })[rule as string] ?? alice;

/** Sends an operation as somebody who may use it; what it did is taken back. */
const send = (operation: Operation): Promise<Answer> =>
  t.operate(operation, callerOf(operation), more(operation));

/** What users own, and the sessions: what a refused request must leave as it was. */
const usersData = () =>
  'bundles list_stigs collection_controls favorite_stigs favorite_controls sessions user_tokens clock'
    .split(' ')
    .map((name) => t.db.sqlite.prepare(`SELECT * FROM ${name}`).all());

test('every route that changes something declares its event, and the table has it', async () => {
  // These take a body and change nothing.
  const reading =
    /^post (\/plants|\/api\/v1\/(stigs\/batch|crosswalk\/resolve\/batch|references|checklists\/[\w-]+))$/;
  const { json: document } = await ask(t, 'GET', '/openapi.json', {});
  for (const [path, methods] of Object.entries<object>(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const name = `${method} ${path}`;
      const isTold = operation['x-access'] === 'cron' || /(-collections|lists)\/\{id\}\/export/.test(path);
      const action = operation['x-audit'];
      assert.is(action !== undefined, isTold || (method !== 'get' && !reading.test(name)), name);
      for (const each of operations.filter(({ route }) => route === path))
        if (each.method === method.toUpperCase() && each.rule !== 'noSession')
          assert.is(each.event.split(' ')[0] || undefined, action, name);
    }
});

test('stop: while the stream cannot be written, every such request is a 503 and changes nothing; reads go on', async () => {
  const before = usersData();
  const lines = audit.lines().length;
  disk.full = true;
  try {
    for (const operation of audited) {
      // What it did would stay.
      const { method, path, body } = t.filled(operation, more(operation));
      const answer = await ask(t, method, path, callerOf(operation), body);
      assertError(answer, 503, 'UNAVAILABLE', 'not audited');
      assert.is(answer.headers.get('Retry-After'), '30');
      for (const name of ['Set-Cookie', 'Content-Disposition', 'ETag'])
        assert.is(answer.headers.get(name), null, name);
    }
    assert.equal(usersData(), before);
    assert.is((await ask(t, 'GET', '/api/v1/stigs', alice)).status, 200);
    assert.is((await ask(t, 'GET', `/api/v1/lists/${list}`, alice)).status, 200);
    assert.is((await ask(t, 'GET', '/api/v1/controls/nist-800-53', {})).status, 200);
    assert.is((await ask(t, 'GET', '/api/v1/stigs', {})).status, 401);
    assert.is(audit.lines().length, lines);
  } finally {
    disk.full = false;
  }
});

test('each leaves one event: who, what, on which object', async () => {
  for (const operation of audited) {
    let answer: Answer | undefined;
    const lines = await linesOf(async () => {
      answer = await send(operation);
    });
    assert.ok(answer!.status < 300, `${operation.event}: ${answer!.text}`);
    const own = lines.filter((line) => !['audit.failure', 'auth.failure'].includes(line.action));
    assert.is(own.length, 1, `${operation.event}: ${JSON.stringify(own)}`);
    const { seq: _, hash: __, prevHash: ___, ...kept } = own[0]!;
    const [, action, object, detail] = /^(\S+) (\S+) (.*)$/.exec(operation.event)!;
    if (object === 'hash') assert.match(kept.objectId!, /^[0-9a-f]{12}$/);
    const isCron = operation.rule === 'cron';
    assert.equal(kept, {
      time: clock.now.toISOString(),
      actorType: isCron ? 'system' : 'user',
      actor: isCron ? 'scheduler' : 'alice',
      org: isCron ? null : 'red',
      action,
      objectType: action!.split('.')[0],
      objectId: object === 'hash' ? kept.objectId : JSON.parse(t.fill(object!, more(operation))),
      outcome: 'success',
      reason: null,
      requestId: answer!.headers.get('X-Request-Id'),
      source: 'unknown',
      detail: JSON.parse(t.fill(detail!, more(operation))),
    });
  }
  assert.is(verifyAuditFile(audit.file).problem, null);
});

test('a refused change leaves its code: not the creator, not there, not valid', async () => {
  const shapes = async (work: () => Promise<unknown>) =>
    (await linesOf(work)).map((line) => [line.action, line.actor, line.objectId, line.outcome, line.reason]);
  const path = `/api/v1/lists/${list}`;
  await ask(t, 'GET', '/api/v1/lists', bob);
  assert.equal(await shapes(() => ask(t, 'PATCH', path, bob, { name: 'X' })), [
    ['list.update', 'bob', list, 'denied', 'FORBIDDEN'],
  ]);
  assert.equal(await shapes(() => ask(t, 'PATCH', path, bob, { name: 'X' })), [], 'counted');
  assert.equal(await shapes(() => ask(t, 'DELETE', `/api/v1/lists/${testId(77)}`, bob)), [
    ['list.delete', 'bob', testId(77), 'failure', 'NOT_FOUND'],
  ]);
  assert.equal(await shapes(() => ask(t, 'POST', '/api/v1/lists', bob, {})), [
    ['list.create', 'bob', null, 'failure', 'BAD_REQUEST'],
  ]);
  const integration = await integrationCaller(t, testId(901), [list]);
  assert.equal(
    await shapes(() => ask(t, 'DELETE', path, integration)),
    [
      ['auth.success', testId(901), 'DELETE /api/v1/lists/:id', 'success', null],
      ['list.delete', testId(901), list, 'denied', 'FORBIDDEN'],
    ].toReversed(),
  );
  assert.equal(await shapes(() => ask(t, 'GET', '/api/v1/stigs', integration)), [
    ['access.denied', testId(901), 'GET /api/v1/stigs', 'denied', 'FORBIDDEN'],
  ]);
  const denied = (path: string) => ['entitlement.denied', 'bob', `GET ${path}`, 'denied', 'FORBIDDEN'];
  assert.equal(await shapes(() => ask(t, 'GET', '/api/v1/regdoc', bob)), [denied('/api/v1/regdoc')]);
  // A gated role mapping is told of, and answers as ever.
  const own = await sessionCaller(t, bob);
  const roles = '/api/v1/role-mapping/benchmark/:benchmarkId/roles';
  const gated = await shapes(async () => {
    const { json } = await ask(t, 'GET', roles.replace(':benchmarkId', 'harbor_linux_3'), own);
    assert.equal(json, { gated: true, federal: false, mappings: [] });
  });
  assert.equal(gated, [denied(roles)]);
});

test('credentials: what holds is told once an hour, what does not by its kind, in a minute once', async () => {
  const dave = await userCaller(t, { sub: 'dave', exp: Math.floor(clock.now.getTime() / 1000) + 3 * 3600 });
  const names = (lines: AuditLine[]) =>
    lines.map((line) => [line.action, line.actor, line.reason, line.detail]);
  const read = () => ask(t, 'GET', '/api/v1/stigs', dave);
  const signedIn = [['auth.success', 'dave', null, { by: 'token' }]];
  assert.equal(names(await linesOf(() => Promise.all([read(), read()]))), signedIn);
  advance(3600 * 1000);
  assert.equal(names(await linesOf(read)), signedIn);
  audit.stream.tick(true);
  const bad = { Authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' };
  const lines = await linesOf(async () => {
    for (let i = 0; i < 20; i++) await ask(t, 'GET', '/api/v1/stigs', bad);
    for (let i = 0; i < 5; i++) await ask(t, 'GET', '/api/v1/stigs', {});
    await ask(t, 'GET', '/api/v1/stigs', { Cookie: 'gapstone_session=x' });
    await ask(t, 'POST', '/api/cron/purge-deleted-lists', bad);
    audit.stream.tick(true);
  });
  assert.equal(
    lines.map((line) => [line.action, line.actorType, line.objectId, line.reason, line.detail?.repeats]),
    [
      ['auth.failure', 'anonymous', 'GET /api/v1/stigs', 'INVALID_CREDENTIALS', undefined],
      ['auth.failure', 'anonymous', 'GET /api/v1/stigs', 'NO_CREDENTIALS', undefined],
      ['auth.failure', 'anonymous', 'POST /api/cron/purge-deleted-lists', 'INVALID_CREDENTIALS', undefined],
      ['auth.failure', 'anonymous', 'GET /api/v1/stigs', 'INVALID_CREDENTIALS', 20],
      ['auth.failure', 'anonymous', 'GET /api/v1/stigs', 'NO_CREDENTIALS', 4],
    ],
  );
});

test('sessions that end without being asked to are told of: replaced, idle, too many', async () => {
  const erin = await userCaller(t, { sub: 'erin', exp: Math.floor(clock.now.getTime() / 1000) + 4 * 3600 });
  const start = async (more: Caller = {}) =>
    cookieOf(await ask(t, 'POST', '/api/v1/session', { ...erin, ...more }));
  const names = (lines: AuditLine[]) =>
    lines
      .filter((line) => line.action.startsWith('session.'))
      .map((line) => [line.action, line.actor, line.reason]);
  const first = await start();
  assert.equal(names(await linesOf(() => start({ Cookie: first }))), [
    ['session.renew', 'erin', 'REPLACED'],
    ['session.create', 'erin', null],
  ]);
  for (let i = 0; i < 9; i++) await start();
  advance(1000);
  assert.equal(names(await linesOf(() => start())), [
    ['session.end', 'erin', 'TOO_MANY'],
    ['session.create', 'erin', null],
  ]);
  const last = await start();
  advance(15 * 60 * 1000);
  assert.equal(names(await linesOf(() => ask(t, 'GET', '/api/v1/stigs', { Cookie: last }))), [
    ['session.timeout', 'erin', 'IDLE'],
  ]);
});

/** Does what it is given while every commit fails after its events were written. */
async function withoutCommits(code: string, work: () => Promise<void>): Promise<void> {
  const before = usersData();
  const { writeNow } = t.db;
  const fail = (commit: () => unknown): never => {
    commit();
    throw Object.assign(new Error('database or disk is full'), { code });
  };
  const unhook = t.db.within(fail);
  t.db.writeNow = (commit) => writeNow(() => fail(commit));
  await work().finally(() => [unhook(), Object.assign(t.db, { writeNow })]);
  assert.equal(usersData(), before);
}

test('a commit that fails after its event was written leaves a second event that says so', async () => {
  const caller = await userCaller(t);
  await ask(t, 'GET', '/api/v1/stigs', caller);
  const lines = await linesOf(() =>
    withoutCommits('SQLITE_BUSY', async () => {
      assert.is((await ask(t, 'POST', '/api/v1/lists', caller, { name: 'lost' })).status, 503);
    }),
  );
  assert.equal(
    lines.map((line) => [line.action, line.outcome, line.reason]),
    [
      ['list.create', 'success', null],
      ['list.create', 'failure', 'UNAVAILABLE'],
    ],
  );
  assert.is(lines[0]!.requestId, lines[1]!.requestId);
});

/** The session events that some requests add, and how each ended. */
const sessionLines = async (work: () => Promise<unknown>) =>
  (await linesOf(work))
    .filter((line) => line.action.startsWith('session.'))
    .map((line) => [line.action, line.objectId, line.outcome, line.reason]);

/** The name of a session in the stream. */
const sessionId = (cookie: string) => sha256(cookie.split('=')[1]!).slice(0, 12);

/** A user of four hours, and a session of hers. */
async function sessionOf(sub: string): Promise<{ caller: Caller; cookie: string }> {
  const caller = await userCaller(t, { sub, ...times(4) });
  return { caller, cookie: cookieOf(await ask(t, 'POST', '/api/v1/session', caller)) };
}

test('a session whose end is rolled back goes on, and a second event says so; the log tells of neither', async () => {
  const { caller, cookie } = await sessionOf('grace');
  const logged = logLines.length;
  await withoutCommits('SQLITE_FULL', async () => {
    const lines = await sessionLines(async () => {
      const answer = await ask(t, 'POST', '/api/v1/session', { ...caller, Cookie: cookie });
      assert.equal([answer.status, answer.headers.get('Set-Cookie')], [503, null]);
    });
    assert.equal(lines, [
      ['session.renew', sessionId(cookie), 'success', 'REPLACED'],
      ['session.create', lines[1]![1], 'success', null],
      ['session.renew', sessionId(cookie), 'failure', 'ROLLED_BACK'],
      ['session.create', null, 'failure', 'UNAVAILABLE'],
    ]);
    const own = { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' };
    assert.is((await ask(t, 'DELETE', '/api/v1/session', own)).status, 503);
  });
  assert.equal(logLines.slice(logged), []);
  assert.is((await ask(t, 'GET', '/api/v1/stigs', { Cookie: cookie })).status, 200);
});

test('a session whose end cannot be told is not ended, but for one that holds no longer: nobody gets in with it', async () => {
  const { caller, cookie } = await sessionOf('heidi');
  const row = () =>
    t.db.sqlite.prepare("SELECT count(*) FROM sessions WHERE subject = 'heidi'").pluck().get();
  const read = async () => (await ask(t, 'GET', '/api/v1/stigs', { Cookie: cookie })).status;
  disk.full = true;
  try {
    const renewed = await ask(t, 'POST', '/api/v1/session', { ...caller, Cookie: cookie });
    assertError(renewed, 503, 'UNAVAILABLE', 'not audited');
    assert.equal([await read(), row()], [200, 1]);
    advance(15 * 60 * 1000);
    assert.equal(await sessionLines(async () => assert.is(await read(), 401)), []);
    assert.is(row(), 1);
  } finally {
    disk.full = false;
  }
  const lines = await sessionLines(async () => assert.equal([await read(), await read()], [401, 401]));
  assert.equal(lines, [['session.timeout', sessionId(cookie), 'success', 'IDLE']]);
  assert.is(row(), 0);
});

test('a session that ran out while its end cannot be committed: the failure follows, and it is told again when it is', async () => {
  const { cookie } = await sessionOf('ivan');
  advance(15 * 60 * 1000);
  const read = () => ask(t, 'GET', '/api/v1/stigs', { Cookie: cookie });
  const ended = ['session.timeout', sessionId(cookie), 'success', 'IDLE'];
  const undone = ['session.timeout', sessionId(cookie), 'failure', 'ROLLED_BACK'];
  await withoutCommits('SQLITE_FULL', async () => assert.equal(await sessionLines(read), [ended, undone]));
  assert.equal(await sessionLines(read), [ended]);
});

test('continue: a stream that cannot be written stops nothing, and the next event tells how much is lost', async () => {
  const own = testAudit(clock, { failure: 'continue' });
  const other = await testApp([], { now: () => clock.now, audit: own.stream });
  const caller = await userCaller(other);
  await ask(other, 'GET', '/api/v1/stigs', caller);
  const make = () => ask(other, 'POST', '/api/v1/lists', caller, { name: 'N' });
  disk.full = true;
  const { status } = await make();
  disk.full = false;
  assert.equal([status, (await make()).status], [201, 201]);
  const lines = own.lines().map(({ action, detail }) => `${action} ${detail?.lost}`);
  assert.equal(lines.slice(1), ['audit.failure 1', 'list.create undefined']);
  own.stream.close();
  other.db.close();
});

test('requests at once do not mix up whose event is whose', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `user${index}`);
  const callers = await Promise.all(names.map((sub) => userCaller(t, { sub, ...times() })));
  const lines = await linesOf(() =>
    Promise.all(
      callers.map((caller, index) => ask(t, 'POST', '/api/v1/lists', caller, { name: names[index] })),
    ),
  );
  const made = lines.filter((line) => line.action === 'list.create');
  assert.is(made.length, names.length);
  for (const line of made) {
    const row = t.db.sqlite
      .prepare('SELECT name, created_by_id FROM bundles WHERE id = ?')
      .get(line.objectId);
    assert.equal(row, { name: line.actor, created_by_id: line.actor });
  }
});

function times(hours = 1) {
  const iat = Math.floor(clock.now.getTime() / 1000);
  return { iat, exp: iat + hours * 3600 };
}

test('no token, cookie, e-mail address or text of a body is in the file', async () => {
  const canary = await userCaller(t, { sub: 'frank', email: 'canary@example.org', ...times() });
  const body = { name: 'canary-name', description: 'canary-description', tags: ['canary-tag'] };
  const { json } = await ask(t, 'POST', '/api/v1/lists', canary, body);
  const own = await sessionCaller(t, canary);
  const integration = await integrationCaller(t, testId(902), [json.id]);
  await ask(t, 'GET', `/api/v1/lists/${json.id}/export?canary=query`, integration);
  await ask(t, 'DELETE', '/api/v1/session', own);
  // Where an id belongs, by a slip, and in an answer that repeats the body.
  const [token, integrationToken] = [canary, integration].map((caller) => caller.Authorization!.slice(7));
  const slips = await linesOf(async () => {
    await ask(t, 'PATCH', `/api/v1/lists/${token}`, canary, { name: 'x' });
    await ask(t, 'PUT', `/api/v1/lists/${json.id}/stigs/${integrationToken}`, canary, { notes: 'x' });
    await ask(t, 'DELETE', '/api/v1/lists/canary%40example.org%20%E2%80%AE', canary);
    const favorite = { framework: 'nist-800-53', controlId: 'canary@example.org' };
    assert.is((await ask(t, 'DELETE', '/api/v1/my-controls', canary, favorite)).status, 200);
  });
  assert.equal(
    slips.map(({ action, objectId, detail }) => [action, objectId, detail]),
    [
      ['list.update', '[token]', null],
      ['list.update-stig', json.id, { stigSlug: '[token]' }],
      ['list.delete', '[email] \uFFFD', null],
      ['favorite-controls.remove', null, { controlId: '[email]', framework: 'nist-800-53' }],
    ],
  );
  const text = readFileSync(audit.file, 'utf8');
  const secrets = [canary, alice, bob, integration].map((caller) =>
    caller.Authorization!.slice('Bearer '.length),
  );
  for (const value of [
    ...secrets,
    cronSecret,
    own.Cookie!.split('=')[1]!,
    'eyJ',
    'gsi_',
    '@example.org',
    'canary',
  ])
    assert.not.ok(text.includes(value), value.slice(0, 12));
  assert.is(verifyAuditFile(audit.file).problem, null);
});

test.run();
