import * as assert from 'uvu/assert';
import { createLog } from '../../src/base/log.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, cookieOf, sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';

// Rule D1.7.
const sessions = suite('Sessions');
const minute = 60_000;

let t: TestApp;
let alice: Caller;
let lines: string[];

sessions.before.each(async () => {
  lines = [];
  t = await testApp([], { log: createLog('info', (line) => lines.push(line)) });
  alice = await userCaller(t, { exp: Math.floor(t.clock.now.getTime() / 1000) + 24 * 3600 });
});

sessions.after.each(() => t.db.close());

const wait = (milliseconds: number) => {
  t.clock.now = new Date(t.clock.now.getTime() + milliseconds);
};
const statusOf = async (caller: Caller) => (await ask(t, 'GET', '/api/v1/my-stigs', caller)).status;
const events = () =>
  lines
    .map((line) => JSON.parse(line))
    .filter((line) => line.msg.startsWith('session'))
    .map((line) => line.reason ?? 'started');

sessions('the cookie is HttpOnly, SameSite=Strict, for every path, and Secure over TLS alone', async () => {
  const answer = await ask(t, 'POST', '/api/v1/session', alice);
  assert.is(answer.status, 204);
  assert.is(answer.headers.get('Cache-Control'), 'no-store');
  assert.match(
    answer.headers.get('Set-Cookie')!,
    /^gapstone_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  const secure = await testApp([], { secureCookies: true });
  const other = await ask(secure, 'POST', '/api/v1/session', await userCaller(secure));
  assert.match(other.headers.get('Set-Cookie')!, /; Secure/);
  secure.db.close();
});

sessions('only SHA-256 is stored, and neither the cookie nor a name is logged', async () => {
  const caller = await sessionCaller(t, alice);
  await ask(t, 'DELETE', '/api/v1/session', caller);
  await sessionCaller(t, alice);
  const secret = caller.Cookie!.split('=')[1]!;
  const stored = JSON.stringify(t.db.sqlite.prepare('SELECT * FROM sessions').all());
  assert.not.ok(stored.includes(secret));
  assert.match(stored, /"hash":"[0-9a-f]{64}"/);
  assert.not.ok(lines.join('').includes(secret));
  assert.not.match(lines.join(''), /alice|eyJ/);
  assert.equal(events(), ['started', 'logoff', 'started']);
});

sessions('15 idle minutes end it, and every use starts them anew', async () => {
  const caller = await sessionCaller(t, alice);
  for (let uses = 0; uses < 8; uses++) {
    wait(15 * minute - 1);
    assert.is(await statusOf(caller), 200);
    wait(30_000);
    assert.is(await statusOf(caller), 200, 'a use that is not written down counts as well');
  }
  wait(15 * minute);
  assert.is(await statusOf(caller), 401);
  assert.is(t.db.sqlite.prepare('SELECT count(*) FROM sessions').pluck().get(), 0);
  assert.equal(events(), ['started', 'idle']);
});

sessions('12 hours end it however busy it is', async () => {
  const caller = await sessionCaller(t, alice);
  for (let passed = 10; passed < 12 * 60; passed += 10) {
    wait(10 * minute);
    assert.is(await statusOf(caller), 200, `${passed} minutes`);
  }
  wait(10 * minute - 1);
  assert.is(await statusOf(caller), 200);
  wait(1);
  assert.is(await statusOf(caller), 401);
  assert.equal(events(), ['started', 'expired']);
});

sessions('it ends with its token at the latest, and with the token’s rights', async () => {
  const exp = Math.floor(t.clock.now.getTime() / 1000) + 300;
  const caller = await sessionCaller(t, await userCaller(t, { exp, org: 'blue', email: 'a@blue.example' }));
  const made = await ask(t, 'POST', '/api/v1/lists', caller, { name: 'N' });
  assert.equal([made.json.organizationId, made.json.createdByEmail], ['blue', 'a@blue.example']);
  wait(299_999);
  assert.is(await statusOf(caller), 200);
  wait(1);
  assert.is(await statusOf(caller), 401);
});

sessions('a clock that jumps back ends a session rather than prolong it', async () => {
  const caller = await sessionCaller(t, alice);
  wait(-30_000);
  assert.is(await statusOf(caller), 200);
  wait(-2 * minute);
  assert.is(await statusOf(caller), 401);
});

sessions('ten for each user: the eleventh ends the oldest; another’s are left alone', async () => {
  const other = await sessionCaller(t, await userCaller(t, { sub: 'bob' }));
  const mine: Caller[] = [];
  for (let count = 0; count < 11; count++) {
    mine.push(await sessionCaller(t, alice));
    wait(1000);
  }
  const statuses = await Promise.all(mine.map(statusOf));
  assert.equal(statuses, [401, ...Array(10).fill(200)]);
  assert.is(await statusOf(other), 200);
  assert.is(events().filter((reason) => reason === 'too many').length, 1);
});

sessions('a new one takes the place of the one that the request carries', async () => {
  const first = await ask(t, 'POST', '/api/v1/session', alice);
  const second = await ask(t, 'POST', '/api/v1/session', { ...alice, Cookie: cookieOf(first) });
  assert.is.not(cookieOf(first), cookieOf(second));
  assert.is(await statusOf({ Cookie: cookieOf(first) }), 401);
  assert.is(await statusOf({ Cookie: cookieOf(second) }), 200);
});

sessions('DELETE ends it and takes the cookie away', async () => {
  const caller = await sessionCaller(t, alice);
  const answer = await ask(t, 'DELETE', '/api/v1/session', caller);
  assert.is(answer.status, 204);
  assert.match(answer.headers.get('Set-Cookie')!, /^gapstone_session=; Max-Age=0; Path=\//);
  assert.is(await statusOf(caller), 401);
  assert.is((await ask(t, 'DELETE', '/api/v1/session', caller)).status, 401);
});

sessions('a session begets no session, and an Authorization header wins over it', async () => {
  const caller = await sessionCaller(t, alice);
  assert.is((await ask(t, 'POST', '/api/v1/session', caller)).status, 401);
  assert.is(await statusOf({ ...caller, Authorization: 'Bearer nonsense' }), 401);
  assert.is(await statusOf({ ...caller, Authorization: '' }), 401);
  const bob = await userCaller(t, { sub: 'bob' });
  const made = await ask(t, 'POST', '/api/v1/lists', { ...caller, ...bob }, { name: 'N' });
  assert.is(made.json.createdById, 'bob');
});

sessions('a sign-in ends twenty that were not used for long, and the next ones the others', async () => {
  const insert = t.db.sqlite.prepare("INSERT INTO sessions VALUES (?, ?, NULL, NULL, '[]', ?, ?, ?, NULL)");
  const at = (hours: number) => new Date(t.clock.now.getTime() + hours * 3600_000).toISOString();
  for (let count = 0; count < 50; count++)
    insert.run(`old ${count}`, `user ${count}`, at(-20), at(-20 + count / 10), at(-8));
  insert.run('in use', 'user 99', at(-1), at(-0.1), at(8));
  const left = () =>
    t.db.sqlite.prepare("SELECT count(*) FROM sessions WHERE hash LIKE 'old%'").pluck().get();
  const seen = [left()];
  for (let count = 0; count < 3; count++) {
    await sessionCaller(t, alice);
    seen.push(left());
  }
  assert.equal(seen, [50, 30, 10, 0]);
  assert.is(events().filter((reason) => reason === 'expired').length, 50);
  assert.is(t.db.sqlite.prepare("SELECT count(*) FROM sessions WHERE hash = 'in use'").pluck().get(), 1);
});

sessions('forged and foreign cookies are 401', async () => {
  const { Cookie } = await sessionCaller(t, alice);
  for (const cookie of [
    'gapstone_session=',
    `gapstone_session=${'A'.repeat(43)}`,
    `${Cookie}A`,
    Cookie!.slice(0, -1),
    Cookie!.replace('gapstone_session', 'Gapstone_Session'),
    `gapstone_session="${Cookie!.split('=')[1]}x"`,
    "gapstone_session=' OR 1=1 --",
    '',
  ])
    assert.is(await statusOf({ Cookie: cookie }), 401, cookie);
  assert.is(await statusOf({ Cookie: `other=1; ${Cookie}; more=2` }), 200);
});

sessions('writes by cookie need the same origin; reads and bearer writes do not', async () => {
  const { Cookie } = (await sessionCaller(t, alice)) as { Cookie: string };
  const write = (headers: Caller) => ask(t, 'POST', '/api/v1/lists', { Cookie, ...headers }, { name: 'N' });
  const allowed: Caller[] = [
    { 'Sec-Fetch-Site': 'same-origin' },
    { 'Sec-Fetch-Site': 'same-origin', Origin: 'http://evil.example' },
    { Origin: 'http://localhost' },
    { Origin: 'https://gapstone.example:8443', Host: 'gapstone.example:8443' },
  ];
  for (const headers of allowed) assert.is((await write(headers)).status, 201, JSON.stringify(headers));
  const refused: Caller[] = [
    ...['cross-site', 'same-site', 'none'].map((site) => ({ 'Sec-Fetch-Site': site })),
    { 'Sec-Fetch-Site': 'cross-site', Origin: 'http://localhost' },
    ...'null http://evil.example http://localhost.evil.example http://localhost:81 localhost'
      .split(' ')
      .map((Origin) => ({ Origin })),
    ...[{}, { Referer: 'http://localhost/' }],
  ];
  const before = t.db.sqlite.prepare('SELECT count(*) FROM bundles').pluck().get();
  for (const headers of refused) {
    const answer = await write(headers);
    assert.is(answer.status, 403, JSON.stringify(headers));
    assert.is(answer.json.error.code, 'FORBIDDEN');
    for (const method of ['PATCH', 'DELETE', 'PUT']) {
      const path = method === 'PUT' ? '/api/v1/lists/x/stigs/y' : '/api/v1/lists/x';
      assert.is((await ask(t, method, path, { Cookie, ...headers }, {})).status, 403, method);
    }
    assert.is((await ask(t, 'DELETE', '/api/v1/session', { Cookie, ...headers })).status, 403);
    assert.is((await ask(t, 'GET', '/api/v1/lists', { Cookie, ...headers })).status, 200);
  }
  assert.is(t.db.sqlite.prepare('SELECT count(*) FROM bundles').pluck().get(), before);
  const bearer = await ask(
    t,
    'POST',
    '/api/v1/lists',
    { ...alice, 'Sec-Fetch-Site': 'cross-site' },
    { name: 'N' },
  );
  assert.is(bearer.status, 201);
});

sessions.run();
