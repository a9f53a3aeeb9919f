import { createHash } from 'node:crypto';
import { copyFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { issueUserToken } from '../../src/auth/tokens.ts';
import { readConfig } from '../../src/base/config.ts';
import { openCatalog } from '../../src/db/database.ts';
import { suite } from '../support/harness.ts';
import { littleProgram, runBy } from '../support/little-program.ts';
import { shipped } from '../support/reference.ts';
import {
  killAll,
  openRaw,
  type Running,
  readAnswer,
  runToEnd,
  startServer,
  until,
} from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

const serve = suite('gapstone start and serve');

serve.after(killAll);

const lines = (text: string) => text.split('\n').filter((line) => line !== '');

async function stop(running: Running): Promise<void> {
  running.child.kill('SIGTERM');
  assert.equal(await running.ended, { code: 0, signal: null });
}

function assertCleanStop(folder: string, running: Running): void {
  const log = lines(running.stdout()).map((line) => JSON.parse(line));
  assert.equal(
    log.filter((line) => line.msg.startsWith('stop')).map((line) => line.msg),
    ['stopping', 'stopped'],
  );
  assert.is(statSync(join(folder, 'g.db-wal'), { throwIfNoEntry: false })?.size ?? 0, 0, 'the WAL is empty');
}

/** A database of the sample STIGs, made once; every test takes a copy. */
const sampleFile = join(scratchFolder(), 'g.db');
await fill(sampleFile, shipped('stigs'));
/** A program that ships little. */
const home = littleProgram();
const start = (folder: string, args: string[], env: Record<string, string> = {}) =>
  startServer(folder, ['start', '--port', '0', '--db', 'g.db', ...args], env, runBy(home));

async function fill(file: string, path: string): Promise<void> {
  const db = openCatalog(file, { create: true });
  await runImport(db, [path]);
  db.close();
}

function folderWith(file: string): string {
  const folder = scratchFolder();
  copyFileSync(file, join(folder, 'g.db'));
  return folder;
}

function token(folder: string): Promise<string> {
  const config = readConfig({ db: join(folder, 'g.db') }, {});
  return issueUserToken(config, { subject: 'test', entitlements: [], lifetime: 600 }, new Date());
}

function runs(file: string): number {
  const db = new Sqlite(file, { readonly: true });
  try {
    return db.prepare('SELECT count(*) FROM import_runs').pluck().get() as number;
  } finally {
    db.close();
  }
}

serve(
  'start: makes the database, imports the shipped data, prints the address and a curl line that works',
  async () => {
    const folder = scratchFolder();
    const env = { GAPSTONE_DB: 'g.db', GAPSTONE_PORT: '0' };
    const first = await startServer(folder, ['start'], env, runBy(home));
    await until('the curl line', () => first.stderr().includes('/api/v1/stigs'));
    assert.match(
      first.stderr(),
      /^created g\.db\nimporting the shipped data of .+\n(reading: .+\n)*imported the shipped data: \d+ sources\ncreated g-users\.db\n/,
    );
    const curl = /^curl -H 'Authorization: (Bearer [\w.-]+)' (\S+)$/m.exec(first.stderr())!;
    assert.ok(curl, first.stderr());
    const response = await fetch(curl[2]!, { headers: { Authorization: curl[1]! } });
    assert.is(response.status, 200);
    assert.match(await response.text(), '"harbor_linux_3"');
    assert.is(statSync(join(folder, 'gapstone-key.json')).mode & 0o777, 0o600);
    assert.not.match(first.stdout(), /Bearer|eyJ/, 'no token on stdout, where the log goes');
    await stop(first);
    assertCleanStop(folder, first);
    const before = runs(join(folder, 'g.db'));
    assert.is(before, 1);

    const second = await start(folder, ['--no-token']);
    await until('the address', () => second.stderr().includes(second.url));
    assert.not.match(second.stderr() + second.stdout(), /Bearer|eyJ/, '--no-token prints none');
    assert.not.match(second.stderr(), /import|creat/, 'the second start does not import');
    const again = await fetch(`${second.url}/api/v1/stigs`, { headers: { Authorization: curl[1]! } });
    assert.is(again.status, 200, 'the first token still holds: the key was kept');
    await stop(second);
    assert.is(runs(join(folder, 'g.db')), before, 'the ledger is unchanged');
  },
);

serve('a port that is taken is one line, and who has it is unharmed', async () => {
  const folder = folderWith(sampleFile);
  const running = await startServer(folder, ['serve', '--port', '0', '--db', 'g.db']);
  const port = String(running.port);
  const { code, stderr } = await runToEnd(folder, ['serve', '--port', port, '--db', 'g.db']);
  assert.equal([code, lines(stderr).length], [1, 1], stderr);
  assert.match(stderr, new RegExp(`^gapstone: cannot listen on 127\\.0\\.0\\.1:${port}: `));
  assert.is((await fetch(`${running.url}/readyz`)).status, 200);
  // Clients that keep connections open do not hold a stop up, however it is asked for.
  const used = await openRaw(running.port, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n', true);
  const silent = await openRaw(running.port, '', true);
  await until('the answer', () => used.received().includes('"ok"'));
  running.child.kill('SIGINT');
  assert.equal(await running.ended, { code: 0, signal: null });
  assertCleanStop(folder, running);
  used.socket.destroy();
  silent.socket.destroy();
});

// A download larger than what sockets buffer, so that a client that does not read holds it up.
const rule = (index: number) => ({
  groupId: `V-${index}`,
  ruleId: `SV-${index}r1_rule`,
  version: `SLOW-${index}`,
  checks: [`${index} `.padEnd(1024 * 1024, 'slow ')],
});
const slowXml = writeXccdf({
  id: 'Slow',
  title: 'Slow STIG',
  rules: Array.from({ length: 12 }, (_, index) => rule(index)),
});
const slowFile = join(scratchFolder(), 'g.db');
await fill(slowFile, put(scratchFolder(), 'slow-xccdf.xml', slowXml));

async function stalled(): Promise<{
  folder: string;
  running: Running;
  download: Awaited<ReturnType<typeof openRaw>>;
  expected: string;
}> {
  const folder = folderWith(slowFile);
  const running = await startServer(folder, ['serve', '--port', '0', '--db', 'g.db']);
  const headers = { Authorization: `Bearer ${await token(folder)}` };
  const path = '/api/v1/stigs/slow/download?format=json';
  const whole = await (await fetch(`${running.url}${path}`, { headers })).text();
  const expected = createHash('sha256').update(whole).digest('hex');
  const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${headers.Authorization}\r\n\r\n`;
  const download = await openRaw(running.port, request);
  download.socket.once('data', () => download.socket.pause());
  await until('the first bytes of the download', () => download.received().length > 0);
  return { folder, running, download, expected };
}

serve(
  'SIGTERM: a slow download ends whole, idle connections close, nothing new is taken, exit 0',
  async () => {
    const { folder, running, download, expected } = await stalled();
    const idle = await openRaw(running.port, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await until('the answer on the idle connection', () => idle.received().includes('"ok"'));
    running.child.kill('SIGTERM');
    await until('the stop is logged', () => running.stdout().includes('"stopping"'));
    await idle.end;
    assert.is(readAnswer(idle.received()).status, 200);
    const refused = await openRaw(running.port, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n').then(
      () => null,
      (error: NodeJS.ErrnoException) => error.code,
    );
    assert.is(refused, 'ECONNREFUSED');
    assert.is(running.child.exitCode, null, 'it waits for the download');
    assert.not(download.closed());
    download.socket.resume();
    const answer = readAnswer(await download.end);
    assert.is(answer.status, 200);
    assert.is(Buffer.byteLength(answer.body), Number(answer.headers.get('content-length')));
    assert.is(createHash('sha256').update(answer.body).digest('hex'), expected);
    assert.equal(await running.ended, { code: 0, signal: null });
    assertCleanStop(folder, running);
  },
);

serve('a second SIGTERM ends at once, and the database is whole', async () => {
  const { folder, running, download } = await stalled();
  running.child.kill('SIGTERM');
  await until('the stop is logged', () => running.stdout().includes('"stopping"'));
  running.child.kill('SIGTERM');
  assert.equal(await running.ended, { code: 1, signal: null });
  download.socket.destroy();
  const db = openCatalog(join(folder, 'g.db'));
  assert.is(db.sqlite.pragma('quick_check', { simple: true }), 'ok');
  db.close();
});

serve.run();
