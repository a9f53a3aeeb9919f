// What a new version does with the files of an older one: told beforehand by `upgrade-check`, and undone where it fails.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../src/base/root.ts';
import type { Kind } from '../../src/db/header.ts';
import { listMigrations } from '../../src/db/migrate.ts';
import { change, kinds, makeOlder, newest, stateOf } from '../support/database-files.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';

const upgrade = suite('Upgrade check, and upgrades that fail');

const fileOf = { catalog: 'gapstone.db', users: 'gapstone-users.db' };

/** A data folder whose files have these schemas; one with a schema of 0 is not there. */
function installation(schemas: Record<Kind, number>): string {
  const folder = scratchFolder();
  for (const kind of kinds) if (schemas[kind] > 0) makeOlder(join(folder, fileOf[kind]), kind, schemas[kind]);
  return folder;
}

upgrade('each file is told with its schema and the migrations it lacks, and nothing is touched', async () => {
  const folder = installation({ catalog: newest.catalog - 1, users: newest.users });
  const before = stateOf(folder);
  const file = join(folder, 'gapstone.db');
  const last = listMigrations('catalog').at(-1)!.file.split('/').at(-1);
  const { code, stdout, stderr } = await commandHere(['upgrade-check', folder]);
  assert.equal([code, stderr], [0, '']);
  assert.equal(stdout.split('\n'), [
    `${file}: schema ${newest.catalog - 1}, the next start migrates it to ${newest.catalog} (${last}), and keeps a copy from before as ${file}.before-schema-${newest.catalog}`,
    `${join(folder, 'gapstone-users.db')}: schema ${newest.users}, nothing to migrate`,
    '',
  ]);
  const json = await commandHere(['upgrade-check', folder, '--json']);
  const report = JSON.parse(json.stdout) as { ok: boolean; files: { migrations: string[] }[] };
  assert.equal([report.ok, report.files.map((each) => each.migrations)], [true, [[last], []]]);
  assert.equal(stateOf(folder), before);
});

upgrade('what a start would refuse is refused with its reason; what is not there is said', async () => {
  const newer = installation({ catalog: newest.catalog, users: 0 });
  change(join(newer, 'gapstone.db'), `PRAGMA user_version = ${newest.catalog + 1}`);
  const told = await commandHere(['upgrade-check', newer]);
  assert.is(told.code, 1);
  assert.match(
    told.stdout,
    /^refused: \S+gapstone\.db has schema \d+, this version of Gapstone supports \d+ at most/,
  );
  assert.match(
    told.stdout,
    /gapstone-users\.db: missing; the next start creates a new file of users' data\n$/,
  );

  const damaged = installation({ catalog: newest.catalog, users: 1 });
  put(damaged, 'gapstone-users.db', 'no database at all');
  const refused = await commandHere(['upgrade-check', damaged]);
  assert.is(refused.code, 1);
  assert.match(refused.stdout, /\nrefused: \S+gapstone-users\.db is not a database/);
});

upgrade('a version whose migration fails does not start, and the one before it still does', async () => {
  const home = join(scratchFolder(), 'next');
  execFileSync(process.execPath, [join(packageRoot, 'src', 'runtime-tree.mjs'), home], { stdio: 'ignore' });
  const folder = scratchFolder();
  // Installed and used by this version.
  const db = join(folder, 'gapstone.db');
  const first = await commandHere(['import', shipped('stigs'), '--db', db]);
  assert.is(first.code, 0, first.stderr);
  assert.is((await commandHere(['mapping', 'list', '--db', db])).code, 0);
  const content = () =>
    Object.entries(stateOf(folder)).filter(([name]) => /^gapstone(-users)?\.db/.test(name));
  const before = content();

  const next = (args: string[]) =>
    spawnSync(process.execPath, [join(home, 'dist', 'src', 'cli.js'), ...args], {
      encoding: 'utf8',
      env: {},
    });
  mkdirSync(join(home, 'migrations', 'users'), { recursive: true });
  const migration = (kind: Kind, name: string) =>
    join(home, 'migrations', kind, `${String(newest[kind] + 1).padStart(4, '0')}_${name}.sql`);
  writeFileSync(migration('catalog', 'good'), 'CREATE TABLE more (a);');
  const broken = migration('users', 'broken');
  writeFileSync(broken, 'CREATE TABLE half (a); INSERT INTO half VALUES (nothing);');

  assert.match(next(['upgrade-check', folder]).stdout, /_good\.sql[\s\S]*_broken\.sql/);
  const refused = next(['start', '--port', '0', '--no-token', '--db', db]);
  assert.is(refused.status, 1, refused.stderr);
  assert.match(
    refused.stderr,
    /gapstone-users\.db cannot be upgraded to schema \d+: .*syntax error\. It is unchanged\n$/,
  );
  assert.equal(content(), before);
  assert.is((await commandHere(['check', '--db', db])).code, 0);

  // Mended, it migrates; the copies bring the version before it back.
  writeFileSync(broken, 'CREATE TABLE whole (a);');
  const migrated = next(['mapping', 'list', '--db', db]);
  assert.is(migrated.status, 0, migrated.stderr);
  const copies = [
    ...migrated.stderr.matchAll(/(\S+) was upgraded from schema \d+ to \d+; a copy from before is in (\S+)/g),
  ];
  assert.is(copies.length, 2);
  const newer = await commandHere(['check', '--db', db]);
  assert.match(newer.stderr, /use a newer Gapstone/);
  for (const [, file, copy] of copies) execFileSync('mv', [copy!, file!]);
  const back = await commandHere(['check', '--db', db]);
  assert.is(back.code, 0, back.stdout + back.stderr);
});

upgrade.run();
