import { chmodSync, chownSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { openCatalog } from '../../src/db/database.ts';
import { gapstone } from '../support/child.ts';
import { suite, testIf } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { asNobody, nobody, nobodyRunsProgram } from '../support/nobody.ts';
import { shipped } from '../support/reference.ts';
import { killAll, type Running, startServer } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { replaceBy } from '../support/site.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// Rule D23: the catalog is built, exchanged and kept where nothing can be written; users' data goes on beside it.
const exchange = suite('A catalog beside users’ data');
exchange.after(killAll);

const slugs = ['harbor_linux_3', 'lantern_web_server_2'];

async function imported(file: string, ...paths: string[]): Promise<void> {
  using db = openCatalog(file, { create: true });
  assert.is((await runImport(db, paths)).summary.rejected, 0);
}

async function stop(running: Running): Promise<void> {
  running.child.kill('SIGTERM');
  assert.equal(await running.ended, { code: 0, signal: null }, running.stderr());
}

/** A server over a catalog, with a user, a list and a favorite. */
async function served(folder: string, args: string[], under: string[] = []) {
  const issued = await gapstone(['token', 'issue', '--subject', 'ann', ...args], { under });
  assert.is(issued.code, 0, issued.stderr);
  const running = await startServer(folder, ['serve', '--port', '0', ...args], {}, under);
  const headers = { Authorization: `Bearer ${issued.stdout.trim()}`, 'Content-Type': 'application/json' };
  const ask = async (method: string, path: string, body?: unknown) => {
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await fetch(`${running.url}${path}`, init);
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    return { status: response.status, json: (await response.json()) as any };
  };
  return { running, ask };
}

type Ask = Awaited<ReturnType<typeof served>>['ask'];

async function makeList(ask: Ask): Promise<string> {
  const made = await ask('POST', '/api/v1/lists', { name: 'Kept' });
  assert.is(made.status, 201);
  const list = `/api/v1/lists/${made.json.id}`;
  assert.is((await ask('POST', `${list}/stigs`, { slugs })).json.added, 2);
  assert.is((await ask('PUT', `${list}/stigs/harbor_linux_3`, { notes: 'of mine' })).status, 200);
  assert.is((await ask('POST', '/api/v1/my-stigs', { slugs: ['harbor_linux_3'] })).status, 200);
  return list;
}

/** What a list shows: slug, title, version, notes. */
async function shown(ask: Ask, list: string): Promise<string[][]> {
  const { json } = await ask('GET', `${list}/stigs`);
  const rows: Record<'slug' | 'title' | 'version' | 'notes', string>[] = json.stigs;
  return rows.map(({ slug, title, version, notes }) => [slug, title, version, notes]);
}

const has = async (ask: Ask, slug: string) => (await ask('GET', `/api/v1/stigs/${slug}`)).status === 200;

exchange(
  'is replaced under a server: the next answer is of the new one, and users lose nothing',
  async () => {
    const folder = scratchFolder();
    const [file, other, again] = ['g.db', 'other.db', 'again.db'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await imported(file, shipped('stigs'));
    await imported(other, put(folder, 'other.xml', writeXccdf({ id: 'Other_STIG', title: 'Other STIG' })));
    await imported(again, shipped('stigs'));
    const { running, ask } = await served(folder, ['--db', file]);
    const list = await makeList(ask);
    const before = await shown(ask, list);
    const digest = (await ask('GET', '/api/v1/catalog')).json.digest;
    const favorites = (await ask('GET', '/api/v1/my-stigs')).json;
    const found = async (q: string) => (await ask('GET', `/api/v1/search?q=${q}`)).json.pagination.total;
    assert.ok((await found('harbor')) > 0);

    // Requests go on meanwhile, and are answered from one catalog or the other.
    let replaced = false;
    const asking = (async () => {
      while (!replaced) assert.is((await ask('GET', '/api/v1/stigs')).status, 200);
    })();
    await replaceBy(file, other);
    assert.ok(await has(ask, 'other'));
    replaced = true;
    await asking;
    assert.is((await ask('GET', '/api/v1/stigs/harbor_linux_3')).status, 404);
    assert.is(await found('harbor'), 0, 'the workers too');
    assert.equal(
      await shown(ask, list),
      before.map(([slug, title, , notes]) => [slug, title, '', notes]),
      'gone, with title and notes',
    );
    assert.equal((await ask('GET', '/api/v1/my-stigs')).json, favorites);
    const added = await ask('POST', `${list}/stigs`, { slugs: ['harbor_linux_3', 'other'] });
    assert.equal(added.json, { success: true, added: 1, total: 3, notFound: ['harbor_linux_3'] });
    assert.is((await ask('DELETE', `${list}/stigs`, { slugs: ['other'] })).json.removed, 1);

    await replaceBy(file, again);
    assert.equal(await shown(ask, list), before, 'it is back');
    assert.is((await ask('GET', '/api/v1/catalog')).json.digest, digest);
    await stop(running);
    const checked = await commandHere(['check', '--audit', '--db', file], { cwd: folder });
    assert.is(checked.code, 0, checked.stdout);
  },
);

// Without root, no other account is needed.
const isRoot = process.getuid!() === 0;
const withoutRights = isRoot ? testIf(await nobodyRunsProgram(), exchange) : exchange;
withoutRights('lies where nothing can be written, and users go on writing', async () => {
  const [parent, home] = [scratchFolder(), scratchFolder()];
  chmodSync(parent, 0o755);
  const folder = join(parent, 'catalog');
  mkdirSync(folder);
  const file = join(folder, 'g.db');
  await imported(file, shipped('stigs'));
  // An account that rights hold for.
  const under = isRoot ? asNobody : [];
  const args = ['--db', file, '--users-db', join(home, 'u.db')];
  chmodSync(file, 0o444);
  chmodSync(folder, 0o555);
  const before = readFileSync(file);
  if (isRoot) chownSync(home, nobody, nobody);
  const { running, ask } = await served(home, args, under);
  const list = await makeList(ask);
  assert.is((await ask('GET', '/api/v1/search?q=harbor')).status, 200);
  for (const command of [['check'], ['backup', join(home, 'b.zip')]]) {
    const { code, stdout, stderr } = await gapstone([...command, ...args], { under });
    assert.is(code, 0, stdout + stderr);
  }
  assert.ok(readFileSync(file).equals(before), 'nothing was written to it');
  // Another account imports, and replaces the catalog.
  chmodSync(file, 0o644);
  chmodSync(folder, 0o755);
  const more = put(scratchFolder(), 'other.xml', writeXccdf({ id: 'Other_STIG', title: 'Other STIG' }));
  const next = join(scratchFolder(), 'next.db');
  await imported(next, more);
  const importing = await commandHere(['import', more, '--db', file]);
  assert.is(importing.code, 0, importing.stderr);
  assert.ok((await has(ask, 'other')) && (await has(ask, 'harbor_linux_3')));
  await replaceBy(file, next);
  assert.ok((await has(ask, 'other')) && !(await has(ask, 'harbor_linux_3')));
  assert.is((await ask('PUT', `${list}/stigs/harbor_linux_3`, { notes: 'still' })).status, 200);
  await stop(running);
});

exchange.run();
