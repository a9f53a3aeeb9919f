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

test.run();
