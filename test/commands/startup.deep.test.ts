import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { localKey } from '../../src/auth/keys.ts';
import { readConfig } from '../../src/base/config.ts';
import { openCatalog, openDatabase } from '../../src/db/database.ts';
import { openUpgraded } from '../../src/db/upgrade.ts';
import { gapstone } from '../support/child.ts';
import {
  change,
  damagePage,
  fileOf,
  kinds,
  newest,
  refusalOf,
  type Site,
  sample,
  sampleBytes,
  siteOf,
  stateOf,
  unclean,
} from '../support/database-files.ts';
import { rejects, suite, testIf } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { killedAtEach } from '../support/killed.ts';
import { actingAsNobody, asNobody, nobody, nobodyRunsProgram } from '../support/nobody.ts';
import { filesIn, put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

const pageSize = sampleBytes.catalog.readUInt16BE(16);

/** Asserts that opening is refused with a message, however it is opened, and that every file stays as it is. */
async function assertRefused({ folder, files, file }: Site, message: RegExp): Promise<void> {
  const before = stateOf(folder);
  for (const open of [
    ...(file === files.db ? [() => openCatalog(file), () => openCatalog(file, { create: true })] : []),
    () => openDatabase(files),
    () => openDatabase(files, { create: true }),
    () => openUpgraded(files, { create: true, checkUnclean: true }),
  ]) {
    assert.match(await refusalOf(open), message);
    assert.equal(stateOf(folder), before);
  }
  // Nor is the other one made where it is missing.
  rmSync(file === files.db ? files.usersDb : files.db);
  const alone = stateOf(folder);
  assert.match(await refusalOf(() => openUpgraded(files, { create: true, checkUnclean: true })), message);
  assert.equal(stateOf(folder), alone);
}

const refuse = suite('Start-up: what is refused is left as it was');

refuse('a file that is cut at any place, or is something else', async () => {
  for (const kind of kinds) {
    const whole = sampleBytes[kind];
    for (let part = 0; part < 12; part++) {
      const length = part < 4 ? [1, 16, 40, 99][part]! : Math.floor((whole.length * part) / 13);
      await assertRefused(
        siteOf(kind, whole.subarray(0, length)),
        /is not a database|is not a Gapstone database|is damaged \(|is truncated: \d+ bytes of \d+/,
      );
    }
    for (const [bytes, message] of [
      [whole.subarray(0, 100), /is not a database|is damaged/],
      [whole.subarray(0, whole.length - 1), /is truncated/],
      ['hello '.repeat(2000), /is not a database/],
      // It is no fresh install, and the line says what to do.
      [
        '',
        /g(-users)?\.db is not a database \(0 bytes\): restore a backup with "gapstone restore", or move the file away to start with a new database$/,
      ],
    ] as const)
      await assertRefused(siteOf(kind, Buffer.from(bytes)), message);
    const foreign = siteOf(kind);
    rmSync(foreign.file);
    change(foreign.file, 'CREATE TABLE notes (text TEXT); PRAGMA user_version = 1');
    await assertRefused(foreign, /is not a Gapstone database/);
  }
  await assertRefused(
    siteOf('users', sampleBytes.catalog),
    /g-users\.db is a catalog, not a file of users' data$/,
  );
  await assertRefused(siteOf('catalog', sampleBytes.users), /g\.db is a file of users' data, not a catalog$/);
});

refuse('flipped bytes in the pages of the schema: never a crash, never a change', async () => {
  for (const kind of kinds) {
    const whole = sampleBytes[kind];
    const sqlite = new Sqlite(fileOf(sample, kind), { readonly: true });
    const pages = sqlite
      .prepare<[], number>("SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'")
      .pluck()
      .all();
    sqlite.close();
    assert.ok(pages.length > 2, `${kind}: ${pages.length}`);
    const said: string[] = [];
    // The head of the page closely, the rest of it here and there; the header of the file has its own tests.
    for (const page of pages)
      for (const step of [0, 1, 2, 2700, 3600]) {
        const offset = (page === 1 ? 100 : 0) + step;
        const bytes = Buffer.from(whole);
        bytes[(page - 1) * pageSize + offset]! ^= 0xff;
        const { folder, files } = siteOf(kind, bytes);
        const before = stateOf(folder);
        said.push(await refusalOf(() => openDatabase(files, { asItIs: true })));
        assert.equal(stateOf(folder), before, `${kind}, page ${page}, byte ${offset}: ${said.at(-1)}`);
      }
    const refused = said.filter((each) => each !== 'nothing was refused');
    assert.ok(refused.length > said.length / 2, `${refused.length} of ${said.length}`);
    for (const message of refused)
      assert.match(message, /is damaged \(.+\): restore a|has schema|is not a Gapstone|is refused: .+/);
  }
});

refuse('a schema that is newer or too old, in the file and in a log that was not closed', async () => {
  for (const kind of kinds) {
    const older = siteOf(kind);
    change(older.file, 'PRAGMA user_version = 2');
    await assertRefused(older, /has schema 2, this version of Gapstone reads schema \d+ or newer: /);
    const message = new RegExp(
      `has schema 999, this version of Gapstone supports ${newest[kind]} at most: use a newer Gapstone`,
    );
    const newer = siteOf(kind);
    change(newer.file, 'PRAGMA user_version = 999');
    await assertRefused(newer, message);
    await assertRefused(unclean(kind, 'PRAGMA user_version = 999'), message);
  }
});

/** A change of each kind of file, and how it is seen. */
const changes = {
  catalog: ['UPDATE catalog SET generation = 4711', 'SELECT generation FROM catalog', 4711],
  users: ["UPDATE favorite_stigs SET title = 'logged'", 'SELECT title FROM favorite_stigs', 'logged'],
} as const;

refuse('every page is looked at before a log that was not closed is taken', async () => {
  for (const kind of kinds) {
    const [sql, question, answer] = changes[kind];
    const bad = unclean(kind, sql);
    damagePage(bad.file, kind);
    const before = stateOf(bad.folder);
    const message = await refusalOf(() => openUpgraded(bad.files, { checkUnclean: true }));
    assert.match(message, /is damaged \(.+\): restore a backup/);
    assert.equal(stateOf(bad.folder), before);
    const { files, file } = unclean(kind, sql);
    const db = await openUpgraded(files, { checkUnclean: true });
    assert.is(db.sqlite.prepare(question).pluck().get(), answer);
    db.close();
    assert.not(existsSync(`${file}-wal`));
  }
});

/** Whether this process may write what others may not, and can act as somebody who may not. */
const isRoot = process.getuid?.() === 0;

const give = (...paths: string[]) => {
  if (isRoot) for (const path of paths) chownSync(path, nobody, nobody);
};
const seenState = (folder: string) => (isRoot ? stateOf(folder) : readdirSync(folder));

// Without root, no other account is needed.
const withRights = isRoot ? testIf(await nobodyRunsProgram(), refuse) : refuse;

withRights('a file, or a folder, that may not be written', async () => {
  const rights = (path: string, mode: string) =>
    `${path} belongs to uid \\d+, gid \\d+ \\(mode ${mode}\\), and this process is uid ${process.geteuid!() || nobody},`;
  const g = '/\\S*/g(-users)?\\.db';
  const unwritten = `cannot be written: EACCES: permission denied: ${rights(g, '0444')}`;
  const cases: [folder: number, file: number, string][] = [
    [0o755, 0o444, unwritten],
    [0o555, 0o444, unwritten],
    [0o555, 0o644, `cannot be opened \\(.+\\): its folder must be writable, .+: ${rights('/[^ ]+', '0555')}`],
    [0o755, 0o000, `cannot be read: EACCES.*: ${rights(g, '0000')}`],
  ];
  const home = scratchFolder();
  const source = put(home, 'a.xml', writeXccdf());
  chmodSync(home, 0o777);
  for (const kind of kinds)
    for (const [folderMode, fileMode, message] of cases) {
      const { folder, files, file } = siteOf(kind);
      give(folder, ...Object.values(files));
      chmodSync(file, fileMode);
      chmodSync(folder, folderMode);
      const before = seenState(folder);
      // Of the two, the catalog is written by importers, who open it alone.
      const args = kind === 'catalog' ? ['import', source] : ['mapping', 'list'];
      const options = isRoot ? { cwd: home, under: asNobody } : { cwd: home };
      const { code, stderr } = await gapstone([...args, '--db', files.db], options);
      assert.is(code, 1);
      assert.match(stderr, new RegExp(`^gapstone: ${g} ${message}`), `${kind}: ${folderMode} ${fileMode}`);
      assert.equal(seenState(folder), before);
      chmodSync(folder, 0o700);
    }
});

withRights('a new database where nothing may be written', async () => {
  const folder = scratchFolder();
  give(folder);
  chmodSync(folder, 0o555);
  const made = actingAsNobody(() => openCatalog(join(folder, 'g.db'), { create: true }));
  await rejects(made, /g\.db cannot be created: /);
  assert.equal(readdirSync(folder), []);
  chmodSync(folder, 0o700);
});

// What a key file may hold is tried in test/auth/keys.test.ts.
refuse('a bad key: the database is not touched, and no part of the key is told', async () => {
  const { folder, file } = siteOf();
  const config = readConfig({ db: file }, {});
  const key = await localKey(config);
  const good = readFileSync(config.keyFile, 'utf8');
  writeFileSync(config.keyFile, good.slice(0, good.length / 2));
  const before = stateOf(folder);
  const { code, stdout, stderr } = await gapstone(['serve', '--port', '0', '--db', file]);
  assert.equal([code, stdout], [1, '']);
  assert.match(stderr, /^gapstone: .+ cannot be read: it is not JSON.*\n$/);
  assert.not(stderr.includes(key.d!.slice(0, 6)), stderr);
  assert.equal(stateOf(folder), before);
});

refuse.run();

const create = suite('Start-up: a new database is whole or not there');

create('the log of a database that was removed is not taken for that of the new one', () => {
  for (const kind of kinds) {
    const { files, file } = siteOf(kind);
    const open = () => (kind === 'catalog' ? openCatalog(file, { create: true }) : openDatabase(files));
    const former = new Sqlite(file);
    former.pragma('journal_mode = WAL');
    former.exec('CREATE TABLE former (x)');
    assert.ok(lstatSync(`${file}-wal`).size > 0);
    // As under a server that has it open.
    rmSync(file);
    const db = open();
    assert.is(db.sqlite.pragma('integrity_check', { simple: true }), 'ok');
    const tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'former'";
    assert.is(db.sqlite.prepare(tables).pluck().get(), 0);
    db.close();
    former.close();
  }
});

create('killed at each point of its making', async () => {
  const source = put(scratchFolder(), 'a.xml', writeXccdf());
  const killed = await killedAtEach(async () => {
    const file = join(scratchFolder(), 'g.db');
    const args = ['import', source, '--db', file];
    const judge = async () => {
      if (existsSync(file)) {
        const db = openCatalog(file);
        assert.is(db.sqlite.pragma('integrity_check', { simple: true }), 'ok');
        db.close();
      }
      const { code, stderr } = await commandHere(args);
      assert.is(code, 0, stderr);
    };
    return { args, judge };
  });
  assert.ok(killed > 5, String(killed));
});

create('three processes that make it at once share one', async () => {
  const folder = scratchFolder();
  const file = join(folder, 'g.db');
  const runs = [1, 2, 3].map((number) => {
    const names = { id: `N${number}_STIG`, title: `N${number} STIG`, stem: `N${number}` };
    const source = put(scratchFolder(), 'a.xml', writeXccdf({ ...names, first: 1000 * number }));
    return gapstone(['import', source, '--db', file]);
  });
  for (const { code, stderr } of await Promise.all(runs)) assert.is(code, 0, stderr);
  const db = openCatalog(file);
  assert.is(db.sqlite.prepare('SELECT count(*) FROM stigs').pluck().get(), 3);
  db.close();
  assert.equal(filesIn(folder), ['g.db']);
});

create.run();
