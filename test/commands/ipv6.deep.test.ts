import { copyFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { openCatalog } from '../../src/db/database.ts';
import { auditLines } from '../support/audit.ts';
import { suite, testIf } from '../support/harness.ts';
import { runHere } from '../support/here.ts';
import { killAll, type Running, startServer, until } from '../support/running.ts';
import { scratchFolder } from '../support/scratch.ts';

const test = suite('Serving over IPv6');
const template = join(scratchFolder(), 'g.db');
openCatalog(template, { create: true }).close();
test.after(killAll);
const onIpv6 = testIf({ here: await hasIpv6(), bring: 'Give the machine an IPv6 loopback address.' }, test);

/** Whether something can listen on the IPv6 loopback address here. */
function hasIpv6(): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(0, '::1', () => probe.close(() => resolve(true)));
  });
}

function serve(folder: string, args: string[], env: Record<string, string> = {}): Promise<Running> {
  copyFileSync(template, join(folder, 'g.db'));
  return startServer(folder, ['serve', '--port', '0', '--db', 'g.db', ...args], env);
}

async function stop(running: Running): Promise<void> {
  running.child.kill('SIGTERM');
  assert.equal(await running.ended, { code: 0, signal: null });
}

/** Where the requests so far came from, as the log says; waits until there are so many. */
async function remotes(running: Running, count: number): Promise<string[]> {
  const found = () =>
    running
      .stdout()
      .split('\n')
      .filter((line) => line.includes('"msg":"request"'));
  await until('the log lines', () => found().length >= count);
  return found().map((line) => JSON.parse(line).remote);
}

onIpv6(
  'as flag, which comes before the variable: it listens there alone, answers, and log and audit stream name the address',
  async () => {
    for (const [args, env] of [[['--host', '::1'], { GAPSTONE_HOST: '127.0.0.1' }]] as const) {
      const folder = scratchFolder();
      const running = await serve(folder, [...args], env);
      assert.is(running.url, `http://[::1]:${running.port}`);
      const issued = await runHere(folder, ['token', 'issue', '--subject', 'ann', '--db', 'g.db']);
      const headers = { Authorization: `Bearer ${issued.stdout.trim()}` };
      const made = await fetch(`${running.url}/api/v1/lists`, {
        method: 'POST',
        headers,
        body: '{"name":"N"}',
      });
      assert.is(made.status, 201);
      assert.equal(await remotes(running, 1), ['::1']);
      const told = auditLines(join(folder, 'gapstone-audit.jsonl')).find(
        ({ action }) => action === 'list.create',
      );
      assert.is(told!.source, '::1');
      const elsewhere = await fetch(`http://127.0.0.1:${running.port}/healthz`).catch(
        (error) => error.cause.code,
      );
      assert.is(elsewhere, 'ECONNREFUSED');
      await stop(running);
    }
  },
);

onIpv6('on every address (::) an IPv4 caller is logged as one', async () => {
  const running = await serve(scratchFolder(), ['--host', '::']);
  assert.is(running.url, `http://[::]:${running.port}`);
  for (const host of ['[::1]', '127.0.0.1'])
    assert.is((await fetch(`http://${host}:${running.port}/api/v1/stigs`)).status, 401);
  assert.equal(await remotes(running, 2), ['::1', '127.0.0.1']);
  await stop(running);
});

onIpv6(
  'limits count a network of 64 bits as one caller, over a connection and behind a trusted proxy',
  async () => {
    const env = { GAPSTONE_RATE_LIMIT: '10', GAPSTONE_TRUSTED_PROXIES: '::1' };
    const running = await serve(scratchFolder(), ['--host', '::1'], env);
    const from = async (address?: string) => {
      const headers = address === undefined ? {} : { 'X-Forwarded-For': address };
      return (await fetch(`${running.url}/api/v1/stigs`, { headers })).status;
    };
    const statuses: number[] = [];
    for (let i = 1; i <= 10; i++) statuses.push(await from(`2001:db8:1:2:${i}::${i}`));
    assert.equal(statuses, Array(10).fill(401));
    assert.is(await from('2001:db8:1:2:ffff:ffff:ffff:ffff'), 429, 'the eleventh of one network');
    assert.is(await from('2001:db8:1:3::1'), 401, 'another network');
    for (let i = 1; i <= 10; i++) assert.is(await from(), 401, 'the connection itself');
    assert.is(await from(), 429);
    const seen = await remotes(running, 23);
    assert.equal(
      [seen[0], seen[10], seen[11], seen[12]],
      ['2001:db8:1:2:1::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:3::1', '::1'],
    );
    await stop(running);
  },
);

test.run();
