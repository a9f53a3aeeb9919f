import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { build, sampleCatalog, sampleKey } from '../support/bundles.ts';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { random } from '../support/hostile/seed.ts';
import { killAll, startServer, until } from '../support/running.ts';
import { scratchFolder } from '../support/scratch.ts';
import { before, contentOf, over } from './support/catalog.ts';
import { createClient, pause, percentile } from './support/load.ts';
import { say, scaled } from './support/profile.ts';

// Threat Y5: killed at any moment of an exchange, either catalog is served, users' data is untouched, and the next call works.
const kills = suite('SIGKILL of apply and rollback');
kills.after(killAll);

const count = scaled(100, 4);
const key = sampleKey('depot');
const site = scratchFolder();
const content = (folder: string, ...args: string[]) =>
  gapstone(['content', ...args, '--db', join(folder, 'g.db')], { cwd: folder });

let bundles: string[] = [];
let digests: string[] = [];
let times = { apply: 0, rollback: 0 };

kills.before(async () => {
  const catalogs = [await sampleCatalog([before]), await sampleCatalog([before, over])];
  const built = await Promise.all(catalogs.map((each, index) => build(each, key, { sequence: index + 1 })));
  bundles = built.map(({ files }) => files[0]!);
  digests = built.map(({ manifest }) => manifest.digest);
  assert.is((await content(site, 'trust', 'add', `${key.file}.pub`, '--name', 'depot')).code, 0);
  assert.is((await content(site, 'apply', bundles[0]!)).code, 0);
  const timed = join(scratchFolder(), 'timed');
  cpSync(site, timed, { recursive: true });
  const applied = await content(timed, 'apply', bundles[1]!);
  const undone = await content(timed, 'rollback');
  assert.equal([applied.code, undone.code], [0, 0], applied.stderr + undone.stderr);
  times = { apply: applied.ms, rollback: undone.ms };
});

/** Serves a site under load while a call is killed, and the next one is made. */
async function killOne(
  index: number,
): Promise<{ action: 'apply' | 'rollback'; killed: boolean; went: boolean; ms: number[] }> {
  const action = index % 2 === 0 ? 'apply' : 'rollback';
  const folder = join(scratchFolder(), 's');
  mkdirSync(folder);
  cpSync(site, folder, { recursive: true });
  if (action === 'rollback') assert.is((await content(folder, 'apply', bundles[1]!)).code, 0);
  const [from, to] = action === 'apply' ? digests : [...digests].reverse();
  const args = action === 'apply' ? ['apply', bundles[1]!] : ['rollback'];
  const token = (
    await gapstone(['token', 'issue', '--subject', 'ann', '--db', join(folder, 'g.db')], { cwd: folder })
  ).stdout.trim();
  const running = await startServer(folder, ['serve', '--port', '0', '--db', 'g.db']);
  const headers = { Authorization: `Bearer ${token}` };
  const ms: number[] = [];
  let going = true;
  const lists: string[] = [];
  const answers = new Set<string>();
  const reader = async () => {
    const client = createClient(running.port);
    const ask = async (method: string, path: string, body?: string) => {
      const answer = await client.ask(method, path, headers, body);
      assert.ok(answer.status < 300, `${path} ${answer.status} ${answer.body}`);
      ms.push(answer.ms);
      return answer.body;
    };
    for (let turn = 0; going; turn++) {
      answers.add(await ask('GET', '/api/v1/stigs?limit=100'));
      await ask('GET', '/api/v1/stigs/harbor_linux_3/controls');
      const made = JSON.parse(await ask('POST', '/api/v1/lists', JSON.stringify({ name: `list ${turn}` })));
      lists.push(made.id);
      await pause(20);
    }
    client.close();
  };
  const reading = reader();
  // One in three is killed where the names change; the others at any moment before.
  const atExchange = index % 3 === 0;
  const moment = Math.round(atExchange ? 40 * random() : times[action] * (0.05 + 0.85 * random()));
  const where = `run ${index}, ${action} killed ${moment} ms after ${atExchange ? 'a catalog was kept' : 'its start'}`;
  const keeps = action === 'apply' ? 'g.db.before-' : 'g.db.undone-';
  const had = new Set(readdirSync(folder));
  const { code, signal, stderr } = await gapstone(['content', ...args, '--db', join(folder, 'g.db')], {
    cwd: folder,
    ...(atExchange ? {} : { killAfter: moment }),
    onStart: (child) => {
      if (!atExchange) return;
      const watch = setInterval(() => {
        if (!readdirSync(folder).some((name) => name.startsWith(keeps) && !had.has(name))) return;
        clearInterval(watch);
        setTimeout(() => child.kill('SIGKILL'), moment);
      }, 1);
      child.on('close', () => clearInterval(watch));
    },
  });
  assert.ok(signal === 'SIGKILL' || code === 0, `${where}: ${stderr}`);
  const served = contentOf(join(folder, 'g.db'));
  assert.ok(served === from || served === to, `${where}: neither catalog`);
  const next = await content(folder, ...args);
  // What was done to its end says that it was.
  assert.ok(next.code === 0 || (served === to && /already/.test(next.stderr)), `${where}: ${next.stderr}`);
  assert.is(contentOf(join(folder, 'g.db')), to, where);
  const client = createClient(running.port);
  await until(
    'it is served',
    async () => JSON.parse((await client.ask('GET', '/api/v1/catalog', headers)).body).digest === to,
  );
  going = false;
  await reading;
  const kept = JSON.parse((await client.ask('GET', '/api/v1/lists', headers)).body).lists;
  client.close();
  assert.equal(kept.map(({ id }: { id: string }) => id).sort(), lists.sort(), `${where}: users' data`);
  assert.ok(answers.size <= 2, `${where}: each answer is of one catalog or the other`);
  assert.not.match(running.stdout(), /"level":"error"/, where);
  running.child.kill('SIGTERM');
  await running.ended;
  const checked = await gapstone(['check', '--audit', '--db', join(folder, 'g.db')], { cwd: folder });
  assert.is(checked.code, 0, `${where}: ${checked.stdout}`);
  rmSync(folder, { recursive: true, force: true });
  return { action, killed: signal === 'SIGKILL', went: served === to, ms };
}

kills(`${count} calls killed at random moments under load: one catalog or the other`, async () => {
  const results = [];
  for (let index = 0; index < count; index++) results.push(await killOne(index));
  const killed = results.filter((each) => each.killed);
  const went = killed.filter((each) => each.went).length;
  const ms = results.flatMap((each) => each.ms);
  say(
    `${killed.length} of ${count} killed, ${went} of them after the exchange; ${ms.length} requests, none failed, ` +
      `p99 ${percentile(ms, 0.99).toFixed(0)} ms, the longest ${Math.max(...ms).toFixed(0)} ms`,
  );
  assert.ok(killed.length >= count * 0.25, 'many were still under way when they were killed');
});

kills.run();
