import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { checkDatabase } from '../../src/commands/check.ts';
import { type Files, openCatalog, openDatabase } from '../../src/db/database.ts';
import { restoreBackup } from '../../src/db/restore-backup.ts';
import type { Kind } from '../../src/db/schema.ts';
import { ForeignSchemaError } from '../../src/db/schema-check.ts';
import { openUpgraded } from '../../src/db/upgrade.ts';
import {
  changed,
  fileOf,
  kinds,
  refusalOf,
  type Site,
  siteOf,
  stateOf,
  unclean,
} from '../support/database-files.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { filesOf, scratchFolder } from '../support/scratch.ts';

// A schema that is not ours to the letter is refused by whoever opens it (rule D34.3), and nothing of it runs.
const hostile = suite('A hostile schema');

const empty = filesOf(join(scratchFolder(), 'g.db'));
openDatabase(empty, { create: true }).close();

/** All that is said of a file that is not opened because of its schema. */
function problemsOf(files: Files): string[] {
  try {
    openDatabase(files).close();
    return [];
  } catch (error) {
    if (error instanceof ForeignSchemaError) return error.problems;
    throw error;
  }
}

/** Opens, starts and restores: each must refuse with these lines, and leave all files as they are. */
async function assertRefused(name: string, { folder, files, file }: Site, problems: string[]): Promise<void> {
  const before = stateOf(folder);
  assert.equal(problemsOf(files), problems, name);
  const other = siteOf('catalog', undefined, empty);
  const others = stateOf(other.folder);
  for (const work of [
    ...(file === files.db ? [() => openCatalog(file)] : []),
    () => openDatabase(files),
    () => openUpgraded(files, { checkUnclean: true }),
    () => restoreBackup(file, other.files, new Date()),
  ]) {
    const message = await refusalOf(work);
    assert.ok(message.startsWith(`${file} is refused: ${problems[0]}`), `${name}: ${message}`);
  }
  assert.equal(stateOf(other.folder), others, name);
  assert.equal(stateOf(folder), before, name);
}

const words: Record<string, string> = {
  $row: 'INSERT INTO sqlite_master VALUES',
  $of: 'FROM sqlite_master WHERE name =',
  $set: 'UPDATE sqlite_master SET',
  $users: "'CREATE TRIGGER stay BEFORE DELETE ON sessions BEGIN SELECT RAISE(IGNORE); END'",
  $catalog: "'CREATE TRIGGER stay BEFORE DELETE ON stigs BEGIN SELECT RAISE(IGNORE); END'",
  // Whoever evaluates it says "integer overflow".
  $loud: 'abs(-9223372036854775808)',
};
const written = (sql: string) => sql.replace(/\$\w+/g, (word) => words[word]!);

/** What is done to a schema; then each row that is more than ours (+) and each that is missing (-). */
const cases: Record<Kind, string> = {
  users: `
# a trigger
CREATE TRIGGER stay BEFORE DELETE ON sessions BEGIN SELECT RAISE(IGNORE); END
+ the trigger stay on sessions
# a trigger of type TRIGGER
$row ('TRIGGER', 'stay', 'sessions', 0, $users)
+ the row stay of the schema, of type "TRIGGER" and on sessions,
# a trigger without a type
$row ('', 'stay', 'sessions', 0, $users)
+ the row stay of the schema, of type "" and on sessions,
# a trigger without a name
$row ('trigger', NULL, 'sessions', 0, $users)
+ the trigger NULL on sessions
# a trigger as bytes
$row ('trigger', 'stay', 'sessions', 0, CAST($users AS BLOB))
+ the trigger stay on sessions
# a trigger with the name of a table
$row ('trigger', 'findings', 'sessions', 0, replace($users, 'stay', 'findings'))
+ the trigger findings on sessions
# a view in the place of a table
DELETE $of 'favorite_stigs'; $row ('view', 'favorite_stigs', 'favorite_stigs', 0, 'CREATE VIEW favorite_stigs AS SELECT 1')
+ the view favorite_stigs
- the table favorite_stigs
# an index with an expression that is never to be evaluated
CREATE INDEX loud ON sessions (subject); $set sql = replace(sql, '(subject)', '($loud)') WHERE name = 'loud'
+ the index loud on sessions
# a CHECK that is never to be evaluated
$set sql = replace(sql, 'ends_at TEXT NOT NULL', 'ends_at TEXT NOT NULL CHECK ($loud = 1)') WHERE name = 'sessions'
+ the table sessions
# an index that belongs to nothing
$row ('index', 'lost', 'sessions', 3, NULL)
+ the index lost on sessions
# two tables on one page
$set rootpage = (SELECT rootpage $of 'bundles') WHERE name = 'clock'
+ the table clock
`,
  catalog: `
# a name that speaks to the terminal
$row ('view', 'a' || char(27) || '[31m' || char(10) || 'b', 'x', 0, 'CREATE VIEW a AS SELECT 1')
+ the view a\uFFFD[31m\uFFFDb
# a view that answers for the schema
$row ('view', 'sqlite_schema', 'sqlite_schema', 0, 'CREATE VIEW sqlite_schema AS SELECT 1 AS type')
+ the view sqlite_schema
# an index of the schema itself, which is empty
$row ('trigger', 'stay', 'stigs', 0, $catalog);
$row ('index', 'cover', 'sqlite_master', (SELECT rootpage $of 'searched_releases'),
  'CREATE INDEX cover ON sqlite_master (type, name, tbl_name, rootpage, sql)')
+ the trigger stay on stigs
+ the index cover on sqlite_master
# a NUL at the end
$set sql = sql || char(0) || 'x' WHERE name = 'catalog'
+ the table catalog
# a virtual table of a module that does not exist
$row ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING nowhere(a)')
+ the table v
# a table of the search index that is another
$set sql = replace(sql, 'WITHOUT ROWID', '') WHERE name = 'rule_search_config'
+ the table rule_search_config
# a row that stands twice
INSERT INTO sqlite_master SELECT * $of 'stig_releases'
+ the view stig_releases
# a table without pages
$set rootpage = 0 WHERE name = 'catalog'
+ the table catalog
# a view with pages
$set rootpage = 2 WHERE name = 'stig_releases'
+ the view stig_releases
# an index that is of another table
$set tbl_name = 'findings' WHERE name = 'stigs_by_title'
+ the index stigs_by_title on findings
# a text of 40 MB
$row ('view', 'v', 'v', 0, 'CREATE VIEW v AS SELECT 1 --' || hex(zeroblob(20000000)))
+ the view v
# a name of 40 MB
$row ('x', hex(zeroblob(20000000)), 'x', 0, 'CREATE VIEW v AS SELECT 1')
+ the row too long of the schema, of type "x" and on x,
# nothing
$row (NULL, NULL, NULL, NULL, NULL)
+ the row NULL of the schema, of type "NULL" and on NULL,
# statistics that are computed
$row ('table', 'sqlite_stat1', 'sqlite_stat1', 2, 'CREATE TABLE sqlite_stat1(tbl,idx,stat AS (1))')
+ the table sqlite_stat1
# a table that says it is of SQLite
$row ('table', 'sqlite_notes', 'sqlite_notes', 2, 'CREATE TABLE sqlite_notes(a)')
+ the table sqlite_notes
# several at once, all named
DROP INDEX stigs_by_title; CREATE TABLE notes (text); $row ('', 'stay', 'stigs', 0, $catalog)
+ the table notes
+ the row stay of the schema, of type "" and on stigs,
- the index stigs_by_title on stigs
`,
};

hostile('every row that is more, less or other is named and refused, however it is called', async () => {
  for (const kind of kinds)
    for (const block of cases[kind].trim().split(/^# /m).slice(1)) {
      const [name, ...lines] = block.trimEnd().split('\n');
      const isProblem = (line: string) => /^[+-] /.test(line);
      const problems = lines
        .filter(isProblem)
        .map((line) => line.slice(2) + (line[0] === '+' ? ' does not belong to Gapstone' : ' is missing'));
      const sql = written(lines.filter((line) => !isProblem(line)).join('\n'));
      await assertRefused(name!, changed(kind, sql), problems);
    }
});

hostile('of ours, each row that lacks, and each that differs in its last letter', async () => {
  for (const kind of kinds) {
    const sqlite = new Sqlite(fileOf(empty, kind), { readonly: true });
    const rows = sqlite
      .prepare<[], { rowid: number; name: string; sql: string | null }>(
        'SELECT rowid, name, sql FROM sqlite_master',
      )
      .all();
    sqlite.close();
    assert.ok(rows.length > { catalog: 60, users: 20 }[kind], `${kind}: ${rows.length}`);
    for (const { rowid, name, sql } of rows) {
      const without = changed(kind, `DELETE FROM sqlite_master WHERE rowid = ${rowid}`, empty);
      const missing = await refusalOf(() => openDatabase(without.files));
      assert.match(missing, new RegExp(`is refused: .*\\b${name}\\b`));
      if (sql === null) continue;
      const other = changed(kind, `UPDATE sqlite_master SET sql = sql || ' ' WHERE rowid = ${rowid}`, empty);
      const differs = await refusalOf(() => openDatabase(other.files));
      assert.match(differs, new RegExp(`is refused: .*\\b${name}\\b.* does not belong to Gapstone$`));
    }
  }
});

hostile('in a log that was not closed', async () => {
  for (const kind of kinds) {
    const { folder, files } = unclean(kind, written(`$${kind}`).slice(1, -1));
    const before = stateOf(folder);
    for (const open of [() => openDatabase(files), () => openUpgraded(files, { checkUnclean: true })])
      assert.match(
        await refusalOf(open),
        /is refused: the trigger stay on s(essions|tigs) does not belong to Gapstone$/,
      );
    assert.equal(stateOf(folder), before);
  }
});

hostile('what SQLite and its tools do to a good file is no fault', async () => {
  for (const kind of kinds)
    for (const work of ['VACUUM', 'ANALYZE', 'REINDEX', 'PRAGMA optimize = 0x10002']) {
      const { files, file } = changed(kind, work);
      const db = openDatabase(files);
      assert.is(checkDatabase(db).ok, true, work);
      db.close();
      await restoreBackup(file, filesOf(join(scratchFolder(), 'g.db')), new Date());
    }
});

hostile('check names all of them and exits 1; the other commands end with one line', async () => {
  for (const [kind, of, sql, said] of [
    ['catalog', 'the catalog', 'DROP INDEX stigs_by_title', 'index stigs_by_title on stigs'],
    ['users', "users' data", 'DROP INDEX bundles_by_creator', 'index bundles_by_creator on bundles'],
  ] as const) {
    const more = 'CREATE TABLE notes (text); CREATE VIEW "v\n it" AS SELECT 1';
    const { folder, file, files } = changed(kind, `${sql}; ${more}`);
    const before = stateOf(folder);
    const check = await commandHere(['check', '--db', files.db]);
    assert.is(check.code, 1);
    const lines = ['table notes does not belong to Gapstone', 'view v\uFFFD it does not belong to Gapstone'];
    const problems = [...lines, `${said} is missing`].map(
      (line) => `problem: schema of ${of}: the ${line}\n`,
    );
    assert.ok(check.stdout.startsWith(`${problems.join('')}digest: `), check.stdout);
    assert.match(check.stderr, /^no other check was run: .+\n$/);
    for (const args of [
      ['serve', '--port', '0', '--db', files.db],
      ['restore', file, '--db', join(scratchFolder(), 'g.db')],
      ['backup', join(scratchFolder(), 'b.zip'), '--db', files.db],
      ['status', '--db', files.db],
      ...(kind === 'users'
        ? [['backup', join(scratchFolder(), 'b.db'), '--users-only', '--db', files.db]]
        : []),
    ]) {
      const { code, stdout, stderr } = await commandHere(args);
      assert.equal([code, stdout], [1, ''], args[0]);
      assert.match(
        stderr,
        /^gapstone: \S+ is refused: the table notes does not belong to Gapstone, and 2 more: run "gapstone check"\n$/,
      );
    }
    assert.equal(stateOf(folder), before, kind);
  }
});

hostile.run();
