import { createHash } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { CommandError } from '../../src/base/errors.ts';
import { checkDatabase } from '../../src/commands/check.ts';
import { type Files, openCatalog, openDatabase } from '../../src/db/database.ts';
import { applicationIds, type Kind } from '../../src/db/header.ts';
import { migrate } from '../../src/db/migrate.ts';
import { restoreBackup } from '../../src/db/restore-backup.ts';
import { ForeignSchemaError } from '../../src/db/schema-check.ts';
import { openUpgraded } from '../../src/db/upgrade-files.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { shipped } from '../support/reference.ts';
import { filesOf, scratchFolder } from '../support/scratch.ts';

// A schema that is not ours to the letter is refused by whoever opens it (rule D34.3), and nothing of it runs.
const hostile = suite('A hostile schema');

const kinds: Kind[] = ['catalog', 'users'];
const emptyFolder = scratchFolder();
const sampleFolder = scratchFolder();
openDatabase(filesOf(join(emptyFolder, 'g.db')), { create: true }).close();
{
  const files = filesOf(join(sampleFolder, 'g.db'));
  const catalog = openCatalog(files.db, { create: true });
  await runImport(catalog, [shipped('stigs')]);
  catalog.close();
  const db = openDatabase(files);
  db.sqlite.exec(`INSERT INTO sessions VALUES ('hash', 'ann', NULL, NULL, '[]', 't', 't', 't', NULL)`);
  db.close();
}

interface Site {
  folder: string;
  files: Files;
  /** That of the two which was changed. */
  file: string;
}

const fileOf = ({ db, usersDb }: Files, kind: Kind) => (kind === 'catalog' ? db : usersDb);

function siteOf(from: string, kind: Kind): Site {
  const folder = scratchFolder();
  for (const name of ['g.db', 'g-users.db']) copyFileSync(join(from, name), join(folder, name));
  const files = filesOf(join(folder, 'g.db'));
  return { folder, files, file: fileOf(files, kind) };
}

/** A copy of two files; the schema of one is written to as if it were any table. */
function changed(from: string, kind: Kind, change: (sqlite: Sqlite.Database) => void): Site {
  const site = siteOf(from, kind);
  const sqlite = new Sqlite(site.file);
  sqlite.unsafeMode(true);
  sqlite.pragma('foreign_keys = OFF');
  sqlite.pragma('writable_schema = ON');
  change(sqlite);
  sqlite.close();
  return site;
}

const stateOf = (folder: string) =>
  readdirSync(folder).map(
    (name) =>
      `${name} ${createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex')}`,
  );

async function refusalOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    assert.instance(error, CommandError, (error as Error).stack);
    assert.not.match((error as Error).message, /[\n\u0000]/);
    return (error as Error).message;
  }
  return 'nothing was refused';
}

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
async function assertRefused(name: string, { folder, files, file }: Site, problems: RegExp[]): Promise<void> {
  const before = stateOf(folder);
  const found = problemsOf(files);
  assert.is(found.length, problems.length, `${name}: ${found.join('; ')}`);
  for (const [index, problem] of problems.entries()) assert.match(found[index]!, problem, name);
  const other = siteOf(emptyFolder, 'catalog');
  const others = stateOf(other.folder);
  for (const work of [
    ...(file === files.db ? [() => openCatalog(file)] : []),
    () => openDatabase(files),
    () => openUpgraded(files, { checkUnclean: true }),
    () => restoreBackup(file, other.files, new Date()),
  ]) {
    const message = await refusalOf(work);
    assert.ok(message.startsWith(`${file} is refused: ${found[0]}`), `${name}: ${message}`);
  }
  assert.equal(stateOf(other.folder), others, name);
  assert.equal(stateOf(folder), before, name);
}

const row =
  (...values: (string | number | Buffer | null)[]) =>
  (sqlite: Sqlite.Database) => {
    sqlite.prepare('INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)').run(...values);
  };
const sql = (text: string) => (sqlite: Sqlite.Database) => void sqlite.exec(text);
const rewrite = (name: string, from: string, to: string) => (sqlite: Sqlite.Database) => {
  const { changes } = sqlite
    .prepare('UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = ?')
    .run(from, to, name);
  assert.is(changes, 1, name);
};

const stay = 'CREATE TRIGGER stay BEFORE DELETE ON sessions BEGIN SELECT RAISE(IGNORE); END';
const stayOnStigs = stay.replace('sessions', 'stigs');
// Whoever evaluates it says "integer overflow".
const loud = 'abs(-9223372036854775808)';

type Case = [(sqlite: Sqlite.Database) => void, ...RegExp[]];

const usersCases: Record<string, Case> = {
  'a trigger': [sql(stay), /^the trigger stay on sessions does not belong to Gapstone$/],
  'a trigger of type TRIGGER': [
    row('TRIGGER', 'stay', 'sessions', 0, stay),
    /^the row stay of the schema, of type "TRIGGER" and on sessions, does not belong to Gapstone$/,
  ],
  'a trigger whose type ends in a blank': [
    row('trigger ', 'stay', 'sessions', 0, stay),
    /row stay .+"trigger "/,
  ],
  'a trigger without a type': [row('', 'stay', 'sessions', 0, stay), /row stay .+ of type ""/],
  'a trigger of type NULL': [row(null, 'stay', 'sessions', 0, stay), /row stay .+ of type "NULL"/],
  'a trigger without a name': [row('trigger', null, 'sessions', 0, stay), /^the trigger NULL on sessions/],
  'a trigger as bytes': [row('trigger', 'stay', 'sessions', 0, Buffer.from(stay)), /^the trigger stay/],
  'a trigger that calls itself a table': [row('table', 'stay', 'sessions', 0, stay), /^the table stay/],
  'a trigger with the name of a table': [
    row('trigger', 'findings', 'sessions', 0, stay.replace('stay', 'findings')),
    /^the trigger findings on sessions/,
  ],
  'a view in the place of a table': [
    (sqlite) => {
      sqlite.prepare("DELETE FROM sqlite_master WHERE name = 'favorite_stigs'").run();
      row('view', 'favorite_stigs', 'favorite_stigs', 0, 'CREATE VIEW favorite_stigs AS SELECT 1')(sqlite);
    },
    /^the view favorite_stigs does not belong to Gapstone$/,
    /^the table favorite_stigs is missing$/,
  ],
  'an index with an expression': [
    sql('CREATE INDEX by_sum ON sessions (subject || used_at)'),
    /^the index by_sum on sessions does not belong to Gapstone$/,
  ],
  'an index with an expression that is never to be evaluated': [
    (sqlite) => {
      sqlite.exec('CREATE INDEX loud ON sessions (subject)');
      rewrite('loud', '(subject)', `(${loud})`)(sqlite);
    },
    /^the index loud on sessions does not belong to Gapstone$/,
  ],
  'a column that is computed': [
    rewrite('sessions', 'ends_at TEXT NOT NULL', `ends_at TEXT NOT NULL, loud TEXT AS (${loud})`),
    /^the table sessions does not belong to Gapstone$/,
  ],
  'a CHECK that is another': [
    rewrite('bundles', "IN ('PRIVATE', 'SHARED')", "IN ('PRIVATE', 'SHARED', 'PUBLIC')"),
    /^the table bundles does not belong to Gapstone$/,
  ],
  'a CHECK that is never to be evaluated': [
    rewrite('sessions', 'ends_at TEXT NOT NULL', `ends_at TEXT NOT NULL CHECK (${loud} = 1)`),
    /^the table sessions does not belong to Gapstone$/,
  ],
  'a table with row ids': [rewrite('sessions', ' WITHOUT ROWID', '      '), /^the table sessions/],
  'an index that belongs to nothing': [
    row('index', 'lost', 'sessions', 3, null),
    /^the index lost on sessions/,
  ],
  'two tables on one page': [
    sql(
      "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'bundles') WHERE name = 'clock'",
    ),
    /^the table clock does not belong to Gapstone$/,
  ],
};

const catalogCases: Record<string, Case> = {
  'a name that speaks to the terminal': [
    row('view', 'a\u001b[31m\nb', 'x', 0, 'CREATE VIEW "a\u001b[31m\nb" AS SELECT 1'),
    /^the view a\uFFFD\[31m\uFFFDb does not belong to Gapstone$/,
  ],
  'a view beside the table of its name': [
    row('view', 'findings', 'findings', 0, 'CREATE VIEW findings AS SELECT 1'),
    /^the view findings does not belong to Gapstone$/,
  ],
  'a view that answers for the schema': [
    row('view', 'sqlite_schema', 'sqlite_schema', 0, 'CREATE VIEW sqlite_schema AS SELECT 1 AS type'),
    /^the view sqlite_schema does not belong to Gapstone$/,
  ],
  'an index of the schema itself, which is empty': [
    (sqlite) => {
      const page = sqlite
        .prepare("SELECT rootpage FROM sqlite_master WHERE name = 'searched_releases'")
        .pluck();
      const names = 'type, name, tbl_name, rootpage, sql';
      row('trigger', 'stay', 'stigs', 0, stayOnStigs)(sqlite);
      row(
        'index',
        'cover',
        'sqlite_master',
        page.get() as number,
        `CREATE INDEX cover ON sqlite_master (${names})`,
      )(sqlite);
    },
    /^the trigger stay on stigs/,
    /^the index cover on sqlite_master/,
  ],
  'one letter of a comment': [rewrite('catalog', 'package', 'Package'), /^the table catalog/],
  'a blank at the end': [rewrite('import_runs', ') STRICT', ') STRICT '), /^the table import_runs/],
  'a NUL at the end': [
    (sqlite) =>
      sqlite.prepare("UPDATE sqlite_master SET sql = sql || char(0) || 'x' WHERE name = 'catalog'").run(),
    /^the table catalog/,
  ],
  'a table more': [sql('CREATE TABLE notes (text TEXT)'), /^the table notes does not belong to Gapstone$/],
  'a virtual table more': [
    row('table', 'v', 'v', 0, "CREATE VIRTUAL TABLE v USING fts5(a, content='findings')"),
    /^the table v does not belong to Gapstone$/,
  ],
  'a virtual table of a module that does not exist': [
    row('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING nowhere(a)'),
    /^the table v/,
  ],
  'a table of the search index that is another': [
    rewrite('rule_search_config', 'WITHOUT ROWID', ''),
    /^the table rule_search_config does not belong to Gapstone$/,
  ],
  'a row that stands twice': [
    sql("INSERT INTO sqlite_master SELECT * FROM sqlite_master WHERE name = 'stig_releases'"),
    /^the view stig_releases does not belong to Gapstone$/,
  ],
  'a table without pages': [
    sql("UPDATE sqlite_master SET rootpage = 0 WHERE name = 'catalog'"),
    /^the table catalog does not belong to Gapstone$/,
  ],
  'a view with pages': [
    sql("UPDATE sqlite_master SET rootpage = 2 WHERE name = 'stig_releases'"),
    /^the view stig_releases/,
  ],
  'a page that is text': [
    sql("UPDATE sqlite_master SET rootpage = 'two' WHERE name = 'stig_releases'"),
    /^the view stig_releases/,
  ],
  'an index that is of another table': [
    sql("UPDATE sqlite_master SET tbl_name = 'findings' WHERE name = 'stigs_by_title'"),
    /^the index stigs_by_title on findings does not belong to Gapstone$/,
  ],
  'a text of 40 MB': [
    sql(
      "INSERT INTO sqlite_master VALUES ('view', 'v', 'v', 0, 'CREATE VIEW v AS SELECT 1 --' || hex(zeroblob(20000000)))",
    ),
    /^the view v does not belong to Gapstone$/,
  ],
  'a name of 40 MB': [
    sql(
      "INSERT INTO sqlite_master VALUES ('x', hex(zeroblob(20000000)), 'x', 0, 'CREATE VIEW v AS SELECT 1')",
    ),
    /^the row too long of the schema/,
  ],
  numbers: [
    row(1, 2, 3, 4, 5),
    /^the row 2\.0 of the schema, of type "1\.0" and on 3\.0, does not belong to Gapstone$/,
  ],
  nothing: [row(null, null, null, null, null), /^the row NULL of the schema, of type "NULL"/],
  'a table less': [
    (sqlite) => sqlite.prepare("DELETE FROM sqlite_master WHERE name = 'searched_releases'").run(),
    /^the table searched_releases is missing$/,
  ],
  'an index less': [sql('DROP INDEX stigs_by_title'), /^the index stigs_by_title on stigs is missing$/],
  'statistics that are computed': [
    row('table', 'sqlite_stat1', 'sqlite_stat1', 2, 'CREATE TABLE sqlite_stat1(tbl,idx,stat AS (1))'),
    /^the table sqlite_stat1 does not belong to Gapstone$/,
  ],
  'a table that says it is of SQLite': [
    row('table', 'sqlite_notes', 'sqlite_notes', 2, 'CREATE TABLE sqlite_notes(a)'),
    /^the table sqlite_notes does not belong to Gapstone$/,
  ],
  'several at once, all named': [
    (sqlite) => {
      sql('DROP INDEX stigs_by_title; CREATE TABLE notes (text)')(sqlite);
      row('', 'stay', 'stigs', 0, stayOnStigs)(sqlite);
    },
    /^the table notes/,
    /^the row stay/,
    /^the index stigs_by_title on stigs is missing$/,
  ],
};

hostile('every row that is more, less or other is named and refused, however it is called', async () => {
  for (const [kind, cases] of [
    ['users', usersCases],
    ['catalog', catalogCases],
  ] as const)
    for (const [name, [change, ...problems]] of Object.entries(cases))
      await assertRefused(name, changed(sampleFolder, kind, change), problems);
});

hostile('of ours, each row that lacks, and each that differs in its last letter', async () => {
  for (const kind of kinds) {
    const sqlite = new Sqlite(fileOf(filesOf(join(emptyFolder, 'g.db')), kind), { readonly: true });
    const rows = sqlite
      .prepare<[], { rowid: number; name: string; sql: string | null }>(
        'SELECT rowid, name, sql FROM sqlite_master',
      )
      .all();
    sqlite.close();
    assert.ok(rows.length > { catalog: 60, users: 20 }[kind], `${kind}: ${rows.length}`);
    for (const { rowid, name, sql: text } of rows) {
      const without = changed(emptyFolder, kind, (each) =>
        each.prepare('DELETE FROM sqlite_master WHERE rowid = ?').run(rowid),
      );
      assert.match(
        await refusalOf(() => openDatabase(without.files)),
        new RegExp(`is refused: .*\\b${name}\\b`),
      );
      if (text === null) continue;
      const other = changed(emptyFolder, kind, (each) =>
        each.prepare("UPDATE sqlite_master SET sql = sql || ' ' WHERE rowid = ?").run(rowid),
      );
      assert.match(
        await refusalOf(() => openDatabase(other.files)),
        new RegExp(`is refused: .*\\b${name}\\b.* does not belong to Gapstone$`),
      );
    }
  }
});

hostile('in a log that was not closed', async () => {
  for (const kind of kinds) {
    const from = siteOf(sampleFolder, kind);
    const sqlite = new Sqlite(from.file);
    sqlite.pragma('journal_mode = WAL');
    sqlite.exec(kind === 'users' ? stay : stayOnStigs);
    const { folder, files, file } = siteOf(sampleFolder, kind);
    for (const suffix of ['', '-wal']) copyFileSync(`${from.file}${suffix}`, `${file}${suffix}`);
    sqlite.close();
    // The index of a log is made by whoever reads it.
    const logged = () => stateOf(folder).filter((each) => !each.includes('-shm '));
    const before = logged();
    for (const open of [() => openDatabase(files), () => openUpgraded(files, { checkUnclean: true })])
      assert.match(
        await refusalOf(open),
        /is refused: the trigger stay on s(essions|tigs) does not belong to Gapstone$/,
      );
    assert.equal(logged(), before);
  }
});

hostile('an older schema: what later ones made is as foreign as anything', async () => {
  const site = siteOf(sampleFolder, 'catalog');
  rmSync(site.file);
  const sqlite = new Sqlite(site.file);
  sqlite.pragma(`application_id = ${applicationIds.catalog}`);
  migrate(sqlite, 'catalog', 3);
  sqlite.exec(stayOnStigs);
  sqlite.close();
  await assertRefused('schema 3', site, [/^the trigger stay on stigs does not belong to Gapstone$/]);
  const { files, folder } = changed(emptyFolder, 'catalog', (each) => each.pragma('user_version = 1'));
  const before = stateOf(folder);
  assert.match(await refusalOf(() => openUpgraded(files)), /is refused: .+, and \d\d more/);
  assert.equal(stateOf(folder), before);
});

hostile('what SQLite and its tools do to a good file is no fault', async () => {
  for (const kind of kinds)
    for (const work of ['VACUUM', 'ANALYZE', 'REINDEX', 'PRAGMA optimize = 0x10002']) {
      const { files, file } = changed(sampleFolder, kind, sql(work));
      const db = openDatabase(files);
      assert.is(checkDatabase(db).ok, true, work);
      db.close();
      const { files: restored } = await restoreBackup(
        file,
        filesOf(join(scratchFolder(), 'g.db')),
        new Date(),
      );
      assert.equal(
        restored.map((each) => [each.kind, each.before]),
        [[kind, null]],
      );
    }
});

hostile(
  'by the commands: check names all of them and exits 1, serve and restore end with one line',
  async () => {
    for (const [kind, change] of [
      ['catalog', catalogCases['several at once, all named']![0]],
      ['users', sql('DROP INDEX bundles_by_creator; CREATE TABLE notes (text); CREATE VIEW v AS SELECT 1')],
    ] as const) {
      const { folder, file, files } = changed(sampleFolder, kind, change);
      const before = stateOf(folder);
      const check = await commandHere(['check', '--db', files.db]);
      assert.is(check.code, 1);
      assert.match(
        check.stdout,
        kind === 'catalog'
          ? /^problem: schema of the catalog: the table notes .+\nproblem: schema of the catalog: the row stay .+\nproblem: schema of the catalog: the index stigs_by_title on stigs is missing\ndigest: /
          : /^problem: schema of users' data: the table notes .+\nproblem: schema of users' data: the view v .+\nproblem: schema of users' data: the index bundles_by_creator on bundles is missing\ndigest: /,
      );
      assert.match(check.stderr, /^no other check was run: .+\n$/);
      const json = await commandHere(['check', '--json', '--db', files.db]);
      assert.equal([json.code, JSON.parse(json.stdout).checks[0].problems.length], [1, 3]);
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
      assert.equal(
        stateOf(folder).filter((each) => !each.startsWith('gapstone-audit')),
        before,
        kind,
      );
    }
  },
);

hostile.run();
