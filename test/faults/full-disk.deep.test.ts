import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { testApp } from '../support/app.ts';
import { gapstone, withoutProgress } from '../support/child.ts';
import { suite, testIf } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { killAll, startServer } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { contentOf, releases } from './support/catalog.ts';
import { createClient } from './support/load.ts';
import { say } from './support/profile.ts';
import { serveOver, stopServed } from './support/served.ts';
import { mounting, mountSmallDisk, unmountAll } from './support/small-disk.ts';

// Threats I2, D2: a disk that fills up loses nothing, and room is all that is needed to go on.
const full = suite('A full disk');

full.after(() => {
  killAll();
  unmountAll();
});

/** More than a few megabytes. */
const big = scratchFolder();
for (const { version, text } of releases(4, { rules: 400, words: 350 }).releases)
  put(big, `${version}.xml`, text);
const fullMessage = 'gapstone: the disk is full: nothing was changed\n';

/** A request, and what it answers as far as both tests need it. */
type Ask = (
  method: string,
  path: string,
  body?: unknown,
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
) => Promise<{ status: number; retryAfter: string | undefined; json: any }>;

const paths = ['/healthz', '/readyz', '/api/v1/stigs', '/api/v1/stigs/harbor_linux_3', '/api/v1/lists'];

/** Writes lists until one is refused; gives how many were taken. Reads go on all the while. */
async function writeUntilFull(ask: Ask): Promise<string[]> {
  const taken: string[] = [];
  for (let number = 0; number < 5000; number++) {
    const name = `list ${number}`;
    const answer = await ask('POST', '/api/v1/lists', { name, description: 'x'.repeat(2000) });
    if (answer.status === 201) {
      taken.push(name);
      continue;
    }
    assert.is(answer.status, 503, `a write on a full disk: ${JSON.stringify(answer.json)}`);
    assert.equal(answer.json.error.code, 'UNAVAILABLE');
    assert.match(
      answer.json.error.message,
      /^(Changes cannot be saved now: the disk is full|The audit stream cannot be written: .+)$/,
    );
    assert.ok(Number(answer.retryAfter) > 0, 'it says when to try again');
    return taken;
  }
  throw new Error('the disk never filled up');
}

/** The names of all lists. */
async function listNames(ask: Ask): Promise<string[]> {
  const { status, json } = await ask('GET', '/api/v1/lists');
  assert.is(status, 200);
  return json.lists.map((each: { name: string }) => each.name);
}

async function assertServes(ask: Ask, taken: string[], when: string): Promise<void> {
  for (const path of paths) assert.is((await ask('GET', path)).status, 200, `${path} ${when}`);
  assert.equal((await listNames(ask)).sort(), [...taken].sort(), `what was acknowledged is there, ${when}`);
}

full('an import and writes meet a full disk: clear words, reads go on, nothing is lost', async () => {
  const disk = mountSmallDisk(8);
  if (disk === null) {
    say('no tmpfs may be mounted here: max_page_count makes the disk full instead');
    return onPageLimit();
  }
  // What is given back later: a log that has grown keeps its room as long as a server is there.
  disk.fill(4);
  say('on a tmpfs of 8 MB, half of it taken');
  const served = await serveOver([shipped('stigs')], { folder: disk.folder });
  const client = createClient(served.running.port);
  const ask: Ask = async (method, path, body) => {
    const answer = await client.ask(
      method,
      path,
      served.authorization,
      body ? JSON.stringify(body) : undefined,
    );
    const json = answer.body.startsWith('{') ? JSON.parse(answer.body) : {};
    return { status: answer.status, retryAfter: answer.headers['retry-after'] as string | undefined, json };
  };
  const content = contentOf(served.file);
  const first = await gapstone(['import', big, '--db', served.file]);
  assert.equal([first.code, withoutProgress(first.stderr)], [1, fullMessage], 'releases that have no room');
  assert.is(contentOf(served.file), content);
  await assertServes(ask, [], 'after an import that failed');

  const early = ['one', 'two', 'three'];
  for (const name of early) assert.is((await ask('POST', '/api/v1/lists', { name })).status, 201);
  disk.fill();
  const taken = [...early, ...(await writeUntilFull(ask))];
  await assertServes(ask, taken, 'while the disk is full');
  const second = await gapstone(['import', big, '--db', served.file]);
  assert.is(second.code, 1);
  assert.match(withoutProgress(second.stderr), /^gapstone: [^\n]*(full|no space)[^\n]*\n$/);
  await assertServes(ask, taken, 'while the disk is full');

  disk.free();
  const more = await ask('POST', '/api/v1/lists', { name: 'room again' });
  assert.is(more.status, 201, `it goes on without a restart: ${JSON.stringify(more.json)}`);
  await assertServes(ask, [...taken, 'room again'], 'with room again');
  const small = shipped('mappings', 'nist-800-171_to_nist-800-53.csv');
  const third = await gapstone(['import', small, '--db', served.file]);
  assert.is(third.code, 0, third.stderr);
  client.close();
  await stopServed(served);
  assert.ok(contentOf(served.file) !== content);
  say(`${taken.length} lists were written into what room the log still had`);
});

/** The same without a file system of its own: SQLite is told that the disk ends. */
async function onPageLimit(): Promise<void> {
  const t = await testApp([shipped('stigs')]);
  const { sqlite } = t.db;
  const headers = { Authorization: `Bearer ${await t.token()}` };
  const ask: Ask = async (method, path, body) => {
    const answer = await t.app.request(path, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return {
      status: answer.status,
      retryAfter: answer.headers.get('Retry-After') ?? undefined,
      json: await answer.json(),
    };
  };
  const pages = sqlite.pragma('page_count', { simple: true }) as number;
  sqlite.pragma(`max_page_count = ${pages + 20}`);
  const failed = await runImport(t.db, [big]).catch((error: Error) => error.message);
  assert.is(failed, 'the disk is full: nothing was changed');
  const taken = await writeUntilFull(ask);
  await assertServes(ask, taken, 'while the disk is full');
  sqlite.pragma('max_page_count = 1073741823');
  assert.is((await ask('POST', '/api/v1/lists', { name: 'room again' })).status, 201);
  await assertServes(ask, [...taken, 'room again'], 'with room again');
  assert.is((await runImport(t.db, [big])).summary.imported, 4);
  t.db.close();
}

full('the same where SQLite says so', onPageLimit);

testIf(mounting, full)(
  'on a disk that may only be read, an import and a server are refused in one line, and nothing is touched',
  async () => {
    const disk = mountSmallDisk(8)!;
    const file = join(disk.folder, 'g.db');
    assert.is((await gapstone(['import', shipped('stigs'), '--db', file])).code, 0);
    assert.is((await gapstone(['token', 'issue', '--subject', 'a', '--db', file])).code, 0);
    assert.is((await gapstone(['purge', '--db', file])).code, 0);
    const before = readFileSync(file);
    disk.lock();
    for (const args of [['import', shipped('mappings')], ['serve', '--port', '0'], ['purge']]) {
      const { code, stdout, stderr } = await gapstone([...args, '--db', file]);
      assert.equal([code, stdout], [1, ''], `${args[0]}: ${stderr}`);
      assert.match(withoutProgress(stderr), /^gapstone: [^\n]*(read-only|readonly)[^\n]*\n$/, args[0]);
    }
    // Users' data elsewhere is all that a server needs (rule D23.1).
    const users = scratchFolder();
    const args = ['serve', '--port', '0', '--db', file, '--users-db', join(users, 'u.db')];
    const running = await startServer(users, args);
    for (const path of ['/readyz', '/stigs', '/metrics'])
      assert.is((await fetch(running.url + path)).status, 200, path);
    running.child.kill('SIGTERM');
    assert.equal(await running.ended, { code: 0, signal: null });
    assert.ok(readFileSync(file).equals(before));
  },
);

full.run();
