import { createServer } from 'node:net';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { openCatalog } from '../../src/db/database.ts';
import { auditLines } from '../support/audit.ts';
import { suite, testIf } from '../support/harness.ts';
import { runHere } from '../support/here.ts';
import { killAll, startServer, until } from '../support/running.ts';
import { scratchFolder } from '../support/scratch.ts';

const test = suite('Serving over IPv6');
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

onIpv6('on every address: log and audit stream name a caller, one over IPv4 as such', async () => {
  const folder = scratchFolder();
  openCatalog(join(folder, 'g.db'), { create: true }).close();
  const args = ['serve', '--port', '0', '--db', 'g.db', '--host', '::'];
  const running = await startServer(folder, args, { GAPSTONE_HOST: '127.0.0.1' });
  assert.is(running.url, `http://[::]:${running.port}`);
  const issued = await runHere(folder, ['token', 'issue', '--subject', 'ann', '--db', 'g.db']);
  const headers = { Authorization: `Bearer ${issued.stdout.trim()}` };
  for (const host of ['[::1]', '127.0.0.1']) {
    const url = `http://${host}:${running.port}/api/v1/lists`;
    assert.is((await fetch(url, { method: 'POST', headers, body: '{"name":"N"}' })).status, 201);
  }
  const requests = () => running.stdout().match(/^.*"msg":"request".*$/gm) ?? [];
  await until('the log lines', () => requests().length === 2);
  const callers = ['::1', '127.0.0.1'];
  assert.equal(
    requests().map((line) => JSON.parse(line).remote),
    callers,
  );
  const made = auditLines(join(folder, 'gapstone-audit.jsonl')).filter(
    ({ action }) => action === 'list.create',
  );
  assert.equal(
    made.map(({ source }) => source),
    callers,
  );
  running.child.kill('SIGTERM');
  assert.equal(await running.ended, { code: 0, signal: null });
});

test.run();
