import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { suite } from '../support/harness.ts';
import { runHere } from '../support/here.ts';
import { shipped } from '../support/reference.ts';
import { type Running, startServer } from '../support/running.ts';
import { scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// The command line and two servers on one database, as an operator runs them.
const users = suite('Users’ data from the command line');
const env = { GAPSTONE_CRON_SECRET: 'a-secret-of-the-scheduler', GAPSTONE_LOG_LEVEL: 'info' };
const stigs = 24;

let folder: string;
let servers: Running[] = [];
let token: string;

const run = (...args: string[]) => runHere(folder, args, env);

async function request(
  method: string,
  path: string,
  body?: unknown,
  as = token,
  server = 0,
): Promise<Response> {
  return fetch(`${servers[server]!.url}${path}`, {
    method,
    headers: { Authorization: `Bearer ${as}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
const json = async (response: Response): Promise<any> => response.json();

users.before(async () => {
  folder = scratchFolder();
  for (let index = 0; index < stigs; index++) {
    const own = { rules: 1, stem: `OWN-${index}`, first: 200_000 + 1000 * index };
    const title = `Sample ${index} Security Technical Implementation Guide`;
    writeFileSync(join(folder, `${index}.xml`), writeXccdf({ id: `Sample_${index}`, title, ...own }));
  }
  const imported = await run('import', folder, shipped('stigs'), '--json');
  assert.is(imported.code, 0, imported.stderr);
  token = (
    await run('token', 'issue', '--subject', 'alice', '--org', 'red', '--email', 'a@example.org')
  ).stdout.trim();
  const args = ['serve', '--port', '0'];
  servers = await Promise.all([startServer(folder, args, env), startServer(folder, args, env)]);
});

users.after(async () => {
  for (const { child } of servers) child.kill('SIGTERM');
  const ends = await Promise.all(servers.map((server) => server.ended));
  assert.equal(
    ends.map((end) => end.code),
    [0, 0],
  );
});

users(
  '8 clients that add the same slugs at once, at two servers: each slug once, the sums are right',
  async () => {
    const { id } = await json(await request('POST', '/api/v1/lists', { name: 'shared work' }));
    const path = `/api/v1/lists/${id}/stigs`;
    const slugs = Array.from({ length: stigs }, (_, index) => `sample_${index}`);
    const sums = { added: 0, totals: [] as number[] };
    await Promise.all(
      Array.from({ length: 8 }, async (_, client) => {
        // Each client adds all of them in pieces of its own, in an order of its own.
        const order = [...slugs.slice(client * 3), ...slugs.slice(0, client * 3)];
        for (let from = 0; from < stigs; from += 6) {
          const add = () => request('POST', path, { slugs: order.slice(from, from + 6) }, token, client % 2);
          let response = await add();
          while (response.status === 503) {
            assert.ok(Number(response.headers.get('Retry-After')) > 0);
            response = await add();
          }
          const answer = await json(response);
          assert.is(response.status, 200, JSON.stringify(answer));
          sums.added += answer.added;
          sums.totals.push(answer.total);
        }
      }),
    );
    assert.equal([sums.added, Math.max(...sums.totals)], [stigs, stigs]);
    const answer = await json(await request('GET', `${path}?limit=100`));
    const entries: { slug: string; position: number }[] = answer.stigs;
    assert.is(answer.pagination.total, stigs);
    assert.equal(entries.map(({ slug }) => slug).sort(), [...slugs].sort());
    assert.equal(
      entries.map(({ position }) => position),
      slugs.map((_, index) => index + 1),
      'positions have no gap and no double',
    );
  },
);

users('integration tokens: create, use, assign, list, revoke', async () => {
  const made = await json(await request('POST', '/api/v1/lists', { name: 'one' }));
  const other = await json(await request('POST', '/api/v1/lists', { name: 'two' }));
  const third = await json(await request('POST', '/api/v1/lists', { name: 'three' }));
  const create = ['integration-token', 'create', '--name', 'ci', '--org'];
  const created = await run(...create, 'red', '--list', made.id, '--ttl', '1h');
  assert.is(created.code, 0, created.stderr);
  const program = created.stdout.trim();
  assert.match(program, /^gsi_[\w-]{43}$/);
  const names = async () =>
    (await json(await request('GET', '/api/v1/lists', undefined, program))).lists.map(
      (each: { name: string }) => each.name,
    );
  assert.equal(await names(), ['one']);
  assert.is((await request('GET', `/api/v1/lists/${other.id}`, undefined, program)).status, 404);
  assert.is((await request('POST', '/api/v1/lists', { name: 'x' }, program)).status, 403);
  const listed = (await run('integration-token', 'list', '--json')).stdout.trim().split('\n');
  const [summary] = listed.map((line) => JSON.parse(line));
  assert.equal(
    [listed.length, summary.name, summary.organization, summary.state, summary.scope, summary.lists],
    [1, 'ci', 'red', 'active', 'lists:read', [made.id]],
  );
  const assigned = await run('integration-token', 'assign', summary.id, '--list', other.id, third.id);
  assert.is(assigned.code, 0, assigned.stderr);
  assert.equal((await names()).sort(), ['one', 'three', 'two']);
  const foreign = await run(...create, 'blue', '--list', made.id);
  assert.is(foreign.code, 1);
  assert.match(foreign.stderr, /does not belong to the organization blue/);
  assert.is(foreign.stdout, '');
  const revoked = await run('integration-token', 'revoke', summary.id);
  assert.is(revoked.code, 0);
  assert.is((await request('GET', '/api/v1/lists', undefined, program)).status, 401);
  const late = await run('integration-token', 'assign', summary.id, '--list', made.id);
  assert.equal([late.code, /is revoked/.test(late.stderr)], [1, true]);
  const shown = await run('integration-token', 'list');
  assert.match(shown.stdout, /revoked {2}red {2}ci \(3 lists, expires /);
  assert.not.match(shown.stdout, /gsi_/);
});

users('purge: by hand, dry, and by the scheduler', async () => {
  const { id } = await json(await request('POST', '/api/v1/lists', { name: 'old' }));
  await request('DELETE', `/api/v1/lists/${id}`);
  const db = new Sqlite(join(folder, 'gapstone-users.db'));
  const age = (days: number) =>
    db
      .prepare('UPDATE bundles SET deleted_at = ? WHERE id = ?')
      .run(new Date(Date.now() - days * 86_400_000).toISOString(), id);
  age(29);
  assert.equal((await run('purge')).stdout, '0 lists deleted more than 30 days ago were removed\n');
  age(31);
  const dry = await run('purge', '--dry-run');
  assert.is(dry.stdout, '1 list deleted more than 30 days ago would be removed; nothing was changed\n');
  assert.equal((await run('purge', '--dry-run', '--json')).stdout, '{"purged":1,"dryRun":true}\n');
  const cron = await request('POST', '/api/cron/purge-deleted-lists', undefined, env.GAPSTONE_CRON_SECRET);
  assert.equal(await json(cron), { success: true, purged: 1 });
  assert.equal((await run('purge')).stdout, '0 lists deleted more than 30 days ago were removed\n');
  db.prepare('UPDATE clock SET latest = ?').run(new Date(Date.now() + 86_400_000).toISOString());
  const refused = await run('purge');
  assert.equal([refused.code, refused.stdout], [1, '']);
  assert.match(
    refused.stderr,
    /The clock is earlier than the latest time in the database: nothing was purged \(see --accept-clock\)/,
  );
  assert.is((await run('purge', '--accept-clock')).code, 0);
  db.close();
});

users('logs hold no token, cookie, e-mail or secret', () => {
  const logs = servers.map((server) => server.stdout() + server.stderr()).join('');
  assert.match(logs, /"msg":"purge"/);
  assert.not.match(logs, /eyJ|gsi_|gapstone_session|example\.org|a-secret-of|alice/);
});

users.run();
