import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { sample, sha256, stateOf } from '../support/database-files.ts';
import { suite } from '../support/harness.ts';
import { runHere } from '../support/here.ts';
import { killAll, startServer } from '../support/running.ts';
import { filesIn, put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// Rule D23: the catalog, and users' data in a file of its own.
const two = suite('Catalog and users’ data');
two.after(killAll);

/** Every command that opens a database, as it is called without the names of the files. */
const commands = `backup b.zip
check
check --audit
status
import a.xml
import --dry-run a.xml
purge
purge --dry-run
mapping list
mapping set --from cci:CCI-1 --to nist-800-53:AC-1 --status auto --reason x
mapping remove --from cci:CCI-1 --to nist-800-53:AC-1
self-assessment
serve --port 0
start --port 0
integration-token list
integration-token create --name n --org o
integration-token revoke x
integration-token assign x --list y
collection create --kind role --name n --owner o --item i
token issue --subject s`.split('\n');

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
  `${file} holds catalog and users' data in one file, which this version does not read: move it away, then import the sources again with "gapstone import"`;
const none =
  'there is no database at slip.db: create one with "gapstone import", or restore a backup with "gapstone restore"';

/** Which files lie there (a sample, or one that holds both), how commands name them, what each says but for some, and more. */
const refused: {
  here: Record<string, string | null>;
  names: string;
  says: string;
  not: string[];
  more?: string[];
}[] = [
  {
    here: { 'g.db': null },
    names: '--db g.db',
    says: isSingle('g.db'),
    not: [],
  },
  {
    here: { 'g.db': null },
    names: '--db other.db',
    says: isSingle('g.db'),
    not: commands,
    more: ['restore g.db'],
  },
  {
    here: { 'g.db': sample.db, 'g-users.db': null },
    names: '--db g.db',
    says: isSingle('g-users.db'),
    not: ['import', 'token', 'start'],
    more: ['backup u.db --users-only'],
  },
  {
    here: { 'g.db': sample.db, 'other.db': sample.db },
    names: '--db g.db --users-db other.db',
    says: "other.db is a catalog, not a file of users' data",
    not: ['import', 'token', 'start'],
  },
  {
    here: { 'u.db': sample.usersDb },
    names: '--db u.db --users-db new.db',
    says: "u.db is a file of users' data, not a catalog",
    not: ['token'],
  },
  { here: {}, names: '--db slip.db', says: none, not: ['import', 'start'] },
  {
    here: {},
    names: '--db no/such/slip.db',
    says: none.replace('slip', 'no/such/slip'),
    not: commands,
    more: ['backup b.db', 'token issue --subject s'],
  },
];

two('what is in the place of either file is refused by every command with one line', async () => {
  for (const { here, names, says, not, more = [] } of refused) {
    const folder = scratchFolder();
    put(folder, 'a.xml', writeXccdf());
    for (const [name, file] of Object.entries(here))
      if (file === null) singleFile(join(folder, name));
      else copyFileSync(file, join(folder, name));
    const before = stateOf(folder);
    const isLeftOut = (command: string) => not.includes(command) || not.includes(command.split(' ')[0]!);
    // A server is a process of its own: it is tried once.
    const tried = commands.filter(
      (each) => !isLeftOut(each) && (here === refused[0]!.here || !/^s(erve|tart) /.test(each)),
    );
    for (const command of [...tried, ...more]) {
      const answer = await runHere(folder, `${command} ${names}`.split(' '));
      assert.equal(answer, { code: 1, stdout: '', stderr: `gapstone: ${says}\n` }, `${command} ${names}`);
      assert.equal(stateOf(folder), before, command);
    }
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
    'gapstone-audit.jsonl gapstone-audit.jsonl.head gapstone-audit.jsonl.lock gapstone-key.json u.db'
      .split(' ')
      .sort(),
  );
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

two.run();
