import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { sample, sha256, stateOf } from '../support/database-files.ts';
import { suite } from '../support/harness.ts';
import { runHere } from '../support/here.ts';
import { filesIn, put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// Rule D23: the catalog, and users' data in a file of its own.
const two = suite('Catalog and users’ data');

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
check --self-assessment
serve --port 0
start --port 0
token integration list
token integration create --name n --org o
token integration revoke x
token integration assign x --list y
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

type Here = Record<string, string | null>;
const { db, usersDb } = sample;
const writing = ['import', 'token', 'start'];

/** Which files lie there (a sample, or one that holds both), how commands name them, what each says but for some, and more. */
const refused: [here: Here, names: string, says: string, not: string[], more?: string][] = [
  [{ 'g.db': null }, '--db g.db', isSingle('g.db'), []],
  [{ 'g.db': null }, '--db other.db', isSingle('g.db'), commands, 'restore g.db'],
  [
    { 'g.db': db, 'g-users.db': null },
    '--db g.db',
    isSingle('g-users.db'),
    writing,
    'backup u.db --users-only',
  ],
  [
    { 'g.db': db, 'other.db': db },
    '--db g.db --users-db other.db',
    "other.db is a catalog, not a file of users' data",
    writing,
  ],
  [
    { 'u.db': usersDb },
    '--db u.db --users-db new.db',
    "u.db is a file of users' data, not a catalog",
    ['token'],
  ],
  [{}, '--db slip.db', none, ['import', 'start']],
  [{}, '--db no/such/slip.db', none.replace('slip', 'no/such/slip'), commands, 'backup b.db'],
];

two('what is in the place of either file is refused by every command with one line', async () => {
  for (const [here, names, says, not, more] of refused) {
    const folder = scratchFolder();
    put(folder, 'a.xml', writeXccdf());
    for (const [name, file] of Object.entries(here))
      if (file === null) singleFile(join(folder, name));
      else copyFileSync(file, join(folder, name));
    const before = stateOf(folder);
    const isLeftOut = (command: string) => not.includes(command) || not.includes(command.split(' ')[0]!);
    // A server is a process of its own: it is tried once.
    const tried = commands.filter(
      (each) => !isLeftOut(each) && (here === refused[0]![0] || !/^s(erve|tart) /.test(each)),
    );
    for (const command of [...tried, ...(more === undefined ? [] : [more])]) {
      const answer = await runHere(folder, `${command} ${names}`.split(' '));
      assert.equal(answer, { code: 1, stdout: '', stderr: `gapstone: ${says}\n` }, `${command} ${names}`);
      assert.equal(stateOf(folder), before, command);
    }
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

two.run();
