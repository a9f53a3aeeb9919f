import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { type Database, openCatalog } from '../../src/db/database.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { assertError, assertSecurityHeaders, loggedApp } from '../support/service.ts';
import { rowsOf } from '../support/tables.ts';

const service = suite('Service endpoints, failures and log lines');

async function filled(): Promise<Database> {
  const db = openCatalog(':memory:', { create: true });
  await runImport(db, [shipped('stigs')]);
  return db;
}

async function ask(app: ReturnType<typeof loggedApp>['app'], path: string, init: RequestInit = {}) {
  const response = await app.request(path, { headers: { Authorization: 'Bearer x' }, ...init });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
}

service('readyz is 503 while stopping and without a database; healthz stays 200', async () => {
  const db = await filled();
  const { app, state } = loggedApp(db);
  state.draining = true;
  const draining = await ask(app, '/readyz');
  assertError(draining, 503, 'UNAVAILABLE', 'The service is stopping');
  assert.match(draining.headers.get('Retry-After')!, /^\d+$/);
  assert.is((await ask(app, '/healthz')).status, 200);
  state.draining = false;
  assert.is((await ask(app, '/readyz')).status, 200);
  db.close();
  const closed = await ask(app, '/readyz');
  assertError(closed, 503, 'UNAVAILABLE', 'The database cannot be read or written');
  assert.match(closed.headers.get('Retry-After')!, /^\d+$/);
  assert.is((await ask(app, '/healthz')).status, 200);
});

service('an inner failure is 500 with the request id and nothing else; the log has the rest', async () => {
  const db = await filled();
  const { app, lines } = loggedApp(db);
  db.sqlite.exec('ALTER TABLE findings RENAME TO gone');
  for (const path of ['/api/v1/stigs/harbor_linux_3', '/api/v1/stigs/harbor_linux_3/download?format=csv']) {
    const answer = await ask(app, path, {
      headers: { Authorization: 'Bearer x', 'X-Request-Id': 'trace-me' },
    });
    const message = 'Something went wrong. The server log has the details under this request ID';
    assertError(answer, 500, 'INTERNAL_ERROR', message);
    assertSecurityHeaders(answer.headers);
    assert.not.match(answer.text, /findings|sqlite|select|\bat |\.ts|\.js|\//i);
  }
  const failures = lines().filter((line) => line.level === 'error');
  assert.is(failures.length, 2);
  for (const failure of failures) {
    assert.is(failure.requestId, 'trace-me');
    assert.match(failure.error, /no such table: findings/);
  }
  db.close();
});

service(
  'a request is one log line: the template of its route, never its path, query, slug or token',
  async () => {
    const db = await filled();
    const { app, lines } = loggedApp(db);
    const headers = {
      ...{
        Authorization: 'Bearer eyJhbGciOiJub25lIn0.canary-token.x',
        Cookie: 'gapstone_session=canary-cookie',
      },
      ...{ Referer: 'https://canary-referer.example/', 'X-Request-Id': 'log-test' },
    };
    const stig = '/api/v1/stigs/:slug';
    const requests = rowsOf(`
    GET | /api/v1/stigs?search=canary-search | 200 | /api/v1/stigs
    GET | /api/v1/stigs/canary_slug/controls?search=canary-search | 404 | ${stig}/controls
    HEAD | /api/v1/stigs/harbor_linux_3/download?hostName=canary-host | 200 | ${stig}/download
    GET | /api/v1/stigs?page=canary-page | 400 | /api/v1/stigs
    GET | /canary-path/x | 404 |
    DELETE | /api/v1/stigs/canary_slug | 405 |
  `) as [string, string, string, string][];
    for (const [method, path] of requests) await app.request(path, { method, headers });
    const logged = lines();
    assert.is(logged.length, requests.length);
    for (const [index, [method, , status, route]] of requests.entries()) {
      const { time, durationMs, bytes, ...rest } = logged[index];
      const known = route === '' ? {} : { tokenType: 'user', subjectHash: '2bd806c97f0e' };
      assert.equal(rest, {
        ...{ level: 'info', msg: 'request', requestId: 'log-test', method, status: Number(status) },
        ...{ route: route || null, ...known },
      });
      assert.ok(Number.isInteger(bytes) && bytes > 0 && durationMs >= 0);
      assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    assert.not.match(JSON.stringify(logged), /canary|eyJ|harbor/);
    db.close();
  },
);

service.run();
