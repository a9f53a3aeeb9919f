import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { readZip } from '../support/read-zip.ts';
import { shipped } from '../support/reference.ts';
import { killAll, startServer } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';

const command = suite('gapstone checklists');
command.after(killAll);

const csv =
  'hostName,ipAddress,macAddress,fqdn,role\nweb01,10.0.0.11,,web01.x.test,member server\ndb 1,,,,\n';
const hosts = [
  { hostName: 'web01', ipAddress: '10.0.0.11', fqdn: 'web01.x.test', role: 'Member Server' },
  { hostName: 'db 1' },
];

let folder: string;
command.before(async () => {
  folder = scratchFolder();
  const { code, stderr } = await commandHere(['import', shipped('stigs')], { cwd: folder });
  assert.is(code, 0, stderr);
  put(folder, 'hosts.csv', csv);
});

const run = (...args: string[]) => commandHere(['checklists', ...args], { cwd: folder });
const read = (name: string) => readFileSync(join(folder, name));

command('of a list: the bytes that the API gives, whole, for the owner alone, and audited', async () => {
  const issued = await commandHere(['token', 'issue', '--subject', 'ann', '--org', 'red'], { cwd: folder });
  const headers = { Authorization: `Bearer ${issued.stdout.trim()}` };
  const { url, child, ended } = await startServer(folder, ['serve', '--port', '0'], {
    GAPSTONE_BANNER: 'CUI',
  });
  const post = (path: string, body: object) =>
    fetch(`${url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const { id } = (await (await post('/lists', { name: 'L' })).json()) as { id: string };
  await post(`/lists/${id}/stigs`, { slugs: ['lantern_web_server_2', 'harbor_linux_3'] });
  for (const [format, layout] of [
    ['cklb', 'stig'],
    ['ckl', 'host'],
  ]) {
    const answer = await post(`/lists/${id}/checklists`, { hosts, format, layout });
    const served = Buffer.from(await answer.arrayBuffer());
    const out = `${format}.zip`;
    const env = { GAPSTONE_BANNER: 'CUI' };
    const args = `--list ${id} --hosts hosts.csv --out ${out} --format ${format} --layout ${layout}`;
    const made = await commandHere(['checklists', ...args.split(' '), '--json'], { cwd: folder, env });
    assert.is(made.code, 0, made.stderr);
    assert.equal(read(out), served);
    const { file, bytes, sha256, files } = JSON.parse(made.stdout);
    assert.equal([file, bytes], [out, served.length]);
    assert.is(sha256, createHash('sha256').update(served).digest('hex'));
    assert.equal(files, [...(await readZip(served)).keys()]);
    assert.is(statSync(join(folder, out)).mode & 0o777, 0o600);
    const event = read('gapstone-audit.jsonl').toString().trim().split('\n').at(-1)!;
    const { action, objectId, actorType } = JSON.parse(event);
    assert.equal([action, objectId, actorType], ['list.checklists', id, 'operator']);
  }
  await fetch(`${url}/api/v1/lists/${id}`, { method: 'DELETE', headers });
  const deleted = await run('--list', id, '--hosts', 'hosts.csv', '--out', 'gone.zip');
  assert.equal([deleted.code, deleted.stderr], [1, `gapstone: there is no list ${id}\n`]);
  child.kill('SIGTERM');
  await ended;
});

command('of STIGs by slug or benchmark id, each once', async () => {
  const made = await run(
    ...['--stig', 'lantern_web_server_2', 'harbor_linux_3', '--stig', 'Harbor_Linux_3_STIG'],
    ...['--hosts', 'hosts.csv', '--out', 'stigs.zip'],
  );
  assert.is(made.code, 0, made.stderr);
  assert.match(made.stdout, /^[0-9a-f]{64} {2}stigs\.zip\n$/);
  assert.match(made.stderr, /^db 1 is not a host name by RFC 1123\n4 checklists, [\d,]+ bytes\n$/);
  assert.equal(
    [...(await readZip(read('stigs.zip'))).keys()].map((name) => name.replace(/_V\d+R\d+/, '')),
    ['web01', 'db 1'].flatMap((host) => [`${host}_harbor_linux_3.cklb`, `${host}_lantern_web_server_2.cklb`]),
  );
});

command.run();
