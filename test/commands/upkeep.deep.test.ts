import fs, {
  chmodSync,
  copyFileSync,
  createWriteStream,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import yauzl from 'yauzl';
import { runImport } from '../../importers/run.ts';
import { backup } from '../../src/commands/backup.ts';
import { backUp } from '../../src/db/backup-file.ts';
import { connect, logBytes } from '../../src/db/connect.ts';
import { type Files, openCatalog, openDatabase } from '../../src/db/database.ts';
import { catalogDigest } from '../../src/db/digest.ts';
import { restoreBackup } from '../../src/db/restore-backup.ts';
import { inboxContents } from '../../src/db/site-records.ts';
import { gapstone } from '../support/child.ts';
import {
  change,
  damagePage,
  fileOf,
  kinds,
  newest,
  refusalOf,
  sample,
  sha256,
  siteOf,
  stateOf,
  unclean,
} from '../support/database-files.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { killedAtEach } from '../support/killed.ts';
import { killAll, startServer } from '../support/running.ts';
import { filesIn, filesOf, put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';
import { makeZip, type ZipEntry } from '../support/zip.ts';

const when = new Date('2026-11-21T09:13:14.567Z');
const stamp = '.before-restore-20261121T091314Z';

const sampleDigest = digestOf(sample.db);
/** What both files hold: the digest of the one, the names of the lists in the other. */
const sampleContent = contentOf(sample);

function digestOf(file: string): string {
  const db = openCatalog(file, { asItIs: true });
  try {
    assert.is(db.sqlite.pragma('integrity_check', { simple: true }), 'ok');
    return catalogDigest(db);
  } finally {
    db.close();
  }
}

function listsIn(usersDb: string): string[] {
  const sqlite = connect(usersDb, 'users', { asItIs: true });
  try {
    assert.is(sqlite.pragma('integrity_check', { simple: true }), 'ok');
    return sqlite.prepare<[], string>('SELECT name FROM bundles ORDER BY id').pluck().all();
  } finally {
    sqlite.close();
  }
}

function contentOf(files: Files): string {
  return [digestOf(files.db), ...listsIn(files.usersDb)].join(' ');
}

/** A list more, and another release. */
async function changeBoth(files: Files): Promise<void> {
  const catalog = openCatalog(files.db);
  await runImport(catalog, [put(scratchFolder(), 'a.xml', writeXccdf())]);
  catalog.close();
  const sqlite = connect(files.usersDb, 'users');
  sqlite.exec(
    "INSERT INTO bundles SELECT 'later', kind, 'Later', '', '[]', '', '', 'PRIVATE', 'ann', NULL, NULL, 't', 't', NULL, 1 FROM bundles",
  );
  sqlite.close();
}

/** A folder with two files, `g.db` and its users' data, and backups of the sample with their hashes: `b.zip`, and `u.db` of users' data. */
async function withBackup(): Promise<{
  folder: string;
  files: Files;
  copy: string;
  usersCopy: string;
  content: string;
}> {
  const { folder, files } = siteOf();
  const [copy, usersCopy] = [join(folder, 'b.zip'), join(folder, 'u.db')];
  await backup(files, copy);
  await backup(files, usersCopy, true);
  await changeBoth(files);
  return { folder, files, copy, usersCopy, content: contentOf(files) };
}

/** The members of a zip, each laid into a folder under its name. */
async function unpacked(zip: string): Promise<Files & { names: string[] }> {
  const folder = scratchFolder();
  const names: string[] = [];
  const archive = await yauzl.openPromise(zip);
  for await (const entry of archive.eachEntry()) {
    names.push(entry.fileName);
    await pipeline(
      await archive.openReadStreamPromise(entry),
      createWriteStream(join(folder, entry.fileName)),
    );
  }
  return { db: join(folder, 'catalog.db'), usersDb: join(folder, 'users.db'), names };
}

/** The refusal of work on a disk with 1,000 free bytes. */
async function refusalOnFullDisk(work: () => unknown): Promise<string> {
  const { statfsSync } = fs;
  fs.statfsSync = (() => ({ bavail: 1000, bsize: 1 })) as never;
  syncBuiltinESMExports();
  try {
    return await refusalOf(work);
  } finally {
    fs.statfsSync = statfsSync;
    syncBuiltinESMExports();
  }
}

const backups = suite('gapstone backup');
backups.after(killAll);

backups('is whole while a server serves and an importer writes', async () => {
  const { folder, files } = siteOf();
  const running = await startServer(folder, ['serve', '--port', '0', '--db', files.db]);
  const texts = Array.from({ length: 4 }, (_, index) =>
    put(
      folder,
      `${index}.xml`,
      writeXccdf({ rules: 200, release: index + 1, date: null, statusDate: `2024-01-${index + 10}` }),
    ),
  );
  const importing = gapstone(['import', ...texts, '--db', files.db]);
  const copies: string[] = [];
  for (let ended = false, number = 0; !ended && number < 30; number++) {
    const copy = join(folder, `copy-${number}.zip`);
    ended = await Promise.race([importing.then(() => true), backup(files, copy).then(() => false)]);
    if (!ended) copies.push(copy);
  }
  assert.is((await importing).code, 0);
  const last = join(folder, 'last.zip');
  await backup(files, last);
  const after = contentOf(files);
  assert.is(contentOf(await unpacked(last)), after);
  assert.is.not(after, sampleContent);
  assert.ok(copies.length >= 1, 'no backup was made while the importer was running');
  for (const copy of copies)
    assert.ok([sampleContent, after].includes(contentOf(await unpacked(copy))), copy);
  assert.is((await fetch(`${running.url}/readyz`)).status, 200);
  running.child.kill('SIGTERM');
  assert.equal(await running.ended, { code: 0, signal: null });
});

backups('holds both as databases that stand alone; is for the owner alone; says its hash', async () => {
  const { folder, files } = siteOf();
  put(folder, 'b.zip.sha256', 'of an earlier backup');
  const { code, stdout, stderr } = await commandHere(['backup', 'b.zip', '--db', files.db], { cwd: folder });
  assert.equal([code, stderr], [0, '']);
  const copy = join(folder, 'b.zip');
  assert.is(stdout, `${sha256(copy)}  b.zip\n`);
  assert.is(readFileSync(`${copy}.sha256`, 'utf8'), `${sha256(copy)}  b.zip\n`);
  assert.equal(filesIn(folder), ['b.zip', 'b.zip.sha256', 'g-users.db', 'g.db']);
  for (const path of [copy, `${copy}.sha256`]) assert.is(lstatSync(path).mode & 0o777, 0o600);
  const { names, ...members } = await unpacked(copy);
  assert.equal(names, ['catalog.db', 'users.db']);
  for (const file of Object.values(members)) {
    const sqlite = new Sqlite(file, { readonly: true });
    assert.is(sqlite.pragma('journal_mode', { simple: true }), 'delete');
    sqlite.close();
  }
  assert.is(contentOf(members), sampleContent);
});

backups("--users-only: users' data alone, as a database; the catalog need not be there", async () => {
  const { folder, files } = siteOf();
  for (const name of ['u1.db', 'u2.db']) {
    const file = join(folder, name);
    const args = ['backup', file, '--users-only', '--json', '--db', files.db];
    const { code, stdout, stderr } = await commandHere(args);
    assert.equal([code, stderr], [0, '']);
    const { size, mode } = lstatSync(file);
    const schema = { users: newest.users };
    assert.equal(JSON.parse(stdout), { file, bytes: size, sha256: sha256(file), schema });
    assert.is(readFileSync(`${file}.sha256`, 'utf8'), `${sha256(file)}  ${name}\n`);
    assert.equal([mode & 0o777, listsIn(file)], [0o600, ['Kept']]);
    rmSync(files.db, { force: true });
  }
  assert.equal(filesIn(folder), ['g-users.db', 'u1.db', 'u1.db.sha256', 'u2.db', 'u2.db.sha256']);
});

backups("where there is no users' data yet the catalog alone is in it, and none is made", async () => {
  const { folder, files } = siteOf();
  rmSync(files.usersDb);
  const copy = join(folder, 'b.zip');
  assert.equal((await backup(files, copy)).schema, { catalog: newest.catalog });
  assert.equal((await unpacked(copy)).names, ['catalog.db']);
  assert.equal(filesIn(folder), ['b.zip', 'b.zip.sha256', 'g.db']);
  const users = await commandHere(['backup', join(folder, 'u.db'), '--users-only', '--db', files.db]);
  assert.equal([users.code, users.stdout], [1, '']);
  assert.match(users.stderr, /^gapstone: there is no database at \S+g-users\.db: create one with .+\n$/);
  assert.equal(filesIn(folder), ['b.zip', 'b.zip.sha256', 'g.db']);
  // What such a backup restores leaves users' data as it is.
  copyFileSync(sample.usersDb, files.usersDb);
  const restored = await restoreBackup(copy, files, when);
  assert.is(restored.files.map(({ kind }) => kind).join(), 'catalog');
  assert.is(sha256(files.usersDb), sha256(sample.usersDb));
});

backups('never replaces anything, and leaves nothing behind when it fails', async () => {
  const { folder, files } = siteOf();
  put(folder, 'there.db', 'of another day');
  put(folder, 'there.db.sha256', 'its hash');
  mkdirSync(join(folder, 'folder.db'));
  symlinkSync(join(folder, 'nowhere'), join(folder, 'link.db'));
  const before = stateOf(folder);
  const taken = /already exists: a copy never replaces a file. Choose another name$/;
  const full = /^there is not enough space for \S+\/b\.db: it needs \d+ bytes, 1000 are free$/;
  for (const usersOnly of [false, true]) {
    for (const [name, message] of [
      ['g.db', /g\.db is the database itself$/],
      ['g-users.db', /g-users\.db is the database itself$/],
      ['there.db', taken],
      ['folder.db', taken],
      // One that leads nowhere.
      ['link.db', taken],
      ['no/such/b.db', /the folder of .*b\.db does not exist$/],
    ] as const)
      assert.match(await refusalOf(() => backup(files, join(folder, name), usersOnly)), message);
    const noRoom = () => backUp(files, join(folder, 'b.db'), usersOnly);
    assert.match(await refusalOnFullDisk(noRoom), full);
    assert.equal(stateOf(folder), before);
  }
});

backups('writes to no file that somebody planted, and through no link', async () => {
  for (const usersOnly of [false, true]) {
    const { folder, files } = siteOf();
    const victim = put(scratchFolder(), 'victim', 'precious');
    const copy = join(folder, 'b.db');
    const hash = `${copy}.sha256`;
    const planted = [
      hash,
      ...[copy, hash].flatMap((name) => [`${name}.part-${process.pid}`, `${name}.part`]),
    ];
    for (const name of planted) symlinkSync(victim, name);
    for (const suffix of ['-wal', '-journal']) put(folder, `b.db.part-${process.pid}${suffix}`, 'planted');
    const there = readdirSync(folder);
    const { sha256: told } = await backup(files, copy, usersOnly);
    assert.is(readFileSync(victim, 'utf8'), 'precious');
    assert.not(lstatSync(hash).isSymbolicLink(), 'the link was replaced, not followed');
    assert.is(readFileSync(hash, 'utf8'), `${told}  b.db\n`);
    assert.equal(readdirSync(folder).sort(), [...there, 'b.db'].sort(), 'nothing else is left');
  }
});

backups('of a damaged database fails, and leaves nothing behind', async () => {
  for (const [kind, usersOnly] of [
    ['catalog', false],
    ['users', false],
    ['users', true],
  ] as const) {
    const { folder, files, file } = siteOf(kind);
    damagePage(file, kind);
    const before = stateOf(folder);
    assert.match(await refusalOf(() => backup(files, join(folder, 'b'), usersOnly)), /is damaged/);
    assert.equal(stateOf(folder), before);
  }
});

backups.run();

const restores = suite('gapstone restore');
restores.after(killAll);

restores('brings back what was backed up, keeps what it replaces, ends sessions', async () => {
  const { folder, files, copy, content } = await withBackup();
  chmodSync(files.db, 0o640);
  chmodSync(files.usersDb, 0o600);
  const restored = await restoreBackup(copy, files, when);
  assert.equal(restored, {
    bytes: lstatSync(copy).size,
    sha256: sha256(copy),
    files: kinds.map((kind) => {
      const file = fileOf(files, kind);
      return { kind, file, schema: newest[kind], before: `${file}${stamp}` };
    }),
  });
  const both = ['g-users.db', `g-users.db${stamp}`, 'g.db', `g.db${stamp}`];
  assert.equal(filesIn(folder), ['b.zip', 'b.zip.sha256', ...both, 'u.db', 'u.db.sha256']);
  assert.equal(
    Object.values(files).map((file) => lstatSync(file).mode & 0o777),
    [0o640, 0o600],
    'the rights are those of the replaced files',
  );
  assert.is(contentOf(files), sampleContent);
  const former = { db: `${files.db}${stamp}`, usersDb: `${files.usersDb}${stamp}` };
  assert.is(contentOf(former), content);
  const db = openDatabase(files);
  assert.is(db.sqlite.prepare('SELECT count(*) FROM sessions').pluck().get(), 0);
  db.close();
  // And the way back, of each alone.
  const again = await restoreBackup(former.db, files, when);
  assert.is(digestOf(files.db), digestOf(former.db));
  assert.equal(listsIn(files.usersDb), ['Kept']);
  assert.is(
    again.files.map(({ kind, before }) => `${kind} ${before}`).join(),
    `catalog ${files.db}${stamp}-2`,
  );
  await restoreBackup(former.usersDb, files, when);
  assert.is(contentOf(files), content);
});

restores("of users' data alone leaves the catalog as it is, also while somebody writes it", async () => {
  const { folder, files, usersCopy } = await withBackup();
  const importer = openCatalog(files.db);
  importer.sqlite.exec('BEGIN IMMEDIATE');
  const before = sha256(files.db);
  const names = filesIn(folder);
  const restored = await restoreBackup(usersCopy, files, when);
  const kept = `${files.usersDb}${stamp}`;
  assert.equal(restored, {
    bytes: lstatSync(usersCopy).size,
    sha256: sha256(usersCopy),
    files: [{ kind: 'users', file: files.usersDb, schema: newest.users, before: kept }],
  });
  assert.equal([listsIn(files.usersDb), listsIn(kept)], [['Kept'], ['Kept', 'Later']]);
  assert.equal([sha256(files.db), filesIn(folder)], [before, [...names, basename(kept)].sort()]);
  importer.sqlite.exec('ROLLBACK');
  importer.close();
  // It may be there before a catalog is.
  const fresh = filesOf(join(scratchFolder(), 'g.db'));
  await restoreBackup(usersCopy, fresh, when);
  assert.equal(filesIn(dirname(fresh.db)), ['g-users.db']);
  assert.equal(listsIn(fresh.usersDb), ['Kept']);
});

restores('a log that was not closed goes with its database, never into the new one', async () => {
  const { copy } = await withBackup();
  for (const [kind, sql, question, answer] of [
    ['catalog', "UPDATE stigs SET title = 'in the log'", 'SELECT DISTINCT title FROM stigs', 'in the log'],
    ['users', "UPDATE bundles SET name = 'in the log'", 'SELECT name FROM bundles', 'in the log'],
  ] as const) {
    const { folder, files, file } = unclean(kind, sql);
    await restoreBackup(copy, files, when);
    assert.equal(filesIn(folder), ['g-users.db', `g-users.db${stamp}`, 'g.db', `g.db${stamp}`]);
    assert.is(contentOf(files), sampleContent);
    const old = connect(`${file}${stamp}`, kind);
    assert.is(old.prepare(question).pluck().get(), answer);
    old.close();
  }
});

restores('where a database is missing, empty or no database any more; its log is moved along', async () => {
  const garbage = Buffer.alloc(8192, 0xee);
  const { copy } = await withBackup();
  for (const kind of kinds)
    for (const [name, bytes] of [
      ['missing', null],
      ['empty', Buffer.alloc(0)],
      ['garbage', garbage],
      ['cut', readFileSync(fileOf(sample, kind)).subarray(0, 5000)],
    ] as const) {
      const folder = scratchFolder();
      const files = filesOf(join(folder, 'g.db'));
      const file = fileOf(files, kind);
      if (bytes) writeFileSync(file, bytes);
      writeFileSync(`${file}-wal`, 'a log of something that is gone');
      const { files: restored } = await restoreBackup(copy, files, when);
      const { before } = restored.find((each) => each.kind === kind)!;
      assert.is(contentOf(files), sampleContent, name);
      assert.is(before === null, bytes === null, name);
      if (name === 'garbage') {
        assert.equal(readFileSync(before!), garbage);
        assert.is(readFileSync(`${before}-wal`, 'utf8'), 'a log of something that is gone');
      }
      assert.not(existsSync(`${file}-wal`), name);
    }
});

restores('neither file is replaced when somebody uses one of the two', async () => {
  for (const kind of kinds) {
    const { folder, files, copy, content } = await withBackup();
    const file = fileOf(files, kind);
    const user = new Sqlite(file);
    user.pragma('journal_mode = WAL');
    user.prepare('SELECT count(*) FROM sqlite_schema').get();
    const names = filesIn(folder);
    const inUse = `${file} is in use: first stop the server and any other program that uses it`;
    assert.is(await refusalOf(() => restoreBackup(copy, files, when)), inUse);
    assert.equal(filesIn(folder), names);
    user.close();
    assert.is(contentOf(files), content);
  }
});

/**
 * The locks that this process has on both files, as the kernel of Linux tells; none elsewhere. One reading of the table may
 * miss a lock while other processes take theirs: a lock that is held is in one of many.
 */
function locksOn(files: Files): string[] {
  if (process.platform !== 'linux') return [];
  const each = Object.values(files).map((file) => `\\S+:${lstatSync(file).ino} .*`);
  const own = new RegExp(` ${process.pid} (${each.join('|')})`, 'g');
  const readings = Array.from({ length: 20 }, () => readFileSync('/proc/locks', 'utf8').match(own) ?? []);
  return [...new Set(readings.flat())].sort();
}

restores('a second connection, opened and closed, does not give up the locks of the first', async () => {
  const { files, copy, usersCopy } = await withBackup();
  const first = openDatabase(files);
  const held = locksOn(files);
  if (process.platform === 'linux') assert.is(held.length, 2);
  openDatabase(files).close();
  for (const kind of kinds) connect(fileOf(files, kind), kind).close();
  assert.equal(locksOn(files), held);
  assert.match(await refusalOf(() => restoreBackup(copy, files, when)), /g\.db is in use/);
  assert.match(await refusalOf(() => restoreBackup(usersCopy, files, when)), /g-users\.db is in use/);
  first.close();
});

restores('whoever opened a replaced file before cannot write beside the new one', async () => {
  const { files, copy } = await withBackup();
  // As a process that stands between opening the file and its first use: it holds no lock yet.
  const stale = kinds.map((kind) => new Sqlite(fileOf(files, kind)));
  await restoreBackup(copy, files, when);
  for (const sqlite of stale) {
    assert.throws(
      () => sqlite.exec('PRAGMA journal_mode = WAL; CREATE TABLE lost (t)'),
      (error: { code: string }) => error.code === 'SQLITE_READONLY_DBMOVED',
    );
    sqlite.close();
  }
  for (const file of Object.values(files)) assert.not(existsSync(`${file}-wal`));
  assert.is(contentOf(files), sampleContent);
});

restores('warns of what is no longer known where a database cannot be read, and keeps the rest', async () => {
  const { copy } = await withBackup();
  for (const [kind, warning, held] of [
    ['catalog', /^warning: the inbox may bring back what the replaced catalog held: .*\bg\.db\b/m, 1],
    ['users', /^warning: which bundles were applied here and .*: .*\bg-users\.db\b/m, 0],
  ] as const) {
    const { files, file } = siteOf(kind);
    change(files.usersDb, `INSERT INTO inbox_contents VALUES ('${'a'.repeat(64)}')`);
    writeFileSync(file, 'damaged');
    const { code, stderr } = await commandHere(['restore', copy, '--db', files.db]);
    assert.is(code, 0, stderr);
    assert.match(stderr, warning);
    assert.is(inboxContents(files.usersDb).size, held);
  }
});

restores('a database behind a link is replaced where it lies, and its log is found there', async () => {
  const { folder, files, copy } = await withBackup();
  const links = scratchFolder();
  const linked = filesOf(join(links, 'link.db'));
  for (const kind of kinds) symlinkSync(fileOf(files, kind), fileOf(linked, kind));
  const writer = openCatalog(linked.db);
  writer.sqlite.exec('UPDATE catalog SET generation = generation + 1');
  const db = openDatabase(linked);
  db.sqlite.exec("UPDATE bundles SET description = 'd'");
  for (const file of Object.values(linked)) assert.ok(logBytes(file) > 0);
  const status = JSON.parse((await commandHere(['status', '--json', '--db', linked.db])).stdout);
  assert.ok(status.catalog.logBytes > 0 && status.users.logBytes > 0);
  db.close();
  writer.close();
  for (const file of Object.values(files))
    assert.match(await refusalOf(() => restoreBackup(file, linked, when)), /is the database itself/);
  const { files: restored } = await restoreBackup(copy, linked, when);
  assert.equal(
    restored.map(({ before }) => dirname(before!)),
    [folder, folder],
  );
  for (const kind of kinds) assert.is(readlinkSync(fileOf(linked, kind)), fileOf(files, kind));
  assert.is(contentOf(files), sampleContent);
  assert.equal(filesIn(links), ['link-users.db', 'link.db']);
});

/** Restores each file, which must be refused with one line and leave every file in the folder as it was. */
async function assertNothingChanged(folder: string, files: Files, cases: [string, RegExp][]): Promise<void> {
  const before = stateOf(folder);
  for (const [path, message] of cases) {
    assert.match(await refusalOf(() => restoreBackup(path, files, when)), message, path);
    assert.equal(stateOf(folder), before, path);
  }
}

// What a schema may not be is in hostile-schema.test.ts.
restores('verifies before it replaces: nothing is changed by a bad backup', async () => {
  const { folder, files, copy, usersCopy } = await withBackup();
  const goods = { catalog: (await unpacked(copy)).db, users: usersCopy };
  const foreign = join(folder, 'foreign.db');
  change(foreign, 'CREATE TABLE notes (text TEXT)');
  const cases: [string, RegExp][] = [
    [join(folder, 'missing.db'), /there is no database at .*missing\.db$/],
    [folder, /is not a file$/],
    [files.db, /is the database itself$/],
    [files.usersDb, /is the database itself$/],
    [
      put(folder, 'text.db', 'hello'),
      /text\.db is no backup of Gapstone: it is neither a zip nor a database \(5 bytes\)/,
    ],
    [put(folder, 'empty.db', ''), /is no backup of Gapstone: .* \(0 bytes\)/],
    [foreign, /is not a Gapstone database$/],
  ];
  const loose = {
    catalog: 'DELETE FROM sources',
    users: "INSERT INTO list_stigs VALUES ('nobody', 's', 'b', 'S', 'V1R1', 1, '', '', NULL)",
  };
  for (const kind of kinds) {
    const good = readFileSync(goods[kind]);
    const bad = (name: string, bytes: Uint8Array = good) => put(folder, `${kind}-${name}.db`, bytes);
    damagePage(bad('flipped'), kind);
    change(bad('newer'), 'PRAGMA user_version = 999');
    change(bad('older'), 'PRAGMA user_version = 1');
    change(bad('loose'), loose[kind]);
    put(folder, `${kind}-in-use.db-wal`, 'x');
    put(folder, `${kind}-hashed.db.sha256`, `${'0'.repeat(64)}  hashed.db\n`);
    put(folder, `${kind}-no-hash.db.sha256`, 'nothing');
    cases.push(
      [
        bad('cut', good.subarray(0, 20_000)),
        /^\S*-cut\.db is damaged \([^*]+\): take another backup\. Nothing was changed$/,
      ],
      [
        join(folder, `${kind}-flipped.db`),
        /^\S*-flipped\.db is damaged \([^*]+\): take another backup\. Nothing was changed$/,
      ],
      [join(folder, `${kind}-newer.db`), /has schema 999, this version of Gapstone supports/],
      [join(folder, `${kind}-older.db`), /has schema 1, this version of Gapstone reads schema \d+ or newer/],
      [join(folder, `${kind}-loose.db`), /the backup is damaged: \d+ rows refer to rows that do not exist$/],
      [bad('in-use'), /is a database in use, not a backup: it has a log beside it/],
      [bad('hashed'), /hashed\.db was changed: its SHA-256 does not match .*hashed\.db\.sha256$/],
      [bad('no-hash'), /does not contain a SHA-256$/],
    );
  }
  await assertNothingChanged(folder, files, cases);
  const before = stateOf(folder);
  const { db, usersDb } = files;
  const no = (name: string) => join(folder, 'no', name);
  const isOther = /foreign\.db belongs to another program: nothing was replaced$/;
  const isNowhere = /the folder of the database does not exist: \S+\/no\/[gu]\.db$/;
  const full = (name: string) =>
    new RegExp(`there is not enough space for \\S+/${name}: it needs \\d+ bytes, 1000 are free$`);
  for (const [from, message] of [
    [copy, full('g\\.db')],
    [usersCopy, full('g-users\\.db')],
  ] as const)
    assert.match(await refusalOnFullDisk(() => restoreBackup(from, files, when)), message);
  for (const [from, places, message] of [
    [copy, { db: foreign, usersDb }, isOther],
    [copy, { db, usersDb: foreign }, isOther],
    [copy, { db: no('g.db'), usersDb }, isNowhere],
    [copy, { db, usersDb: no('u.db') }, isNowhere],
  ] as [string, Files, RegExp][])
    assert.match(await refusalOf(() => restoreBackup(from, places, when)), message);
  assert.equal(stateOf(folder), before);
});

restores('a zip that is not to the letter what a backup is changes nothing', async () => {
  const { folder, files, copy } = await withBackup();
  const good = readFileSync(copy);
  const parts = await unpacked(copy);
  const damaged = join(scratchFolder(), 'damaged.db');
  copyFileSync(parts.usersDb, damaged);
  damagePage(damaged, 'users');
  const [c, u, d] = [readFileSync(parts.db), readFileSync(parts.usersDb), readFileSync(damaged)];
  const member = (name: string, data: Uint8Array): ZipEntry => ({ name, data });
  const [catalog, users] = [member('catalog.db', c), member('users.db', u)];
  const no = 'is no backup of Gapstone:';
  const zips: Record<string, [ZipEntry[], string]> = {
    more: [[catalog, users, member('notes.txt', u)], `${no} it has the member notes\\.txt$`],
    twice: [[catalog, users, users], `${no} it has the member users\\.db$`],
    upward: [[member('../users.db', u)], 'cannot be restored: .+\\. Nothing was changed$'],
    absolute: [[member('/catalog.db', u)], 'cannot be restored: .+\\. Nothing was changed$'],
    speaks: [[catalog, users, member('a\u001b[31m\nb', u)], `${no} it has the member a\uFFFD\\[31m\uFFFDb$`],
    nothing: [[], '(is no backup of Gapstone|is not a database)'],
    users: [[users], `${no} it has no member catalog\\.db$`],
    swapped: [[member('catalog.db', u), member('users.db', c)], "is a file of users' data, not a catalog$"],
    same: [[catalog, member('users.db', c)], "is a catalog, not a file of users' data$"],
    text: [[catalog, member('users.db', Buffer.from('hello'))], 'is not a database \\(5 bytes\\)'],
    half: [[catalog, member('users.db', u.subarray(0, 20_000))], 'is damaged \\('],
    damaged: [[catalog, member('users.db', d)], 'is damaged \\('],
    sum: [[catalog, { ...users, crc: 1 }], 'was changed: its member users\\.db has another checksum$'],
    size: [[catalog, { ...users, size: u.length + 1 }], ''],
    lies: [[{ name: 'catalog.db', data: c, size: 100 }], 'cannot be restored: .+\\. Nothing was changed$'],
  };
  const cases = Object.entries(zips).map(([name, [entries, message]]): [string, RegExp] => [
    put(folder, `${name}.zip`, makeZip(entries)),
    new RegExp(message),
  ]);
  for (const part of [0.1, 0.5, 0.9, 0.999]) {
    const path = put(folder, `cut-${part}.zip`, good.subarray(0, Math.floor(good.length * part)));
    cases.push([path, /cut-[\d.]+\.zip is no backup of Gapstone: /]);
  }
  put(folder, 'hashed.zip.sha256', `${'0'.repeat(64)}  hashed.zip\n`);
  cases.push([put(folder, 'hashed.zip', good), /hashed\.zip was changed: its SHA-256 does not match /]);
  await assertNothingChanged(folder, files, cases);
});

restores('killed at each point, each file is the old one or the new one', async () => {
  const first = await withBackup();
  const digests = [digestOf(first.files.db), sampleDigest];
  const lists = [listsIn(first.files.usersDb).join(), 'Kept'];
  const killed = await killedAtEach(async (number) => {
    const { files, copy } = number === 1 ? first : await withBackup();
    const args = ['restore', copy, '--db', files.db];
    const judge = async () => {
      assert.ok(digests.includes(digestOf(files.db)));
      assert.ok(lists.includes(listsIn(files.usersDb).join()));
      assert.is((await commandHere(['check', '--db', files.db])).code, 0);
      assert.is((await commandHere(args)).code, 0);
      assert.is(contentOf(files), sampleContent);
    };
    return { args, judge };
  });
  assert.ok(killed > 8, String(killed));
});

restores.run();
