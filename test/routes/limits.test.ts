import * as assert from 'uvu/assert';
import { createLimiter } from '../../src/http/limits.ts';
import { beginRecord } from '../../src/http/record.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { integrationCaller, sessionCaller, userCaller } from '../support/callers.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';

const limits = suite('Rate limits and CORS');

const clock = { now: 0 };

/** An application with a limit of 20 requests a minute: 2 expensive ones, 2 invalid tokens. */
function limited(): Promise<TestApp> {
  clock.now = 0;
  return testApp([shipped('stigs')], { limiter: createLimiter(20, () => clock.now) });
}

/** A request from an address, as the server hands it over. */
async function from(
  t: TestApp,
  remote: string,
  path: string,
  headers: Record<string, string> = {},
  init = {},
) {
  const record = beginRecord({ method: 'GET', remote, secure: false }, () => undefined);
  const response = await t.app.request(path, { headers, ...init }, { record });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** How many of some equal requests are answered before the first 429, which must have the documented form. */
async function untilLimited(ask: () => ReturnType<typeof from>): Promise<number> {
  for (let passed = 0; passed < 100; passed++) {
    const answer = await ask();
    if (answer.status !== 429) continue;
    const { error } = JSON.parse(answer.text);
    assert.equal(
      [error.code, error.message],
      ['TOO_MANY_REQUESTS', 'Too many requests. Try again after the seconds in Retry-After'],
    );
    assert.is(error.requestId, answer.headers.get('X-Request-Id'));
    assert.match(answer.headers.get('Retry-After')!, /^[1-9]\d*$/);
    assert.is(answer.headers.get('Cache-Control'), 'no-store');
    assert.is(answer.headers.get('X-Content-Type-Options'), 'nosniff');
    return passed;
  }
  return Number.POSITIVE_INFINITY;
}

limits(
  'a user is limited wherever it calls from, by token and session together; others are not',
  async () => {
    const t = await limited();
    const alice = await userCaller(t);
    const session = await sessionCaller(t, alice);
    // The session took one.
    const ask = (remote: string, caller: Record<string, string>) => from(t, remote, '/api/v1/stigs', caller);
    for (let i = 0; i < 9; i++) {
      assert.is((await ask('10.0.0.1', alice)).status, 200);
      assert.is((await ask('10.0.0.2', session)).status, 200);
    }
    assert.is(await untilLimited(() => ask('10.0.0.3', alice)), 1);
    assert.is((await ask('10.0.0.3', session)).status, 429);
    assert.is((await ask('10.0.0.3', await userCaller(t, { sub: 'bob' }))).status, 200);
    const program = await integrationCaller(t, 'alice', []);
    assert.is((await from(t, '10.0.0.3', '/api/v1/lists', program)).status, 200, 'a program is no user');
    clock.now += 3000;
    assert.is(await untilLimited(() => ask('10.0.0.3', alice)), 1, 'one more after three seconds');
    t.db.close();
  },
);

limits('public routes, unknown paths and requests without a token are limited by address', async () => {
  for (const path of ['/api/v1/controls/nist-800-53', '/nowhere', '/api/v1/stigs']) {
    const t = await limited();
    const ask = (remote: string) => from(t, remote, path);
    assert.is(await untilLimited(() => ask('192.0.2.1')), 20, path);
    assert.not.equal((await ask('192.0.2.2')).status, 429);
    assert.is(await untilLimited(() => ask('2001:db8:1:2::7')), 20, path);
    assert.is((await ask('2001:db8:1:2:ffff::1')).status, 429, 'a network of 64 bits is one caller');
    assert.not.equal((await ask('2001:db8:1:3::7')).status, 429);
    const alice = await userCaller(t);
    assert.is((await from(t, '192.0.2.1', '/api/v1/stigs', alice)).status, 200, 'who has a token goes by it');
    t.db.close();
  }
});

limits('expensive routes have a tenth of it', async () => {
  const t = await limited();
  const alice = await userCaller(t);
  const body = { method: 'POST', body: '{"slugs":["harbor_linux_3"]}' };
  const pairs = { method: 'POST', body: '{"ccis":["CCI-000366"]}' };
  const deep = '/api/v1/crosswalk/resolve?from=cci:CCI-000366&to=nist-800-53&maxHops=';
  assert.is((await from(t, '10.0.0.1', '/api/v1/stigs/batch', alice, body)).status, 200);
  const download = () => from(t, '10.0.0.1', '/api/v1/stigs/harbor_linux_3/download', alice);
  assert.is(await untilLimited(download), 1);
  assert.is((await from(t, '10.0.0.1', '/api/v1/stigs', alice)).status, 200, 'the rest is still there');
  assert.is((await from(t, '10.0.0.1', '/api/v1/crosswalk/resolve/batch', {}, pairs)).status, 200);
  assert.is((await from(t, '10.0.0.1', `${deep}5`)).status, 200);
  assert.is((await from(t, '10.0.0.1', `${deep}5`)).status, 429);
  assert.is((await from(t, '10.0.0.1', `${deep}4`)).status, 200, 'up to four hops it is a look-up');
  assert.is((await from(t, '10.0.0.1', `${deep}4&explain=true`)).status, 429, 'evidence is expensive');
  t.db.close();
});

limits('who watches the service is never limited', async () => {
  const t = await limited();
  for (const path of ['/healthz', '/readyz', '/metrics'])
    assert.is(await untilLimited(() => from(t, '10.0.0.1', path)), Number.POSITIVE_INFINITY, path);
  t.db.close();
});

limits('an address with too many invalid tokens is turned away before they are looked at', async () => {
  let looks = 0;
  const verify = async () => {
    looks++;
    throw new Error('invalid');
  };
  for (const credentials of [
    { Authorization: 'Bearer nonsense' },
    { Authorization: `Bearer gsi_${'A'.repeat(43)}` },
    { Authorization: 'Basic eDp5' },
    { Cookie: `gapstone_session=${'A'.repeat(43)}` },
  ]) {
    clock.now = 0;
    looks = 0;
    const t = await testApp([], { limiter: createLimiter(20, () => clock.now), verify });
    const ask = (remote: string) => from(t, remote, '/api/v1/lists', credentials);
    assert.is(await untilLimited(() => ask('10.0.0.1')), 2);
    const before = looks;
    assert.is((await ask('10.0.0.1')).status, 429);
    assert.is(looks, before, 'not looked at');
    assert.not.equal((await ask('10.0.0.2')).status, 429);
    clock.now += 30_000;
    assert.is(await untilLimited(() => ask('10.0.0.1')), 1, 'one more after half a minute');
    t.db.close();
  }
});

limits('the secret of the purge cannot be guessed at any speed', async () => {
  clock.now = 0;
  const t = await testApp([], { limiter: createLimiter(20, () => clock.now), cronSecret: 'secret' });
  const path = '/api/cron/purge-deleted-lists';
  const guess = () => from(t, '10.0.0.1', path, { Authorization: 'Bearer guess' });
  assert.is(await untilLimited(guess), 2);
  assert.is((await from(t, '10.0.0.2', path, { Authorization: 'Bearer secret' })).status, 200);
  t.db.close();
});

limits('the sample endpoint keeps its own form of errors', async () => {
  const t = await limited();
  const alice = await userCaller(t);
  const plant = { method: 'POST', body: '{"name":"fern","id":1}' };
  for (let i = 0; i < 20; i++) assert.is((await from(t, '', '/plants', alice, plant)).status, 200);
  const over = await from(t, '', '/plants', alice, plant);
  assert.is(over.status, 429);
  assert.is(JSON.parse(over.text).error, 429);
  assert.is(over.headers.get('Retry-After'), '3');
  t.db.close();
});

limits('a body limit is a matter of the configuration', async () => {
  const t = await testApp([], { maxBody: 2048 });
  const post = (bytes: number) => t.send('POST', '/api/v1/crosswalk/resolve/batch', ' '.repeat(bytes));
  assert.is((await post(2048)).status, 400);
  const over = await post(2049);
  assert.is(over.status, 413);
  assert.is(over.json.error.message, 'The request body is larger than 2048 bytes');
  t.db.close();
});

const origin = 'https://portal.example.org';

limits('without configured origins no header speaks of CORS, and OPTIONS is 405 with Allow', async () => {
  const t = await testApp();
  const preflight = { Origin: origin, 'Access-Control-Request-Method': 'GET' };
  const options = await from(t, '', '/api/v1/stigs', preflight, { method: 'OPTIONS' });
  assert.equal([options.status, options.headers.get('Allow')], [405, 'GET, HEAD']);
  for (const answer of [await from(t, '', '/api/v1/controls/nist-800-53', { Origin: origin }), options]) {
    for (const [name] of answer.headers) assert.not.match(name, /^access-control/i);
    assert.not.match(answer.headers.get('Vary') ?? '', /origin/i);
  }
  t.db.close();
});

limits('a configured origin may read answers, without cookies; no other may', async () => {
  const t = await testApp([], { corsOrigins: [origin, 'http://localhost:3000'] });
  for (const path of ['/api/v1/controls/nist-800-53', '/api/v1/stigs', '/nowhere']) {
    const { headers } = await from(t, '', path, { Origin: origin });
    const [allowed, credentials] = ['Origin', 'Credentials'].map((name) =>
      headers.get(`Access-Control-Allow-${name}`),
    );
    assert.equal([allowed, credentials], [origin, null], path);
    const exposed = headers.get('Access-Control-Expose-Headers')!.split(',');
    for (const name of ['ETag', 'Location', 'Retry-After', 'X-Classification', 'X-Not-In-Catalog'])
      assert.ok(exposed.includes(name), name);
    assert.match(headers.get('Vary')!, /(^|, )Origin$/);
  }
  const others = ['null', 'https://portal.example.org.evil.test', 'http://portal.example.org', '*'];
  for (const headers of [{}, ...others.map((Origin) => ({ Origin }))]) {
    const answer = await from(t, '', '/api/v1/controls/nist-800-53', headers as Record<string, string>);
    assert.is(answer.headers.get('Access-Control-Allow-Origin'), null, JSON.stringify(headers));
    assert.match(answer.headers.get('Vary')!, /(^|, )Origin$/);
  }
  const preflight = (Origin: string) => {
    const headers = { Origin, 'Access-Control-Request-Method': 'PUT' };
    return from(t, '', '/api/v1/lists/x/stigs/y', headers, { method: 'OPTIONS' });
  };
  const { status, headers } = await preflight(origin);
  assert.equal([status, headers.get('Access-Control-Allow-Origin')], [204, origin]);
  assert.is(headers.get('Access-Control-Allow-Methods'), 'GET,HEAD,POST,PUT,PATCH,DELETE');
  assert.match(headers.get('Access-Control-Allow-Headers')!, /\bAuthorization\b/);
  assert.is(headers.get('X-Content-Type-Options'), 'nosniff');
  const refused = await preflight('https://evil.test');
  assert.equal([refused.status, refused.headers.get('Access-Control-Allow-Origin')], [405, null]);
  t.db.close();
});

limits.run();
