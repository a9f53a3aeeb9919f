// What a new version does with the files of this one: told beforehand by `check --upgrade`, and undone where it fails.
import { existsSync, lstatSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import type { Kind } from '../../src/db/schema.ts';
import { auditLines } from '../support/audit.ts';
import { gapstone } from '../support/child.ts';
import { change, fileOf, newest, siteOf, stateOf } from '../support/database-files.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { littleProgram, runBy } from '../support/little-program.ts';
import { put } from '../support/scratch.ts';

const upgrade = suite('Upgrade check, and upgrades');

/** A next version of the program, with a migration more for some files. Gives what runs it, and what replaces one. */
function nextVersion(migrations: Partial<Record<Kind, string>>) {
  const home = littleProgram([]);
  const write = (kind: Kind, sql: string) => {
    const name = `${String(newest[kind] + 1).padStart(4, '0')}_more.sql`;
    writeFileSync(join(home, 'migrations', kind, name), sql);
    return name;
  };
  for (const [kind, sql] of Object.entries(migrations)) write(kind as Kind, sql);
  return {
    write,
    run: (args: string[], env = {}) => gapstone(args, { under: runBy(home), env }),
  };
}

upgrade('each file is told with its schema and the migrations it lacks, and nothing is touched', async () => {
  const { folder, files } = siteOf();
  const installed = join(folder, 'gapstone.db');
  renameSync(files.db, installed);
  renameSync(files.usersDb, join(folder, 'gapstone-users.db'));
  const before = stateOf(folder);
  const next = nextVersion({ catalog: 'CREATE TABLE more (a TEXT) STRICT' });
  const { code, stdout, stderr } = await next.run(['check', '--upgrade', folder]);
  const [name, to] = [`00${newest.catalog + 1}_more.sql`, newest.catalog + 1];
  assert.equal([code, stderr], [0, '']);
  assert.equal(stdout.split('\n'), [
    `${installed}: schema ${newest.catalog}, the next start migrates it to ${to} (${name}), and keeps a copy from before as ${installed}.before-schema-${to}`,
    `${join(folder, 'gapstone-users.db')}: schema ${newest.users}, nothing to migrate`,
    '',
  ]);
  const report = JSON.parse((await next.run(['check', '--upgrade', folder, '--json'])).stdout) as {
    ok: boolean;
    files: { migrations: string[] }[];
  };
  assert.equal([report.ok, report.files.map((each) => each.migrations)], [true, [[name], []]]);
  assert.equal(stateOf(folder), before);
});

upgrade('what a start would refuse is refused with its reason; what is not there is said', async () => {
  const told = async (folder: string) => {
    const { code, stdout } = await commandHere(['check', '--upgrade', folder]);
    assert.is(code, 1);
    return stdout;
  };
  const { folder, files } = siteOf();
  const [db, usersDb] = [join(folder, 'gapstone.db'), join(folder, 'gapstone-users.db')];
  renameSync(files.db, db);
  change(db, `PRAGMA user_version = ${newest.catalog + 1}`);
  const newer = /^refused: \S+gapstone\.db has schema \d+, this version of Gapstone supports \d+ at most/;
  assert.match(await told(folder), newer);
  assert.match(
    await told(folder),
    /gapstone-users\.db: missing; the next start creates a new file of users' data\n$/,
  );
  put(folder, 'gapstone-users.db', 'no database at all');
  assert.match(await told(folder), /\nrefused: \S+gapstone-users\.db is not a database/);
  renameSync(files.usersDb, usersDb);
  for (const [file, advice] of [
    [db, /import the sources again with "gapstone import"/],
    [usersDb, /start the version before this one once, which upgrades it/],
  ] as const) {
    change(file, 'PRAGMA user_version = 2');
    assert.match(await told(folder), advice);
  }
});

upgrade('both files are migrated, or neither; the copies bring the version before back', async () => {
  const { folder, files } = siteOf();
  const content = () => Object.entries(stateOf(folder)).filter(([name]) => /^g(-users)?\.db/.test(name));
  const before = content();
  const next = nextVersion({
    catalog: 'CREATE TABLE more (a TEXT) STRICT',
    users: 'CREATE TABLE half (a TEXT) STRICT; INSERT INTO half VALUES (nothing)',
  });
  const audit = join(folder, 'audit.jsonl');
  const list = ['mapping', 'list', '--db', files.db];
  const refused = await next.run(list, { GAPSTONE_AUDIT_FILE: audit });
  assert.is(refused.code, 1, refused.stderr);
  assert.match(
    refused.stderr,
    /g-users\.db cannot be upgraded to schema \d+: near "nothing": syntax error\. It is unchanged\n$/,
  );
  assert.equal(content(), before);
  assert.not(existsSync(audit), 'what was undone is in no audit stream');

  // A migration that cannot be audited is not made either.
  next.write('users', 'CREATE TABLE whole (a TEXT) STRICT');
  const unaudited = await next.run(list, { GAPSTONE_AUDIT_FILE: join(folder, 'nowhere/audit.jsonl') });
  assert.match(unaudited.stderr, /cannot be upgraded to schema \d+: .*audit stream/);
  assert.equal(content(), before);
  assert.is((await commandHere(['check', '--db', files.db])).code, 0);

  // Mended: of two processes at once one migrates, and both go on. What is in the place of a copy is kept.
  const copyOf = (kind: Kind) => `${fileOf(files, kind)}.before-schema-${newest[kind] + 1}`;
  put(folder, 'kept', 'of another day');
  symlinkSync(join(folder, 'kept'), copyOf('users'));
  const runs = await Promise.all([1, 2].map(() => next.run(list, { GAPSTONE_AUDIT_FILE: audit })));
  for (const { code, stderr } of runs) assert.is(code, 0, stderr);
  const copies = { [files.db]: copyOf('catalog'), [files.usersDb]: `${copyOf('users')}-2` };
  const told = runs.flatMap(({ stderr }) => [
    ...stderr.matchAll(/(\S+) was upgraded from schema \d+ to \d+; a copy from before is in (\S+)/g),
  ]);
  assert.equal(Object.fromEntries(told.map(([, file, copy]) => [file, copy])), copies);
  assert.is(readFileSync(join(folder, 'kept'), 'utf8'), 'of another day');
  assert.equal(
    auditLines(audit).map((line) => [line.action, line.detail]),
    [newest.catalog, newest.users].map((from) => ['database.migrate', { from, to: from + 1 }]),
  );
  const newer = await commandHere(['check', '--db', files.db]);
  assert.match(newer.stderr, /use a newer Gapstone/);
  for (const [file, copy] of Object.entries(copies)) {
    assert.is(lstatSync(copy).mode & 0o777, 0o600);
    const sqlite = new Sqlite(copy, { readonly: true });
    assert.is(sqlite.pragma('journal_mode', { simple: true }), 'delete');
    sqlite.close();
    renameSync(copy, file);
  }
  const back = await commandHere(['check', '--db', files.db]);
  assert.is(back.code, 0, back.stdout + back.stderr);
});

upgrade(
  "users' data of the schema before is restored, with what no restore reverts of the newer file",
  async () => {
    const { folder, files } = siteOf();
    const [copy, list] = [join(folder, 'copy.db'), ['mapping', 'list', '--db', files.db]];
    assert.is((await commandHere(['backup', copy, '--users-only', '--db', files.db])).code, 0);
    change(
      files.usersDb,
      `INSERT INTO content_bundles VALUES (1, 'b', 'main', 2, 'd', 'n', 'f', 't', 't', 'applied');
     INSERT INTO content_sequences VALUES ('main', 2, 'b')`,
    );
    const next = nextVersion({
      users: "ALTER TABLE content_bundles ADD COLUMN more TEXT NOT NULL DEFAULT 'm'",
    });
    const done = async (args: string[]) => {
      const { code, stderr } = await next.run(args);
      assert.is(code, 0, stderr);
      assert.not.match(stderr, /warning/);
    };
    const valuesOf = (query: string) => {
      const sqlite = new Sqlite(files.usersDb);
      const rows = sqlite.prepare(query).raw().all();
      sqlite.close();
      return rows[0];
    };
    const schema = () => valuesOf('PRAGMA user_version');
    await done(list);
    await done(['restore', copy, '--db', files.db]);
    assert.equal(schema(), [newest.users + 1]);
    assert.equal(valuesOf('SELECT bundle, sequence, more FROM content_bundles'), ['b', 2, 'm']);
    assert.equal(valuesOf('SELECT * FROM content_sequences'), ['main', 2, 'b']);
    // Alone it keeps its schema, and the next start upgrades it.
    rmSync(files.usersDb);
    await done(['restore', copy, '--db', files.db]);
    assert.equal(schema(), [newest.users]);
    await done(list);
    assert.equal(schema(), [newest.users + 1]);
  },
);

upgrade.run();
