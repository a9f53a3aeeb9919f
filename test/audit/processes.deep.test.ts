import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import { openAuditFile } from '../../src/audit/file.ts';
import { verifyAuditFile } from '../../src/audit/verify.ts';
import { auditLines, someEvent } from '../support/audit.ts';
import { suite } from '../support/harness.ts';
import { until } from '../support/running.ts';
import { scratchFolder } from '../support/scratch.ts';

const test = suite('Audit: several processes, killed ones among them');
const writer = fileURLToPath(new URL('../support/audit-writer.ts', import.meta.url));
const children = new Set<ChildProcess>();

test.after(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** A process that appends so many lines: when its first are written, and how it ends, which may be before that of another. */
function write(file: string, count: number, name: string) {
  const child = spawn(process.execPath, [writer, file, String(count), name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  const ended = once(child, 'close').then(([code, signal]) => {
    children.delete(child);
    return signal ?? code;
  });
  return { child, begun: once(child.stdout!, 'data'), ended };
}

test('three processes that append thousands of lines at once, and a rotation meanwhile, make one chain', async () => {
  const file = join(scratchFolder(), 'audit.jsonl');
  const each = 500;
  const names = ['a', 'b', 'c'];
  const writers = names.map((name) => write(file, each, name));
  await Promise.all(writers.map(({ begun }) => begun));
  renameSync(file, `${file}.1`);
  assert.equal(await Promise.all(writers.map(({ ended }) => ended)), [0, 0, 0]);
  const verdict = verifyAuditFile([`${file}.1`, file]);
  assert.is(verdict.problem, null);
  const lines = [...auditLines(`${file}.1`), ...auditLines(file)];
  for (const name of names) {
    const own = lines.map((line) => line.objectId).filter((id) => id?.startsWith(`${name} `));
    assert.equal(
      own,
      Array.from({ length: each }, (_, index) => `${name} ${index + 1}`),
      'each process’s lines are whole and in order',
    );
  }
  const changes = lines.filter(
    (line, index) => line.objectId?.[0] !== lines[index - 1]?.objectId?.[0],
  ).length;
  assert.ok(changes > names.length, 'they took turns');
});

/** The bytes of the stream, which the first event creates. */
const bytesOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

test('processes killed in the middle of writing leave a chain that holds and goes on', async () => {
  const file = join(scratchFolder(), 'audit.jsonl');
  let kills = 0;
  for (let round = 0; round < 4; round++) {
    const { child, begun, ended } = write(file, 1_000_000, `round ${round}`);
    await begun;
    // After some lines more, however fast the machine is.
    const before = bytesOf(file);
    await until('more lines', () => bytesOf(file) > before + 1500 * (2 + (round % 5)));
    child.kill('SIGKILL');
    if ((await ended) === 'SIGKILL') kills++;
    assert.is(verifyAuditFile(file).problem, null, `after kill ${round + 1}`);
  }
  assert.is(kills, 4);
  const audit = openAuditFile(file, { now: () => new Date() });
  const { head } = audit.append([someEvent('the last')], true);
  audit.close();
  const verdict = verifyAuditFile(file);
  assert.equal([verdict.problem, verdict.head], [null, head]);
  assert.ok(verdict.lines > 40, `${verdict.lines} lines`);
});

test.run();
