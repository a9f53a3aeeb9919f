import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { verifyAuditFile } from '../../src/audit/verify.ts';
import { openCatalog, openDatabase } from '../../src/db/database.ts';
import { catalogDigest } from '../../src/db/digest.ts';
import { type AuditLine, auditLines } from '../support/audit.ts';
import { gapstone } from '../support/child.ts';
import { sha256 } from '../support/database-files.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { shipped } from '../support/reference.ts';
import { killAll, startServer, until } from '../support/running.ts';
import { filesOf, put, scratchFolder } from '../support/scratch.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

const test = suite('Audit: commands and the life of a server');
const operator = userInfo().username;

let folder: string;
let file: string;

const template = join(scratchFolder(), 'template.db');

test.before(async () => {
  const db = openCatalog(template, { create: true });
  await runImport(db, [shipped('roles')]);
  db.close();
  openDatabase(filesOf(template)).close();
});
test.before.each(() => {
  folder = scratchFolder();
  file = join(folder, 'gapstone-audit.jsonl');
  copyFileSync(template, join(folder, 'gapstone.db'));
  copyFileSync(filesOf(template).usersDb, join(folder, 'gapstone-users.db'));
});
test.after.each(killAll);

const run = (line: string, env: NodeJS.ProcessEnv = {}) => commandHere(line.split(' '), { cwd: folder, env });

async function runs(line: string): Promise<string> {
  const { code, stdout, stderr } = await run(line);
  assert.is(code, 0, stderr);
  return stdout.trim();
}

const makesCollection = (name: string) =>
  runs(`collection create --kind role --name ${name} --owner o --item 15-1244.00`);

/** Who, what, on what, how it ended. */
const shape = (line: AuditLine) =>
  [line.action, line.objectType, line.objectId, line.outcome, line.reason]
    .map((each) => each ?? '-')
    .join(' ');
const sample = () => put(folder, 'in/a.xml', writeXccdf({ rules: sampleRules(2) }));

test('an import tells of its start, of each file with its hash, and of the totals', async () => {
  const good = sample();
  const bad = put(folder, 'in/b.xml', '<Benchmark>');
  const { code } = await run('import in');
  assert.is(code, 3);
  const lines = auditLines(file);
  assert.equal(lines.map(shape), [
    'import.start import - success -',
    'import.source file in/a.xml success -',
    'import.source file in/b.xml failure REJECTED',
    'import.finish import - success -',
  ]);
  assert.equal(lines[0]!.detail, { paths: ['in'], strict: false });
  assert.equal(
    lines.slice(1, 3).map((line) => [line.detail!.sha256, line.detail!.outcome]),
    [
      [sha256(good), 'imported'],
      [sha256(bad), 'rejected'],
    ],
  );
  const { sources, imported, rejected } = lines[3]!.detail!;
  assert.equal([sources, imported, rejected], [2, 1, 1]);
  for (const line of lines)
    assert.equal([line.actorType, line.actor, line.source], ['operator', operator, 'cli']);
  assert.is(verifyAuditFile(file).problem, null);
});

test('a strict import that stores nothing says so; a dry run leaves nothing', async () => {
  sample();
  put(folder, 'in/b.xml', '<Benchmark>');
  assert.is((await run('import --dry-run in')).code, 3);
  assert.is(existsSync(file), false);
  assert.is((await run('import --strict in')).code, 1);
  assert.equal(auditLines(file).map(shape), [
    'import.start import - success -',
    'import.fail import - failure STRICT',
  ]);
});

test('commands leave one event each, and no token', async () => {
  sample();
  const token = await runs('token issue --subject ann --org red --email ann@example.org --entitlement occ');
  const made = JSON.parse(await runs('token integration create --name N --org red --json'));
  await run(`token integration assign ${made.id} --list nothing`);
  await runs(`token integration revoke ${made.id}`);
  await runs('token integration list');
  const owned = '--visibility SHARED --owner ann --org red --item 15-1244.00';
  const collection = await runs(`collection create --kind role --name N ${owned}`);
  await run('mapping set --from cci:CCI-000015 --to nist-800-53:AC-2 --status rejected --reason R');
  await runs('purge --dry-run');
  await runs('purge');
  const [newKey, ...lines] = auditLines(file);
  const key = JSON.parse(readFileSync(join(folder, 'gapstone-key.json'), 'utf8'));
  assert.equal(shape(newKey!), `local-key.create local-key ${key.kid} success -`);
  assert.equal(lines.map(shape), [
    'user-token.issue user ann success -',
    `integration-token.create integration-token ${made.id} success -`,
    `integration-token.assign integration-token ${made.id} failure REFUSED`,
    `integration-token.revoke integration-token ${made.id} success -`,
    `role-collection.create role-collection ${collection} success -`,
    'mapping.set mapping nist-800-53:AC-2 cci:CCI-000015 failure REFUSED',
    'deleted-lists.purge deleted-lists - success -',
  ]);
  assert.equal(lines[0]!.detail, { entitlements: ['occ'], seconds: 8 * 3600 });
  assert.equal([lines[0]!.org, lines[1]!.org, lines[4]!.org], ['red', 'red', 'red']);
  assert.equal(lines[4]!.detail, { owner: 'ann', items: 1, visibility: 'SHARED' });
  assert.equal(lines[5]!.detail, { status: 'rejected', why: 'R' });
  assert.equal(lines[6]!.detail, { acceptClock: false, count: 0 });
  const text = readFileSync(file, 'utf8');
  for (const value of [token, made.token, 'ann@example.org', key.d, key.x, key.y])
    assert.not.ok(text.includes(value));
});

test('backups and restores are told of before they are begun, and with what came of them', async () => {
  const saved = join(folder, 'saved.zip');
  const copy = JSON.parse(await runs(`backup ${saved} --json`));
  assert.is((await run(`backup ${saved}`)).code, 1, 'it is there');
  const restored = JSON.parse(await runs(`restore ${saved} --json`));
  const lines = auditLines(file);
  assert.equal(lines.map(shape), [
    `database.backup-start file ${saved} success -`,
    `database.backup file ${saved} success -`,
    `database.backup-start file ${saved} success -`,
    `database.backup file ${saved} failure REFUSED`,
    `database.restore-start file ${saved} success -`,
    `database.restore file ${saved} success -`,
  ]);
  assert.equal(lines[1]!.detail, { sha256: copy.sha256, bytes: copy.bytes });
  const [files, before] = ['file', 'before'].map((name) =>
    restored.files.map((each: Record<string, string>) => each[name]),
  );
  assert.equal(lines[5]!.detail, { sha256: restored.sha256, files, before });
});

test('check --audit walks the chain, through rotated files too, and names the line that is wrong', async () => {
  await runs('purge');
  renameSync(file, `${file}.1`);
  await runs('purge');
  const report = JSON.parse(await runs(`check --audit ${file}.1 --json`));
  const { head, lines, first } = verifyAuditFile([`${file}.1`, file]);
  assert.equal(report.audit, { lines: 3, first: 1, head, notes: [] });
  assert.equal([report.ok, lines, first], [true, 3, 1]);
  assert.match(
    await runs('check --audit'),
    new RegExp(`ok: audit\n(.*\n)*audit: 2 lines from 2, head 3 ${head!.hash}`),
  );
  assert.not.match(await runs('check'), /audit/);
  writeFileSync(file, readFileSync(file, 'utf8').replace('deleted-lists.purge', 'deleted-lists.merge'));
  const { code, stdout } = await run(`check --audit ${file}.1`);
  assert.is(code, 1);
  assert.match(
    stdout,
    /problem: audit: \S+audit\.jsonl, line 2: the line was changed: its hash does not match/,
  );
  const missing = await run('check --audit nothing.jsonl');
  assert.equal([missing.code, /problem: audit: ENOENT/.test(missing.stdout)], [1, true]);
});

test('a stream that was removed together with its head is missed: the database knows of it', async () => {
  const serve = async () => {
    const server = await startServer(folder, ['serve', '--port', '0']);
    server.child.kill('SIGTERM');
    assert.is((await server.ended).code, 0);
    return server.stdout();
  };
  assert.not.match(await serve(), /taken away/);
  const { head } = verifyAuditFile(file);
  const known = () => {
    const db = openDatabase(filesOf(join(folder, 'gapstone.db')));
    const row = db.sqlite.prepare('SELECT seq, hash FROM audit_head').get();
    db.close();
    return row;
  };
  assert.equal(known(), head, 'the end of a server is noted, and all before it');
  await runs(`import ${sample()}`);
  assert.is(verifyAuditFile(file).head!.seq, head!.seq + 3);
  assert.equal(known(), head, 'what changes the catalog alone is not noted in users’ data');
  await runs('backup copy.zip');
  assert.not.match(await serve(), /taken away/);
  const { seq } = verifyAuditFile(file).head!;
  const remove = () => {
    for (const name of [file, `${file}.head`, `${file}.lock`]) rmSync(name);
  };

  remove();
  const gone = await run('check --audit');
  assert.equal([gone.code, /^problem: audit: ENOENT/m.test(gone.stdout)], [1, true], gone.stdout);
  assert.match(await serve(), /"level":"warn","msg":"audit stream: lines[^}]*"reason":"STREAM_MISSING"/);
  const [told] = auditLines(file);
  assert.equal(
    [told!.seq, told!.action, told!.reason, told!.detail],
    [seq + 1, 'audit.recover', 'STREAM_MISSING', { streamMissing: true, missingTo: seq, headMissing: true }],
  );
  assert.match(await runs('check --audit'), /^note: audit: \S+, line 1: the stream was missing, with /m);

  remove();
  await runs('token issue --subject a-command-without-the-database');
  const cut = await run('check --audit');
  assert.match(cut.stdout, /^problem: audit: \S+, line 1: the end is cut off: lines 2 to \d+ /m);
});

test('a backup that is restored, here or elsewhere, accuses nobody', async () => {
  await makesCollection('a');
  await runs('backup copy.zip');
  await makesCollection('b');
  await runs('restore copy.zip');
  assert.not.match(await runs('check --audit'), /problem|note/);
  const elsewhere = scratchFolder();
  const there = async (line: string) => {
    const { code, stdout, stderr } = await commandHere(line.split(' '), { cwd: elsewhere });
    assert.is(code, 0, stdout + stderr);
    return stdout;
  };
  for (const name of ['copy.zip', 'copy.zip.sha256']) copyFileSync(join(folder, name), join(elsewhere, name));
  await there('restore copy.zip');
  await there('collection create --kind role --name c --owner o --item 15-1244.00');
  assert.not.match(await there('check --audit'), /problem|note/);
  const lines = auditLines(join(elsewhere, 'gapstone-audit.jsonl'));
  const told = lines.map(({ seq, action }) => `${seq} ${action}`);
  assert.is(told.join(), '1 database.restore-start,2 database.restore,3 role-collection.create');
  // Copied by hand to where another stream is, it is told of once, and then it is that of its place.
  copyFileSync(join(folder, 'gapstone-users.db'), join(elsewhere, 'gapstone-users.db'));
  const created = 'collection create --kind role --name d --owner o --item 15-1244.00';
  const warned = await gapstone(created.split(' '), { cwd: elsewhere });
  assert.match(warned.stderr, /audit stream: lines or the head were removed, or this is a different stream/);
});

test('stop: a command that cannot be audited does nothing, and says why', async () => {
  const files = filesOf(join(folder, 'gapstone.db'));
  const state = () => {
    const catalog = openCatalog(files.db);
    const content = catalogDigest(catalog);
    catalog.close();
    return [content, sha256(files.usersDb)];
  };
  const before = state();
  const nowhere = { GAPSTONE_AUDIT_FILE: join(folder, 'nowhere/audit.jsonl') };
  sample();
  for (const line of [
    'import in',
    'token issue --subject ann',
    'token integration create --name N --org red',
    'collection create --kind role --name N --owner ann --item 15-1244.00',
    'purge',
    'backup saved.zip',
    'serve --port 0',
  ]) {
    const { code, stdout, stderr } = await run(line, nowhere);
    assert.is(code, 1, line);
    assert.match(stderr, /the audit stream \S+audit\.jsonl cannot be written: ENOENT/);
    assert.not.match(stderr, /\n\s+at /);
    assert.not.match(stdout, /eyJ|gsi_/);
  }
  assert.equal(state(), before);
  const db = openDatabase(files);
  for (const table of ['integration_tokens', 'bundles', 'stigs'])
    assert.is(db.sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), 0, table);
  db.close();
  for (const name of ['saved.zip', 'gapstone-key.json'])
    assert.is(existsSync(join(folder, name)), false, name);
});

test('continue: a command goes on without, and warns', async () => {
  const nowhere = { GAPSTONE_AUDIT_FILE: join(folder, 'nowhere/audit.jsonl') };
  const env = { ...nowhere, GAPSTONE_AUDIT_FAILURE: 'continue' };
  const { code, stdout, stderr } = await run('token issue --subject ann', env);
  assert.equal([code, /^eyJ/.test(stdout)], [0, true]);
  assert.match(stderr, /"audit stream cannot be written"/);
});

test('a stream that breaks under a server and heals needs no restart', async () => {
  const [here, away] = [join(folder, 'here'), join(folder, 'away')];
  mkdirSync(here);
  const own = join(here, 'audit.jsonl');
  const server = await startServer(folder, ['serve', '--port', '0'], { GAPSTONE_AUDIT_FILE: own });
  const headers = { Authorization: `Bearer ${await runs('token issue --subject ann')}` };
  const sent = { method: 'POST', headers, body: '{"name":"N"}' };
  const make = async () => (await fetch(`${server.url}/api/v1/lists`, sent)).status;
  const statuses = [await make()];
  renameSync(here, away);
  statuses.push(await make(), await make());
  renameSync(away, here);
  statuses.push(await make());
  assert.equal(statuses, [201, 503, 503, 201]);
  server.child.kill('SIGTERM');
  assert.is((await server.ended).code, 0);
  assert.equal([verifyAuditFile(own).problem, verifyAuditFile(own).notes], [null, []]);
  const told = auditLines(own).map((line) => [line.action, line.reason, line.detail?.refused].join(' '));
  const ofLists = told.filter((line) => /^(list|audit)\./.test(line));
  assert.equal(ofLists, ['list.create  ', 'audit.failure ENOENT 2', 'list.create  ']);
});

test('the start of a server, its configuration and its end are told of; the stream may lie elsewhere', async () => {
  mkdirSync(join(folder, 'elsewhere'));
  const elsewhere = join(folder, 'elsewhere/audit.log');
  for (const [secret, more] of [
    ['canary-secret', {}],
    ['canary-other', {}],
    ['canary-other', { GAPSTONE_PLANTS: 'off' }],
  ] as const) {
    const own = { GAPSTONE_AUDIT_FILE: elsewhere, GAPSTONE_CRON_SECRET: secret, ...more };
    const server = await startServer(folder, ['serve', '--port', '0'], own);
    const purge = await fetch(`${server.url}/api/cron/purge-deleted-lists`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${secret}` },
    });
    assert.is(purge.status, 200);
    server.child.kill('SIGTERM');
    assert.equal((await server.ended).code, 0);
  }
  const lines = auditLines(elsewhere);
  const life = [
    ['service.start', null],
    ['config.load', null],
    ['deleted-lists.purge', null],
    ['deleted-lists.purge', null],
    ['service.stop', 'SIGTERM'],
  ];
  const key = ['local-key.create', null];
  assert.equal(
    lines.map((line) => [line.action, line.reason]),
    [key, ...life, ...life, ...life],
  );
  assert.equal([lines[4]!.actor, lines[4]!.source], ['scheduler', '127.0.0.1']);
  const hashes = lines.filter((line) => line.action === 'config.load').map((line) => line.detail!.sha256);
  assert.is(hashes[0], hashes[1], 'a secret does not go into it');
  assert.is.not(hashes[1], hashes[2]);
  assert.not.match(readFileSync(elsewhere, 'utf8'), /canary/);
  assert.is(verifyAuditFile(elsewhere).problem, null);
});

test('a key set that is replaced is told of', async () => {
  await runs('token issue --subject ann');
  const { d: _, ...key } = JSON.parse(readFileSync(join(folder, 'gapstone-key.json'), 'utf8'));
  const jwks = put(folder, 'jwks.json', JSON.stringify({ keys: [key] }));
  const token = await runs('token issue --subject ann');
  const env = { GAPSTONE_JWKS: jwks, GAPSTONE_ISSUER: 'gapstone', GAPSTONE_AUDIENCE: 'gapstone' };
  const server = await startServer(folder, ['serve', '--port', '0'], env);
  const ask = () => fetch(`${server.url}/api/v1/stigs`, { headers: { Authorization: `Bearer ${token}` } });
  const reloads = () =>
    auditLines(file)
      .filter((line) => line.action === 'keys.reload')
      .map((line) => line.outcome);
  assert.is((await ask()).status, 200);
  for (const [text, count] of [
    [JSON.stringify({ keys: [{ ...key, use: 'sig' }] }), 1],
    ['{', 2],
  ] as const) {
    writeFileSync(jwks, text);
    await until('the key set is read again', async () => {
      await ask();
      return reloads().length >= count;
    });
  }
  assert.equal(reloads(), ['success', 'failure']);
  server.child.kill('SIGTERM');
  await server.ended;
});

test.run();
