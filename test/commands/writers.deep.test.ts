import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { verifyAuditFile } from '../../src/audit/verify.ts';
import { serveOver } from '../faults/support/served.ts';
import { auditLines } from '../support/audit.ts';
import { suite } from '../support/harness.ts';
import { holdLock } from '../support/lock.ts';
import { shipped } from '../support/reference.ts';
import { killAll, until } from '../support/running.ts';

// Rule D23.3; what is larger, and what is measured, is in `test/faults/locked.deep.test.ts`.
const writers = suite('A write that waits');
writers.after(killAll);

writers('a stop waits for the write of a caller who is gone, and its event is the last but one', async () => {
  const served = await serveOver([shipped('stigs')]);
  const { child, url, ended } = served.running;
  await until('it has begun', () => /"msg":"purge"/.test(served.running.stdout()));
  const free = holdLock(served.usersFile);
  const caller = new AbortController();
  const { signal } = caller;
  const post = { method: 'POST', headers: served.authorization, body: '{"name":"gone"}', signal };
  const asked = fetch(`${url}/api/v1/lists`, post).catch(() => 'gone');
  // What was asked later is answered: the write is being waited for.
  assert.is((await fetch(`${url}/healthz`)).status, 200);
  caller.abort();
  assert.is(await asked, 'gone');
  child.kill('SIGTERM');
  await until('it stops', () => /"msg":"stopping"/.test(served.running.stdout()));
  free();
  assert.equal(await ended, { code: 0, signal: null });
  assert.not.match(served.running.stdout(), /"level":"error"/);
  const stream = join(served.folder, 'gapstone-audit.jsonl');
  assert.is(verifyAuditFile(stream).problem, null);
  const actions = auditLines(stream).map((line) => line.action);
  assert.is(actions.at(-1), 'service.stop');
  assert.is(actions.filter((action) => action === 'list.create').length, 1);
});

writers.run();
