import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { type Database, openCatalog } from '../../src/db/database.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { scratchFolder } from '../support/scratch.ts';
import { loggedApp } from '../support/service.ts';
import { openSite } from '../support/site.ts';
import { rowsOf } from '../support/tables.ts';

const folder = scratchFolder();
const user = { Authorization: 'Bearer x' };
const test = suite('Threat D2: a disk that is full or fails while serving');

const asAlice = async () => ({
  kind: 'user' as const,
  subject: 'alice',
  email: null,
  organization: null,
  entitlements: new Set<never>(),
  expiresAt: Date.parse('2026-11-21T13:00:00Z') / 1000,
});

async function filled(name: string): Promise<Database> {
  return openSite(folder, [shipped('stigs')], name);
}

test('reads go on, writes are 503 that say when, and it recovers by itself', async () => {
  const db = await filled('full');
  const { app, lines } = loggedApp(db, asAlice);
  const post = () =>
    app.request('/api/v1/lists', {
      method: 'POST',
      headers: user,
      body: JSON.stringify({ name: 'n'.repeat(200), description: 'd'.repeat(2000) }),
    });
  const session = await app.request('/api/v1/session', { method: 'POST', headers: user });
  assert.is(session.status, 204);
  const Cookie = session.headers.get('Set-Cookie')!.split(';')[0]!;
  // An hour ago: its next use is to be written down.
  db.sqlite.exec("UPDATE sessions SET used_at = '2026-11-21T11:50:00.000Z'");

  db.sqlite.pragma(`max_page_count = ${db.sqlite.pragma('page_count', { simple: true })}`);
  let stored = 0;
  let refused = await post();
  for (; refused.status === 201 && stored < 200; stored++) refused = await post();
  assert.is(refused.status, 503, `after ${stored} lists`);
  assert.is(refused.headers.get('Retry-After'), '30');
  const { error } = (await refused.json()) as { error: { code: string; message: string } };
  assert.equal([error.code, error.message], ['UNAVAILABLE', 'Changes cannot be saved now: the disk is full']);
  assert.not(db.sqlite.inTransaction);
  assert.is(db.sqlite.prepare('SELECT count(*) FROM bundles').pluck().get(), stored);

  for (const path of ['/api/v1/stigs/harbor_linux_3', '/api/v1/lists', '/api/v1/my-stigs', '/readyz']) {
    assert.is((await app.request(path, { headers: user })).status, 200, path);
    assert.is((await app.request(path, { headers: { Cookie } })).status, 200, `${path} by session`);
  }
  const failures = lines().filter((line) => line.level === 'error');
  assert.equal(
    failures.map(({ msg, fault, code }) => ({ msg, fault, code })),
    [{ msg: 'the database is not available', fault: 'full', code: 'SQLITE_FULL' }],
  );
  assert.not.match(JSON.stringify(failures), /full\.db|INSERT|\/tmp/);
  assert.ok(failures[0].requestId);

  db.sqlite.pragma('max_page_count = 1073741823');
  assert.is((await post()).status, 201);
  assert.is(db.sqlite.prepare('SELECT count(*) FROM bundles').pluck().get(), stored + 1);
  assert.is(db.sqlite.pragma('integrity_check', { simple: true }), 'ok');
  db.close();
});

test('what is written to a file that has lost its name is refused, until the file is back', async () => {
  for (const replaced of [false, true]) {
    const name = `moved-${replaced}`;
    const db = await filled(name);
    const { app, lines } = loggedApp(db, asAlice);
    const post = async () =>
      (await app.request('/api/v1/lists', { method: 'POST', headers: user, body: '{"name":"n"}' })).status;
    const ready = async () => (await app.request('/readyz')).status;
    assert.equal([await post(), await ready()], [201, 200]);
    const [file, kept] = [join(folder, `${name}-users.db`), join(folder, `${name}.kept`)];
    renameSync(file, kept);
    if (replaced) copyFileSync(kept, file);
    assert.equal([await post(), await ready()], [503, 503], name);
    assert.is(
      (await app.request('/api/v1/stigs', { headers: user })).status,
      200,
      'the catalog is still read',
    );
    assert.equal(
      lines()
        .filter((line) => line.level === 'error')
        .map(({ fault, code }) => [fault, code]),
      [['readonly', 'SQLITE_READONLY_DBMOVED']],
    );
    renameSync(kept, file);
    assert.equal([await post(), await ready()], [201, 200], 'back again');
    assert.is(db.sqlite.prepare('SELECT count(*) FROM bundles').pluck().get(), 2);
    db.close();
  }
});

test('an import into a catalog that has lost its name changes nothing', async () => {
  (await filled('lost')).close();
  const [file, kept] = [join(folder, 'lost.db'), join(folder, 'lost.db.kept')];
  const db = openCatalog(file);
  const generation = db.catalogVersion();
  renameSync(file, kept);
  const message = await runImport(db, [shipped('roles')]).then(String, (error: Error) => error.message);
  assert.match(message, /the database file was moved, replaced or removed/);
  assert.is(db.catalogVersion(), generation);
  renameSync(kept, file);
  assert.is((await runImport(db, [shipped('roles')])).summary.rejected, 0);
  db.close();
});

test('every failure of the storage has its answer, and none tells a path', async () => {
  const db = await filled('codes');
  const unknown = 'Something went wrong. The server log has the details under this request ID';
  for (const [code, message] of rowsOf(`
    SQLITE_FULL | Changes cannot be saved now: the disk is full
    SQLITE_READONLY | Changes cannot be saved now
    SQLITE_READONLY_DBMOVED | Changes cannot be saved now
    SQLITE_IOERR_FSYNC | The database cannot be read or written
    SQLITE_IOERR_READ | The database cannot be read or written
    SQLITE_CANTOPEN | The database cannot be read or written
    SQLITE_BUSY_SNAPSHOT | The database is busy. Try again
    SQLITE_CORRUPT | ${unknown}
    SQLITE_CONSTRAINT_FOREIGNKEY | ${unknown}
  `) as [string, string][]) {
    const status = message === unknown ? 500 : 503;
    const fail = () => {
      throw Object.assign(new Error('/secret/path'), { code });
    };
    const { app, lines } = loggedApp({ ...db, read: fail, write: fail });
    const answer = await app.request('/api/v1/stigs', { headers: user });
    assert.is(answer.status, status, code);
    const text = await answer.text();
    assert.is(JSON.parse(text).error.message, message, code);
    assert.not.match(text, /secret/);
    assert.is(answer.headers.has('Retry-After'), status === 503, code);
    const failures = lines().filter((line) => line.level === 'error');
    assert.is(failures.length, code.startsWith('SQLITE_BUSY') ? 0 : 1, code);
    if (status === 503) assert.not.match(JSON.stringify(failures), /secret/);
  }
  db.close();
});

test.run();
