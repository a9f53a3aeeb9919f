import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { auditLines } from '../support/audit.ts';
import { build, sampleCatalog, sampleKey } from '../support/bundles.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { shipped } from '../support/reference.ts';
import { killAll, startServer, until } from '../support/running.ts';
import { filesIn, put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// Rule D32: from the command line, beside a running server.
const content = suite('gapstone content apply and rollback');
content.after(killAll);

const stigs = shipped('stigs');
const other = put(scratchFolder(), 'other.xml', writeXccdf({ id: 'Other_STIG', title: 'Other STIG' }));
const key = sampleKey('depot');
const catalogs = [await sampleCatalog([[stigs]]), await sampleCatalog([[stigs], [other]])];
const bundles = await Promise.all(
  catalogs.map((catalog, index) => build(catalog, key, { sequence: index + 1 })),
);
const [one, two] = bundles.map(({ file }) => file) as [string, string];

async function siteThatTrusts(): Promise<{
  folder: string;
  run: (...args: string[]) => ReturnType<typeof commandHere>;
}> {
  const folder = scratchFolder();
  const run = (...args: string[]) => commandHere([...args, '--db', 'g.db'], { cwd: folder });
  const { code, stderr } = await run('content', 'trust', 'add', `${key.file}.pub`, '--name', 'depot');
  assert.is(code, 0, stderr);
  return { folder, run };
}

content('a running server goes over to the catalog of a bundle, and back: no request fails', async () => {
  const { folder, run } = await siteThatTrusts();
  assert.is((await run('content', 'apply', one)).code, 0);
  const token = (await run('token', 'issue', '--subject', 'ann')).stdout.trim();
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const running = await startServer(folder, ['serve', '--port', '0', '--db', 'g.db']);
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${running.url}${path}`, { headers, ...init });
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    return { status: response.status, json: (await response.json()) as any };
  };
  const made = await ask('/api/v1/lists', { method: 'POST', body: JSON.stringify({ name: 'Ours' }) });
  const list = `/api/v1/lists/${made.json.id}`;
  let going = true;
  let asked = 0;
  const counts = new Set<number>();
  const reader = async () => {
    while (going) {
      const { status, json } = await ask('/api/v1/stigs');
      assert.is(status, 200);
      counts.add(json.stigs.length);
      const changed = await ask(list, { method: 'PATCH', body: JSON.stringify({ name: `Ours ${asked++}` }) });
      assert.is(changed.status, 200, JSON.stringify(changed.json));
    }
  };
  const readers = Promise.all([reader(), reader()]);
  const digest = async () => (await ask('/api/v1/catalog')).json;
  const applied = await run('content', 'apply', two, '--json');
  assert.is(applied.code, 0, applied.stderr);
  const { keptAs, appliedAt, ...shown } = JSON.parse(applied.stdout);
  assert.equal([keptAs, Math.abs(Date.parse(appliedAt) - Date.now()) < 60_000], ['g.db.before-2', true]);
  assert.equal(shown, {
    ...{ bundle: bundles[1]!.id, channel: 'main', sequence: 2, digest: bundles[1]!.manifest.digest },
    ...{ signedBy: 'depot', fingerprint: key.fingerprint, builtAt: '2026-10-01T00:00:00.000Z' },
    ...{ state: 'applied', decisions: [] },
  });
  await until('the new one is served', async () => (await digest()).digest === bundles[1]!.manifest.digest);
  assert.equal((await digest()).bundle, { channel: 'main', sequence: 2, signedBy: 'depot', appliedAt });
  assert.is((await run('content', 'rollback')).code, 0);
  await until(
    'the former one is served',
    async () => (await digest()).digest === bundles[0]!.manifest.digest,
  );
  assert.is((await digest()).bundle.sequence, 1);
  assert.is((await run('content', 'apply', two)).code, 0);
  await until('the new one is served again', async () => (await digest()).bundle?.sequence === 2);
  going = false;
  await readers;
  assert.equal([...counts].sort(), [2, 3]);
  assert.ok(asked > 0);
  assert.equal(
    running
      .stdout()
      .split('\n')
      .filter((line) => line.includes('"level":"error"')),
    [],
  );
  running.child.kill('SIGTERM');
  assert.equal(await running.ended, { code: 0, signal: null }, running.stderr());
  assert.equal(
    filesIn(folder).filter((name) => name.startsWith('g')),
    ['g-users.db', 'g.db', 'g.db.before-3', 'gapstone-key.json'],
  );
  // The audit stream tells all of it, in an unbroken chain.
  const told = auditLines(join(folder, 'gapstone-audit.jsonl'))
    .filter(({ action }) => action.startsWith('content.'))
    .map(({ action, objectId, outcome, detail }) => [action, objectId, outcome, detail?.sequence ?? null]);
  const of = (index: number, action: string) => [action, bundles[index]!.id, 'success', index + 1];
  assert.equal(told.slice(1), [
    ...[of(0, 'content.apply-start'), of(0, 'content.apply')],
    ...[of(1, 'content.apply-start'), of(1, 'content.apply')],
    ...[of(1, 'content.rollback-start'), of(1, 'content.rollback')],
    ...[of(1, 'content.apply-start'), of(1, 'content.apply')],
  ]);
  assert.is(told[0]![0], 'content.trust-add');
  const checked = await run('check', '--audit');
  assert.is(checked.code, 0, checked.stdout);
});

content('what is refused is one line, exit 1, an event, and leaves everything as it was', async () => {
  const { folder, run } = await siteThatTrusts();
  const stranger = sampleKey('stranger');
  const foreign = (await build(catalogs[0]!, stranger)).file;
  const damaged = put(scratchFolder(), 'damaged', readFileSync(one).fill(0x55, 5000, 5001));
  const before = filesIn(folder);
  for (const bundle of [foreign, damaged]) {
    for (const command of ['apply', 'plan', 'verify']) {
      const args = command === 'verify' ? ['--users-db', 'g-users.db'] : [];
      const { code, stdout, stderr } = await run('content', command, bundle, ...args);
      assert.equal([code, stdout], [1, ''], stderr);
      assert.match(stderr, /^gapstone: [^\n]+\n$/);
    }
    assert.equal(filesIn(folder), before);
  }
  const events = auditLines(join(folder, 'gapstone-audit.jsonl')).slice(1);
  assert.equal(
    events.map(({ action, outcome, reason, objectId }) => [action, outcome, reason, objectId]),
    [foreign, damaged].map((file) => ['content.apply', 'failure', 'REFUSED', file]),
  );
  const back = await run('content', 'rollback');
  assert.equal([back.code, /^gapstone: there is no database at g\.db/.test(back.stderr)], [1, true]);
  // Where nothing is nothing is made.
  const empty = scratchFolder();
  const { code, stderr } = await commandHere(['content', 'apply', one, '--db', 'g.db'], { cwd: empty });
  assert.equal([code, /trusts no key yet/.test(stderr), filesIn(empty)], [1, true, []]);
  assert.not.ok(existsSync(join(empty, 'gapstone-audit.jsonl')));
});

content.run();
