import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { createDatabaseFile } from '../../src/db/create.ts';
import { openCatalog, openDatabase } from '../../src/db/database.ts';
import { suite } from '../support/harness.ts';
import { runHere } from '../support/here.ts';
import { shipped } from '../support/reference.ts';
import { killAll, startServer } from '../support/running.ts';
import { filesIn, filesOf, put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// Rule D23: the catalog, and users' data in a file of its own.
const two = suite('Catalog and users’ data');
two.after(killAll);

const sample = filesOf(join(scratchFolder(), 'g.db'));
{
  const catalog = openCatalog(sample.db, { create: true });
  await runImport(catalog, [shipped('stigs')]);
  catalog.close();
  openDatabase(sample).close();
}

const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** The files of a folder and what is in them, but for the audit stream. */
const stateOf = (folder: string) => filesIn(folder).map((name) => [name, sha256(join(folder, name))]);

/** Every command that opens a database, as it is called without the names of the files. */
const commands = [
  ['backup', 'b.zip'],
  ['check'],
  ['check', '--audit'],
  ['status'],
  ['import', 'a.xml'],
  ['import', '--dry-run', 'a.xml'],
  ['purge'],
  ['purge', '--dry-run'],
  ['mapping', 'list'],
  ['mapping', 'set', '--from', 'cci:CCI-1', '--to', 'nist-800-53:AC-1', '--status', 'auto', '--reason', 'x'],
  ['mapping', 'remove', '--from', 'cci:CCI-1', '--to', 'nist-800-53:AC-1'],
  ['self-assessment'],
  ['serve', '--port', '0'],
  ['start', '--port', '0'],
  ['integration-token', 'list'],
  ['integration-token', 'create', '--name', 'n', '--org', 'o'],
  ['integration-token', 'revoke', 'x'],
  ['integration-token', 'assign', 'x', '--list', 'y'],
  ['collection', 'create', '--kind', 'role', '--name', 'n', '--owner', 'o', '--item', 'i'],
  ['token', 'issue', '--subject', 's'],
];

/** A file as there was before the first version, with everything in it. */
function singleFile(file: string): void {
  const sqlite = new Sqlite(file);
  sqlite.pragma(`application_id = ${0x47415053}`);
  sqlite.pragma('journal_mode = WAL');
  sqlite.exec('CREATE TABLE catalog (generation INTEGER); CREATE TABLE bundles (id TEXT)');
  sqlite.pragma('user_version = 12');
  sqlite.close();
}

const isSingle = (file: string) =>
  `gapstone: ${file} holds catalog and users' data in one file, which this version does not read: move it away, then import the sources again with "gapstone import"\n`;

two('a file that holds both is refused by every command with one line, and left as it was', async () => {
  const folder = scratchFolder();
  put(folder, 'a.xml', writeXccdf());
  singleFile(join(folder, 'g.db'));
  const before = stateOf(folder);
  for (const args of [...commands, ['restore', 'g.db']]) {
    const db = args[0] === 'restore' ? 'other.db' : 'g.db';
    const { code, stdout, stderr } = await runHere(folder, [...args, '--db', db]);
    assert.equal([code, stdout], [1, ''], `${args.join(' ')}: ${stderr}`);
    assert.is(stderr, isSingle('g.db'), args.join(' '));
    assert.equal(stateOf(folder), before, args.join(' '));
  }
});

two('so it is in the place of users’ data, by every command that opens them', async () => {
  const folder = scratchFolder();
  put(folder, 'a.xml', writeXccdf());
  copyFileSync(sample.db, join(folder, 'g.db'));
  singleFile(join(folder, 'g-users.db'));
  const before = stateOf(folder);
  const alone = ['import', 'token', 'start'];
  for (const args of [
    ...commands.filter(([name]) => !alone.includes(name!)),
    ['backup', 'u.db', '--users-only'],
  ]) {
    const { code, stdout, stderr } = await runHere(folder, [...args, '--db', 'g.db']);
    assert.equal([code, stdout, stderr], [1, '', isSingle('g-users.db')], args.join(' '));
    assert.equal(stateOf(folder), before, args.join(' '));
  }
});

two('restoring over a file that holds both is refused', async () => {
  for (const name of ['g.db', 'g-users.db']) {
    const folder = scratchFolder();
    for (const file of Object.values(sample)) copyFileSync(file, join(folder, file.split('/').at(-1)!));
    assert.is((await runHere(folder, ['backup', 'b.zip', '--db', 'g.db'])).code, 0);
    rmSync(join(folder, name));
    singleFile(join(folder, name));
    const before = stateOf(folder);
    const { code, stdout, stderr } = await runHere(folder, ['restore', 'b.zip', '--db', 'g.db']);
    assert.equal([code, stdout], [1, '']);
    assert.is(stderr, `gapstone: ${name} belongs to another program: nothing was replaced\n`);
    assert.equal(stateOf(folder), before);
  }
});

two('a catalog given as users’ data, and the reverse, is refused with one line', async () => {
  const folder = scratchFolder();
  put(folder, 'a.xml', writeXccdf());
  copyFileSync(sample.db, join(folder, 'g.db'));
  copyFileSync(sample.usersDb, join(folder, 'u.db'));
  copyFileSync(sample.db, join(folder, 'other.db'));
  const before = stateOf(folder);
  for (const args of commands.filter(([name]) => name !== 'token')) {
    if (args[0] !== 'import' && args[0] !== 'start') {
      const asUsers = await runHere(folder, [...args, '--db', 'g.db', '--users-db', 'other.db']);
      assert.equal(
        [asUsers.code, asUsers.stdout, asUsers.stderr],
        [1, '', "gapstone: other.db is a catalog, not a file of users' data\n"],
        args.join(' '),
      );
    }
    const asCatalog = await runHere(folder, [...args, '--db', 'u.db', '--users-db', 'new.db']);
    assert.equal(
      [asCatalog.code, asCatalog.stdout, asCatalog.stderr],
      [1, '', "gapstone: u.db is a file of users' data, not a catalog\n"],
      args.join(' '),
    );
    assert.equal(stateOf(folder), before, args.join(' '));
  }
});

two('users’ data lies beside the catalog by its name, or where flag or environment say', async () => {
  const cases: [name: string, args: string[], env: Record<string, string>, users: string][] = [
    ['x.db', [], {}, 'x-users.db'],
    ['x', [], {}, 'x-users.db'],
    ['x.y.db', [], {}, 'x.y-users.db'],
    ['x.sqlite', [], {}, 'x-users.db'],
    ['.hidden', [], {}, '.hidden-users.db'],
    ['a.b/c.d/x.db', [], {}, 'a.b/c.d/x-users.db'],
    ['a.b/c.d/x', [], {}, 'a.b/c.d/x-users.db'],
    ['./a.b/../x.db', [], {}, 'x-users.db'],
    ['x.db', ['--users-db', 'a.b/u.db'], {}, 'a.b/u.db'],
    ['x.db', [], { GAPSTONE_USERS_DB: 'a.b/e.db' }, 'a.b/e.db'],
    ['x.db', ['--users-db', 'f'], { GAPSTONE_USERS_DB: 'a.b/e.db' }, 'f'],
  ];
  for (const [name, args, env, users] of cases) {
    const folder = scratchFolder();
    mkdirSync(join(folder, 'a.b/c.d'), { recursive: true });
    copyFileSync(sample.db, join(folder, name));
    const made = await runHere(folder, ['purge', '--db', name, ...args], env);
    assert.equal(
      [made.code, made.stdout],
      [0, '0 lists deleted more than 30 days ago were removed\n'],
      `${name}: ${made.stderr}`,
    );
    const found = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith('gapstone-audit'))
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
    assert.equal(found.sort(), [join(name), users].sort(), name);
    const stream = join(folder, users, '..', 'gapstone-audit.jsonl');
    assert.ok(existsSync(stream), 'the audit stream lies beside users’ data');
    // The environment names the catalog too.
    const status = await runHere(folder, ['status', '--json', ...args], { ...env, GAPSTONE_DB: name });
    const told = JSON.parse(status.stdout);
    assert.ok(told.users.file.endsWith(`/${users}`), told.users.file);
  }
});

two('an empty name is refused, and so are two that are the same', async () => {
  const folder = scratchFolder();
  copyFileSync(sample.db, join(folder, 'g.db'));
  for (const [args, env, message] of [
    [['--users-db', ''], {}, 'gapstone: --users-db is set but empty\n'],
    [[], { GAPSTONE_USERS_DB: '' }, 'gapstone: GAPSTONE_USERS_DB is set but empty\n'],
  ] as const) {
    const { code, stderr } = await runHere(folder, ['status', '--db', 'g.db', ...args], env);
    assert.equal([code, stderr], [2, message]);
  }
  for (const [db, usersDb] of [
    ['g.db', 'g.db'],
    ['n.db', './n.db'],
  ] as const) {
    const same = await runHere(folder, ['start', '--port', '0', '--db', db, '--users-db', usersDb]);
    assert.equal([same.code, same.stdout], [2, '']);
    assert.is(same.stderr, 'gapstone: --db and --users-db name the same file\n');
  }
  assert.equal(filesIn(folder), ['g.db']);
});

two('the key and the audit stream lie beside users’ data', async () => {
  const folder = scratchFolder();
  mkdirSync(join(folder, 'catalog'));
  mkdirSync(join(folder, 'users'));
  copyFileSync(sample.db, join(folder, 'catalog', 'g.db'));
  const args = ['--db', 'catalog/g.db', '--users-db', 'users/u.db'];
  const issued = await runHere(folder, ['token', 'issue', '--subject', 's', ...args]);
  assert.is(issued.code, 0, issued.stderr);
  const running = await startServer(folder, ['serve', '--port', '0', ...args]);
  const headers = { Authorization: `Bearer ${issued.stdout.trim()}` };
  const made = await fetch(`${running.url}/api/v1/lists`, { method: 'POST', headers, body: '{"name":"N"}' });
  assert.is(made.status, 201);
  running.child.kill('SIGTERM');
  assert.equal(await running.ended, { code: 0, signal: null });
  assert.equal(readdirSync(join(folder, 'catalog')), ['g.db']);
  assert.equal(
    readdirSync(join(folder, 'users')).sort(),
    [
      'gapstone-audit.jsonl',
      'gapstone-audit.jsonl.head',
      'gapstone-audit.jsonl.lock',
      'gapstone-key.json',
      'u.db',
    ].sort(),
  );
});

two('status and check without users’ data make no file', async () => {
  const folder = scratchFolder();
  copyFileSync(sample.db, join(folder, 'g.db'));
  const before = readdirSync(folder).map((name) => [name, sha256(join(folder, name))]);
  for (const args of [['status'], ['status', '--json'], ['check'], ['check', '--json']])
    for (const more of [[], ['--users-db', 'u.db'], ['--users-db', 'no/such/u.db']]) {
      const { code, stderr } = await runHere(folder, [...args, '--db', 'g.db', ...more]);
      assert.equal([code, stderr], [0, ''], [...args, ...more].join(' '));
      assert.equal(
        readdirSync(folder).map((name) => [name, sha256(join(folder, name))]),
        before,
      );
    }
});

two('an import makes no users’ data, and leaves those that are there as they are', async () => {
  const folder = scratchFolder();
  const source = put(scratchFolder(), 'a.xml', writeXccdf());
  for (const args of [
    ['import', '--dry-run', source],
    ['import', source],
    ['import', source],
  ]) {
    const { code, stderr } = await runHere(folder, [...args, '--db', 'g.db']);
    assert.is(code, 0, stderr);
    assert.equal(filesIn(folder), args.length === 3 ? [] : ['g.db']);
  }
  copyFileSync(sample.usersDb, join(folder, 'g-users.db'));
  // A title by which the slug changes, so that users' data is asked whether it refers to it.
  const renamed = writeXccdf({ release: 9, title: 'Another Name Security Technical Implementation Guide' });
  const imported = await runHere(folder, ['import', put(scratchFolder(), 'b.xml', renamed), '--db', 'g.db']);
  assert.is(imported.code, 0, imported.stderr);
  assert.equal(filesIn(folder), ['g-users.db', 'g.db']);
  assert.is(sha256(join(folder, 'g-users.db')), sha256(sample.usersDb));
});

two('a catalog that nobody has open is one file, also after an import and a service', async () => {
  const folder = scratchFolder();
  const file = join(folder, 'g.db');
  copyFileSync(sample.db, file);
  const mode = () => readFileSync(file).subarray(18, 20).toString('hex');
  assert.is(mode(), '0101');
  assert.is(
    (await runHere(folder, ['import', put(scratchFolder(), 'a.xml', writeXccdf()), '--db', 'g.db'])).code,
    0,
  );
  assert.is(mode(), '0101');
  const running = await startServer(folder, ['serve', '--port', '0', '--db', 'g.db']);
  assert.is(mode(), '0202');
  running.child.kill('SIGTERM');
  assert.equal(await running.ended, { code: 0, signal: null });
  assert.is(mode(), '0101');
  assert.equal(
    filesIn(folder).filter((name) => name.startsWith('g')),
    ['g-users.db', 'g.db', 'gapstone-key.json'],
  );
});

two('the log of a catalog that was removed is not taken for the new one’s', () => {
  for (const kind of ['catalog', 'users'] as const) {
    const folder = scratchFolder();
    const file = join(folder, 'g.db');
    createDatabaseFile(file, kind);
    const empty = readFileSync(file);
    const former = new Sqlite(file);
    former.exec('CREATE TABLE former (x)');
    assert.ok(readFileSync(`${file}-wal`).length > 0);
    // As under a server that has it open.
    rmSync(file);
    createDatabaseFile(file, kind);
    assert.equal(readdirSync(folder), ['g.db']);
    assert.equal(readFileSync(file).length, empty.length);
    const sqlite = new Sqlite(file);
    const tables = sqlite.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'former'").pluck().get();
    assert.is(tables, 0);
    assert.is(sqlite.pragma('integrity_check', { simple: true }), 'ok');
    sqlite.close();
    former.close();
    // One that is there keeps its own.
    const held = new Sqlite(file);
    held.exec('CREATE TABLE kept (x)');
    createDatabaseFile(file, kind);
    assert.ok(readFileSync(`${file}-wal`).length > 0);
    held.close();
  }
});

two('an import into the place of a catalog that was removed under a server', async () => {
  const folder = scratchFolder();
  const file = join(folder, 'g.db');
  copyFileSync(sample.db, file);
  const running = await startServer(folder, ['serve', '--port', '0', '--db', 'g.db']);
  const writer = openCatalog(file);
  writer.sqlite.exec("UPDATE stigs SET title = 'of the former'");
  rmSync(file);
  const source = put(scratchFolder(), 'a.xml', writeXccdf());
  const imported = await runHere(folder, ['import', source, '--db', 'g.db']);
  assert.is(imported.code, 0, imported.stderr);
  writer.close();
  assert.is((await fetch(`${running.url}/readyz`)).status, 200);
  running.child.kill('SIGTERM');
  assert.equal(await running.ended, { code: 0, signal: null });
  const db = openCatalog(file);
  assert.is(db.sqlite.pragma('integrity_check', { simple: true }), 'ok');
  assert.equal(db.sqlite.prepare('SELECT slug, title FROM stigs').all().length, 1);
  assert.is(db.sqlite.prepare("SELECT count(*) FROM stigs WHERE title = 'of the former'").pluck().get(), 0);
  db.close();
});

two.run();
