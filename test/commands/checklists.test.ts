import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { readZip } from '../support/read-zip.ts';
import { shipped } from '../support/reference.ts';
import { killAll, startServer } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { noStig } from '../support/words.ts';

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
    const args = [
      '--list',
      id,
      '--hosts',
      'hosts.csv',
      '--out',
      out,
      '--format',
      format!,
      '--layout',
      layout!,
    ];
    const made = await commandHere(['checklists', ...args, '--json'], { cwd: folder, env });
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

command('what is wrong is one line, and leaves nothing behind', async () => {
  const table = (name: string, text: string) => put(folder, name, text);
  table('none.csv', 'hostName\n');
  table('typo.csv', 'hostName,ipAdress\nweb01,10.0.0.1\n');
  table('nameless.csv', 'ipAddress\n10.0.0.1\n');
  table('twice.csv', 'hostName,host\na,b\n');
  table('bad.csv', '\uFEFFhostName;role\r\nweb01;None\r\n\r\nweb02;King\r\n;None\r\n');
  table('open.csv', 'hostName\n"web01\n');
  table('long.csv', `hostName\n${'x'.repeat(256)}\n`);
  table('many.csv', `hostName\n${Array.from({ length: 501 }, (_, index) => `h${index}`).join('\n')}\n`);
  put(folder, 'latin.csv', Buffer.from('hostName\nk\x81ln\n', 'latin1'));
  const stig = ['--stig', 'harbor_linux_3'];
  const to = ['--out', 'new.zip'];
  const columns = 'The columns are hostName, ipAddress, macAddress, fqdn, role, stigs';
  const roles = 'role must be one of: None, Workstation, Member Server, Domain Controller';
  const cases: [args: string[], code: number, message: string | RegExp][] = [
    [[...stig, '--hosts', 'none.csv', ...to], 1, 'none.csv: There is no host'],
    [
      [...stig, '--hosts', 'typo.csv', ...to],
      1,
      `typo.csv: Line 1: there is no column "ipAdress". ${columns}`,
    ],
    [[...stig, '--hosts', 'nameless.csv', ...to], 1, 'nameless.csv: Line 1: the column hostName is missing'],
    [[...stig, '--hosts', 'twice.csv', ...to], 1, 'twice.csv: Line 1: the column hostName is listed twice'],
    [
      [...stig, '--hosts', 'bad.csv', ...to],
      1,
      `bad.csv: Line 4 (web02): ${roles}; Line 5: hostName is required`,
    ],
    [[...stig, '--hosts', 'open.csv', ...to], 1, /^open\.csv: Quote Not Closed: .* line 2/],
    [
      [...stig, '--hosts', 'long.csv', ...to],
      1,
      `long.csv: Line 2 (${'x'.repeat(64)}): hostName must have at most 255 characters`,
    ],
    [
      [...stig, '--hosts', 'many.csv', ...to],
      1,
      'many.csv: There are more than 500 hosts. One zip can have at most 500',
    ],
    [[...stig, '--hosts', 'latin.csv', ...to], 1, /^latin\.csv cannot be read: not valid UTF-8/],
    [[...stig, '--hosts', 'absent.csv', ...to], 1, 'there is no file absent.csv'],
    [['--stig', 'nothing', '--hosts', 'hosts.csv', ...to], 1, noStig('nothing')],
    [[...stig, '--hosts', 'hosts.csv', '--out', 'hosts.csv'], 1, /^hosts\.csv already exists/],
    [
      [...stig, '--hosts', 'hosts.csv', '--out', 'no/such/a.zip'],
      1,
      /^the folder of no\/such\/a\.zip does not/,
    ],
    [
      [...stig, '--hosts', 'hosts.csv', ...to, '--format', 'pdf'],
      2,
      /^Invalid format\. Must be one of: cklb, ckl$/,
    ],
    [[...stig, '--hosts', 'hosts.csv', ...to, '--layout', 'x'], 2, 'layout must be one of: stig, host'],
    [['--hosts', 'hosts.csv', ...to], 2, 'give either --list ID or --stig SLUG'],
    [[...stig, '--list', 'x', '--hosts', 'hosts.csv', ...to], 2, 'give either --list ID or --stig SLUG'],
    [[...stig, ...to], 2, '--hosts must be given'],
    [[...stig, '--hosts', 'hosts.csv'], 2, '--out must be given'],
    [['--list', 'x', 'y', '--hosts', 'hosts.csv', ...to], 2, 'expected no arguments, got 1 arguments'],
  ];
  for (const [args, code, message] of cases) {
    const refused = await run(...args);
    const [line, ...more] = refused.stderr.split('\n');
    assert.equal([refused.code, refused.stdout, more], [code, '', ['']], args.join(' '));
    const said = line!.replace(/^gapstone: /, '');
    if (typeof message === 'string') assert.is(said, message);
    else assert.match(said, message);
  }
  assert.not.ok(existsSync(join(folder, 'new.zip')));
  assert.equal(
    readdirSync(folder).filter((name) => name.includes('.part-')),
    [],
  );
});

command.run();
