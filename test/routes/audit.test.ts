import { fdatasyncSync, readFileSync, writeSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { verifyAuditFile } from '../../src/audit/verify.ts';
import { sha256 } from '../../src/base/ids.ts';
import { createLog } from '../../src/base/log.ts';
import {
  createDocumentCollectionService,
  createRoleCollectionService,
} from '../../src/collections/catalog-collections.ts';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import { type AuditLine, fullDisk, type TestAudit, testAudit } from '../support/audit.ts';
import {
  ask,
  type Caller,
  cookieOf,
  integrationCaller,
  sessionCaller,
  testId,
  userCaller,
} from '../support/callers.ts';
import { addControls } from '../support/control-rows.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { assertError } from '../support/service.ts';

// Alice of red owns everything; bob is of red too. Ids are counted: the list is 1, its collection of controls 2.
const test = suite('Audit: what requests leave in the stream');
const clock = { now: new Date('2026-11-21T12:00:00Z') };
const list = testId(1);
const collection = testId(2);
const [documents, roles] = [testId(801), testId(802)] as [string, string];
const secret = 'the-cron-secret';
const ids = { next: 1 };
const { disk, io } = fullDisk(
  (fd, bytes) => writeSync(fd, bytes),
  (fd) => fdatasyncSync(fd),
);

/** What the log says of sessions. */
const logLines: string[] = [];
const sessionLog = createLog('info', (line) => {
  if (line.includes('"msg":"session')) logLines.push(line);
});
let t: TestApp;
let audit: TestAudit;
let alice: Caller;
let bob: Caller;
let session: Caller;

test.before(async () => {
  audit = testAudit(clock, { io });
  t = await testApp([shipped('stigs'), shipped('roles'), shipped('regulatory')], {
    now: () => clock.now,
    audit: audit.stream,
    log: sessionLog,
    cronSecret: secret,
    newId: () => testId(ids.next++),
  });
  addControls(t.db);
  const claims = { entitlements: ['regdoc', 'occ'] };
  alice = await userCaller(t, claims);
  bob = await userCaller(t, { sub: 'bob', email: 'bob@example.org' });
  await ask(t, 'POST', '/api/v1/lists', alice, { name: 'N', visibility: 'SHARED' });
  await ask(t, 'POST', '/api/v1/control-collections', alice, { name: 'N', visibility: 'SHARED' });
  const owner = { kind: 'user', subject: 'alice', email: null, organization: 'red', expiresAt: 0 } as const;
  const user = { ...owner, entitlements: new Set<never>() };
  const fields = { name: 'N', description: '', tags: [], color: '', visibility: 'SHARED' as const };
  const now = () => clock.now;
  await createDocumentCollectionService(t.db, now, () => documents).create(user, fields, [
    'harbor-basic-directive',
  ]);
  await createRoleCollectionService(t.db, now, () => roles).create(user, fields, ['15-1244.00']);
  await ask(t, 'POST', `/api/v1/lists/${list}/stigs`, alice, { slugs: ['lantern_web_server_2'] });
  session = await sessionCaller(t, alice);
  const made = await ask(t, 'POST', '/api/v1/session/tokens', session, { name: 'n', ttl: '1h' });
  assert.is(made.json.id, ownToken);
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

const ac2 = { controlId: 'AC-2', framework: 'nist-800-53' };
const slugs = ['harbor_linux_3'];
/** A token that alice made. */
const ownToken = testId(3);
const cron = { Authorization: `Bearer ${secret}` };

interface Row {
  request: string;
  path?: string;
  body?: unknown;
  caller?: () => Caller;
  status?: number;
  /** The event: action, object, detail. */
  event: [action: string, objectId: string | null, detail: unknown];
}

/** Every audited route, in an order in which each succeeds. */
const table: Row[] = [
  {
    request: 'post /api/v1/lists',
    body: { name: 'A' },
    status: 201,
    event: ['list.create', testId(3), { visibility: 'PRIVATE' }],
  },
  {
    request: 'patch /api/v1/lists/{id}',
    body: { visibility: 'SHARED' },
    event: ['list.update', list, { visibility: 'SHARED' }],
  },
  {
    request: 'post /api/v1/lists/{id}/stigs',
    body: { slugs },
    event: ['list.add-stigs', list, { added: 1 }],
  },
  {
    request: 'put /api/v1/lists/{id}/stigs/{stigSlug}',
    path: `/api/v1/lists/${list}/stigs/lantern_web_server_2`,
    body: { notes: 'x' },
    event: ['list.update-stig', list, { stigSlug: 'lantern_web_server_2' }],
  },
  { request: 'get /api/v1/lists/{id}/export', event: ['list.export', list, null] },
  {
    request: 'post /api/v1/lists/{id}/checklists',
    body: { hosts: [{ hostName: 'web01' }] },
    event: ['list.checklists', list, null],
  },
  {
    request: 'put /api/v1/lists/{id}/hosts',
    body: { hosts: [{ hostName: 'web01' }] },
    event: ['list.set-hosts', list, null],
  },
  {
    request: 'put /api/v1/lists/{id}/seen',
    body: { at: null },
    event: ['list.mark-seen', list, null],
  },
  {
    request: 'delete /api/v1/lists/{id}/stigs',
    body: { slugs },
    event: ['list.remove-stigs', list, { count: 1 }],
  },
  {
    request: 'post /api/v1/lists/{id}/duplicate',
    status: 201,
    event: ['list.duplicate', list, { visibility: 'PRIVATE', madeId: testId(4) }],
  },
  { request: 'delete /api/v1/lists/{id}', event: ['list.delete', list, null] },
  { request: 'post /api/v1/lists/{id}/restore', event: ['list.restore', list, { visibility: 'SHARED' }] },
  {
    request: 'post /api/v1/control-collections',
    body: { name: 'A' },
    status: 201,
    event: ['control-collection.create', testId(5), { visibility: 'PRIVATE' }],
  },
  {
    request: 'patch /api/v1/control-collections/{id}',
    body: { name: 'B' },
    event: ['control-collection.update', collection, null],
  },
  {
    request: 'post /api/v1/control-collections/{id}/controls',
    body: { controls: [ac2] },
    event: ['control-collection.add-controls', collection, { added: 1 }],
  },
  {
    request: 'get /api/v1/control-collections/{id}/export',
    event: ['control-collection.export', collection, null],
  },
  {
    request: 'delete /api/v1/control-collections/{id}/controls',
    body: { controls: [ac2] },
    event: ['control-collection.remove-controls', collection, { count: 1 }],
  },
  {
    request: 'delete /api/v1/control-collections/{id}',
    event: ['control-collection.delete', collection, null],
  },
  { request: 'post /api/v1/my-stigs', body: { slugs }, event: ['favorite-stigs.add', null, { added: 1 }] },
  {
    request: 'delete /api/v1/my-stigs',
    body: { slugs },
    event: ['favorite-stigs.remove', null, { count: 1 }],
  },
  {
    request: 'post /api/v1/my-controls',
    body: ac2,
    event: ['favorite-controls.add', testId(6), { controlId: 'AC-2', framework: 'nist-800-53' }],
  },
  {
    request: 'delete /api/v1/my-controls',
    body: ac2,
    event: ['favorite-controls.remove', null, { controlId: 'AC-2', framework: 'nist-800-53' }],
  },
  {
    request: 'get /api/v1/regdoc-collections/{id}/export',
    path: `/api/v1/regdoc-collections/${documents}/export`,
    event: ['regdoc-collection.export', documents, null],
  },
  {
    request: 'get /api/v1/role-collections/{id}/export',
    path: `/api/v1/role-collections/${roles}/export?format=csv`,
    event: ['role-collection.export', roles, null],
  },
  {
    request: 'get /api/cron/purge-deleted-lists',
    caller: () => cron,
    event: ['deleted-lists.purge', null, { count: 0 }],
  },
  {
    request: 'post /api/cron/purge-deleted-lists',
    caller: () => cron,
    event: ['deleted-lists.purge', null, { count: 0 }],
  },
  {
    request: 'post /api/v1/session/tokens',
    caller: () => session,
    body: { name: 'n', ttl: '1h' },
    status: 201,
    event: ['user-token.create', testId(7), null],
  },
  {
    request: 'delete /api/v1/session/tokens/{id}',
    path: `/api/v1/session/tokens/${ownToken}`,
    caller: () => session,
    status: 204,
    event: ['user-token.revoke', ownToken, null],
  },
  { request: 'post /api/v1/session', status: 204, event: ['session.create', 'hash', null] },
  {
    request: 'delete /api/v1/session',
    caller: () => session,
    status: 204,
    event: ['session.end', 'hash', null],
  },
];

function send(row: Row): Promise<Answer> {
  const [method, route] = row.request.split(' ') as [string, string];
  const id = route.includes('control-collections') ? collection : list;
  return ask(
    t,
    method.toUpperCase(),
    row.path ?? route.replace('{id}', id),
    (row.caller ?? (() => alice))(),
    row.body,
  );
}

/** What users own, and the sessions: what a refused request must leave as it was. */
function usersData(): unknown {
  const tables = [
    'bundles',
    'list_stigs',
    'collection_controls',
    'favorite_stigs',
    'favorite_controls',
    'sessions',
    'user_tokens',
    'clock',
  ];
  return tables.map((name) => t.db.sqlite.prepare(`SELECT * FROM ${name}`).all());
}

test('every route that changes something declares its event, and the table has each', async () => {
  // These take a body and change nothing.
  const reading = [
    'post /api/v1/stigs/batch',
    'post /api/v1/crosswalk/resolve/batch',
    'post /api/v1/checklists/upgrade',
    'post /api/v1/checklists/from-results',
    'post /api/v1/checklists/inspect',
    'post /api/v1/checklists/emass',
    'post /api/v1/references',
    'post /plants',
  ];
  const { json: document } = await ask(t, 'GET', '/openapi.json', {});
  const declared: string[] = [];
  type Operations = Record<string, { 'x-audit'?: string; 'x-access': string }>;
  for (const [path, operations] of Object.entries<Operations>(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const name = `${method} ${path}`;
      const changes =
        method !== 'get' ||
        operation['x-access'] === 'cron' ||
        /-collections\/\{id\}\/export|lists\/\{id\}\/export/.test(path);
      const action = operation['x-audit'];
      assert.is(action !== undefined, changes && !reading.includes(name), name);
      if (action === undefined) continue;
      declared.push(name);
      assert.is(table.find((row) => row.request === name)?.event[0], action, name);
    }
  }
  assert.equal(declared.sort(), table.map((row) => row.request).sort());
});

test('stop: while the stream cannot be written, every such request is a 503 and changes nothing; reads go on', async () => {
  const before = usersData();
  const lines = audit.lines().length;
  disk.full = true;
  try {
    for (const row of table) {
      const answer = await send(row);
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
  ids.next = 3;
  for (const row of table) {
    const [action, objectId, detail] = row.event;
    let answer: Answer | undefined;
    const lines = await linesOf(async () => {
      answer = await send(row);
    });
    assert.is(answer!.status, row.status ?? 200, `${row.request}: ${answer!.text}`);
    const own = lines.filter((line) => !['audit.failure', 'auth.failure'].includes(line.action));
    assert.is(own.length, 1, `${row.request}: ${JSON.stringify(own)}`);
    const line = own[0]!;
    const isCron = action === 'deleted-lists.purge';
    const id = objectId === 'hash' ? line.objectId : objectId;
    if (objectId === 'hash') assert.match(line.objectId!, /^[0-9a-f]{12}$/);
    const { seq: _, hash: __, prevHash: ___, ...kept } = line;
    assert.equal(kept, {
      time: clock.now.toISOString(),
      actorType: isCron ? 'system' : 'user',
      actor: isCron ? 'scheduler' : 'alice',
      org: isCron ? null : 'red',
      action,
      objectType: action.split('.')[0],
      objectId: id,
      outcome: 'success',
      reason: null,
      requestId: answer!.headers.get('X-Request-Id'),
      source: 'unknown',
      detail,
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
  assert.equal(await shapes(() => ask(t, 'GET', '/api/v1/regdoc', bob)), [
    ['entitlement.denied', 'bob', 'GET /api/v1/regdoc', 'denied', 'FORBIDDEN'],
  ]);
});

test('a gated role mapping is told of, and answers as ever', async () => {
  const own = await sessionCaller(t, bob);
  const mapping = (id: string) => ask(t, 'GET', `/api/v1/role-mapping/benchmark/${id}/roles`, own);
  const lines = await linesOf(async () => {
    for (const id of ['harbor_linux_3', 'nothing_here']) {
      assert.equal((await mapping(id)).json, { gated: true, federal: false, mappings: [] });
    }
  });
  assert.equal(
    lines.map((line) => [line.action, line.actor, line.objectId]),
    [['entitlement.denied', 'bob', 'GET /api/v1/role-mapping/benchmark/:benchmarkId/roles']],
  );
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

test('a commit that fails after its event was written leaves a second event that says so', async () => {
  const before = usersData();
  const unhook = t.db.within((work) => {
    work();
    throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_BUSY' });
  });
  const caller = await userCaller(t);
  await ask(t, 'GET', '/api/v1/stigs', caller);
  const lines = await linesOf(async () => {
    const answer = await ask(t, 'POST', '/api/v1/lists', caller, { name: 'lost' });
    assert.is(answer.status, 503);
  });
  unhook();
  assert.equal(usersData(), before);
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
  const before = usersData();
  const logged = logLines.length;
  const unhook = t.db.within((work) => {
    work();
    throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  });
  let id: string | null = null;
  try {
    const lines = await sessionLines(async () => {
      const answer = await ask(t, 'POST', '/api/v1/session', { ...caller, Cookie: cookie });
      assert.is(answer.status, 503);
      assert.is(answer.headers.get('Set-Cookie'), null);
    });
    id = lines[1]![1] as string;
    assert.equal(lines, [
      ['session.renew', sessionId(cookie), 'success', 'REPLACED'],
      ['session.create', id, 'success', null],
      ['session.renew', sessionId(cookie), 'failure', 'ROLLED_BACK'],
      ['session.create', null, 'failure', 'UNAVAILABLE'],
    ]);
    const logoff = await ask(t, 'DELETE', '/api/v1/session', {
      Cookie: cookie,
      'Sec-Fetch-Site': 'same-origin',
    });
    assert.is(logoff.status, 503);
  } finally {
    unhook();
  }
  assert.equal(usersData(), before);
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
  // Not by `ask`: no route declares a 500.
  const read = async () => (await t.app.request('/api/v1/stigs', { headers: { Cookie: cookie } })).status;
  // A foreign key that is only looked at by the commit.
  t.db.sqlite.exec(`
    CREATE TABLE spoil (id INTEGER REFERENCES stigs (id) DEFERRABLE INITIALLY DEFERRED);
    CREATE TRIGGER spoil_commit AFTER DELETE ON sessions BEGIN INSERT INTO spoil VALUES (-1); END;
  `);
  try {
    assert.equal(await sessionLines(async () => assert.is(await read(), 500)), [
      ['session.timeout', sessionId(cookie), 'success', 'IDLE'],
      ['session.timeout', sessionId(cookie), 'failure', 'ROLLED_BACK'],
    ]);
    const row = t.db.sqlite.prepare("SELECT count(*) FROM sessions WHERE subject = 'ivan'").pluck().get();
    assert.is(row, 1);
  } finally {
    t.db.sqlite.exec('DROP TRIGGER spoil_commit; DROP TABLE spoil');
  }
  assert.equal(await sessionLines(read), [['session.timeout', sessionId(cookie), 'success', 'IDLE']]);
});

test('continue: a stream that cannot be written stops nothing, and says afterwards how much is lost', async () => {
  const own = testAudit(clock, { failure: 'continue', io });
  const other = await testApp([shipped('stigs')], { now: () => clock.now, audit: own.stream });
  const caller = await userCaller(other);
  await ask(other, 'GET', '/api/v1/stigs', caller);
  disk.full = true;
  const { status, json } = await ask(other, 'POST', '/api/v1/lists', caller, { name: 'N' });
  assert.is(status, 201);
  assert.is((await ask(other, 'GET', `/api/v1/lists/${json.id}/export`, caller)).status, 200);
  disk.full = false;
  assert.is((await ask(other, 'DELETE', `/api/v1/lists/${json.id}`, caller)).status, 200);
  assert.equal(
    own
      .lines()
      .slice(1)
      .map((line) => [line.action, line.detail]),
    [
      ['audit.failure', { lost: 2, refused: 0, since: clock.now.toISOString() }],
      ['list.delete', null],
    ],
  );
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
    secret,
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
