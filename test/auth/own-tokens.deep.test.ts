import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { createOwnTokens } from '../../src/auth/own-tokens.ts';
import type { User } from '../../src/auth/viewer.ts';
import { createPurgeService } from '../../src/collections/retention.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, sessionCaller, testId, userCaller } from '../support/callers.ts';
import { rejects, suite } from '../support/harness.ts';
import { loadPage, textOf } from '../support/pages.ts';
import { shipped } from '../support/reference.ts';
import { runToEnd } from '../support/running.ts';
import { scratchFolder } from '../support/scratch.ts';

// Tokens that users make for their scripts (rule D43.6).
const tokens = suite('Own tokens');
const t: TestApp = await testApp([shipped('stigs'), shipped('roles')]);
tokens.after(() => t.db.close());

const path = '/api/v1/session/tokens';
const ann: User = {
  ...{ kind: 'user', subject: 'ann', email: null, organization: 'red', expiresAt: 2e9 },
  entitlements: new Set(['occ']),
};
const lifetime = 3600;
const serviceOf = (db: Database) =>
  createOwnTokens(
    db,
    () => t.clock.now,
    () => '',
    null,
  );

tokens('a token stands for its maker, wherever a user token is taken', async () => {
  const session = await sessionCaller(t, await userCaller(t, { sub: 'ann', entitlements: ['occ'] }));
  const made = await ask(t, 'POST', path, session, { name: 'nightly', ttl: '30d' });
  assert.is(made.status, 201);
  assert.match(made.json.token, /^gsu_[\w-]{43}$/);
  assert.is(made.headers.get('Location'), `${path}/${made.json.id}`);
  assert.is(made.headers.get('Cache-Control'), 'no-store');
  assert.is(Date.parse(made.json.expiresAt) - Date.parse(made.json.createdAt), 30 * 86_400_000);
  const script = { Authorization: `Bearer ${made.json.token}` };
  for (const to of ['/api/v1/stigs', '/api/v1/roles', '/api/v1/lists', '/api/v1/stigs'])
    assert.is((await ask(t, 'GET', to, script)).status, 200, to);
  assert.is((await ask(t, 'GET', '/api/v1/regdoc', script)).status, 403);
  assert.is((await ask(t, 'POST', '/plants', script, { id: 1, name: 'fern' })).status, 200);
  const list = await ask(t, 'POST', '/api/v1/lists', script, { name: 'N' });
  assert.equal([list.json.createdById, list.json.organizationId], ['ann', 'red']);
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'my_lists', arguments: {} } };
  const mcp = await t.app.request('/mcp', {
    method: 'POST',
    headers: {
      ...script,
      Accept: 'application/json, text/event-stream',
      'Content-Type': 'application/json',
      Host: 'localhost',
    },
    body: JSON.stringify(call),
  });
  assert.match(await mcp.text(), '\\"name\\":\\"N\\"');

  const { json } = await ask(t, 'GET', path, session);
  const { token: _, ...shown } = made.json;
  assert.equal(json, { tokens: [shown] });
  const stored = JSON.stringify(t.db.sqlite.prepare('SELECT * FROM user_tokens').all());
  assert.not.match(stored, made.json.token.slice(4, 20));
  // On its page, shown once.
  const page = await loadPage(t, '/account', session, { name: 'by hand', ttl: '8h' });
  assert.match(page.html, /gsu_[\w-]{43}/);
  const again = await loadPage(t, '/account', session);
  assert.not.match(again.html, 'gsu_');
  assert.match(textOf(again.html), 'by hand');
  const { id } = (await ask(t, 'GET', path, session)).json.tokens.find(
    ({ name }: { name: string }) => name === 'by hand',
  );
  assert.is((await loadPage(t, '/account/revoke', session, { id })).location, '/account');
  assert.is((await ask(t, 'GET', path, session)).json.tokens.length, 1);
  // It ends at its time.
  t.clock.now = new Date(Date.parse(made.json.expiresAt));
  assert.is((await ask(t, 'GET', '/api/v1/stigs', script)).status, 401);
});

tokens('one that wants more than it may is refused', async () => {
  const [olga, bob] = [
    await sessionCaller(t, await userCaller(t, { sub: 'olga' })),
    await sessionCaller(t, await userCaller(t, { sub: 'bob' })),
  ];
  const make = async (caller: Caller) => {
    const { status, json } = await ask(t, 'POST', path, caller, { name: 'n', ttl: '1h' });
    assert.is(status, 201);
    return json as { id: string; token: string };
  };
  const [mine, revoked, his] = [await make(olga), await make(olga), await make(bob)];
  assert.is((await ask(t, 'DELETE', `${path}/${revoked.id}`, olga)).status, 204);
  const bearer = (token: string): Caller => ({ Authorization: `Bearer ${token}` });
  const own = bearer(mine.token);
  const lasting = { name: 'n', ttl: '1h' };
  for (const [what, status, method, to, caller, body] of [
    ['makes a session', 403, 'POST', '/api/v1/session', own, {}],
    ['makes a token', 401, 'POST', path, own, lasting],
    ['lists tokens', 401, 'GET', path, own],
    ['revokes', 401, 'DELETE', `${path}/${mine.id}`, own],
    ['was revoked', 401, 'GET', '/api/v1/stigs', bearer(revoked.token)],
    ['is guessed', 401, 'GET', '/api/v1/stigs', bearer(`gsu_${'x'.repeat(43)}`)],
    ['is a cookie', 401, 'GET', '/api/v1/stigs', { Cookie: `gapstone_session=${mine.token}` }],
    ['revokes another’s', 404, 'DELETE', `${path}/${his.id}`, olga],
    ['lives too long', 400, 'POST', path, olga, { name: 'n', ttl: '31d' }],
    ['lives for ever', 400, 'POST', path, olga, { name: 'n' }],
    ['has two lines', 400, 'POST', path, olga, { name: 'a\nb', ttl: '1h' }],
    ['is made by another site', 403, 'POST', path, { ...olga, 'Sec-Fetch-Site': 'cross-site' }, lasting],
  ] as [string, number, string, string, Caller, object?][])
    assert.is((await ask(t, method, to, caller, body)).status, status, what);
  const pasted = await loadPage(t, '/signin', { 'Sec-Fetch-Site': 'same-origin' }, { token: mine.token });
  assert.is(pasted.status, 403);
  for (let count = 1; count < 50; count++) await make(olga);
  assert.is((await ask(t, 'POST', path, olga, lasting)).status, 400, 'the 51st');
  assert.is((await ask(t, 'GET', '/api/v1/stigs', own)).status, 200);
});

tokens('it ends with the local key and with the certificate of its session', async () => {
  let key = 'one';
  let standing: 'good' | 'over' | 'unknown' = 'good';
  const now = () => t.clock.now;
  const service = createOwnTokens(t.db, now, () => key, { standing: () => standing });
  const made = await service.create({ ...ann, certificate: 'MIIB' }, { id: testId(1), name: 'n', lifetime });
  assert.is((await service.find(made.token)).ownToken, testId(1));
  for (const bad of ['over', 'unknown'] as const) {
    standing = bad;
    await rejects(service.find(made.token), /Missing or invalid/);
  }
  standing = 'good';
  await service.find(made.token);
  // Without certificates being set up none counts that one made.
  await rejects(createOwnTokens(t.db, now, () => key, null).find(made.token), /Missing or invalid/);
  key = 'two';
  await rejects(service.find(made.token), /Missing or invalid/);
});

tokens('a purge removes those that expired a month ago', async () => {
  const service = serviceOf(t.db);
  const count = () =>
    t.db.sqlite.prepare("SELECT count(*) FROM user_tokens WHERE subject = 'old'").pluck().get();
  await service.create({ ...ann, subject: 'old' }, { id: testId(2), name: 'n', lifetime });
  const purges = createPurgeService(t.db, () => t.clock.now);
  t.clock.now = new Date(t.clock.now.getTime() + 30 * 86_400_000);
  await purges.purge();
  assert.is(count(), 1);
  t.clock.now = new Date(t.clock.now.getTime() + lifetime * 1000 + 1000);
  await purges.purge();
  assert.is(count(), 0);
});

tokens('operators list and revoke them; a restore leaves none', async () => {
  const cwd = scratchFolder();
  const files = { db: join(cwd, 'gapstone.db'), usersDb: join(cwd, 'gapstone-users.db') };
  let token = '';
  {
    using db = openDatabase(files, { create: true });
    const service = serviceOf(db);
    ({ token } = await service.create(ann, { id: testId(3), name: 'nightly', lifetime }));
    await service.create(ann, { id: testId(4), name: 'other', lifetime });
  }
  const backup = await runToEnd(cwd, ['backup', 'b.zip']);
  assert.is(backup.code, 0, backup.stderr);
  const revoked = await runToEnd(cwd, ['token', 'user', 'revoke', testId(3)]);
  assert.is(revoked.code, 0, revoked.stderr);
  const listed = await runToEnd(cwd, ['token', 'user', 'list', '--json']);
  const states = listed.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(
    states.map(({ id, state, subject, name }) => [id, state, subject, name]),
    [
      [testId(3), 'revoked', 'ann', 'nightly'],
      [testId(4), 'active', 'ann', 'other'],
    ],
  );
  assert.not.match(listed.stdout, /hash|gsu_/);
  assert.is((await runToEnd(cwd, ['restore', 'b.zip'])).code, 0);
  using db = openDatabase(files);
  assert.is(db.sqlite.prepare('SELECT count(*) FROM user_tokens').pluck().get(), 0);
  await rejects(serviceOf(db).find(token), /Missing or invalid/);
});

tokens.run();
