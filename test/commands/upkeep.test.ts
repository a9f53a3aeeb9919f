import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { CommandError } from '../../src/base/errors.ts';
import { backup } from '../../src/commands/backup.ts';
import { copyDatabase } from '../../src/db/copy.ts';
import { connect, openCatalog } from '../../src/db/database.ts';
import { catalogDigest } from '../../src/db/digest.ts';
import { readHeader } from '../../src/db/header.ts';
import { listMigrations, migrate } from '../../src/db/migrate.ts';
import { restoreDatabase } from '../../src/db/restore.ts';
import { openUpgraded } from '../../src/db/upgrade.ts';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { killAll, startServer } from '../support/running.ts';
import { filesIn, put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

const newest = listMigrations().length;
const when = new Date('2026-11-21T09:13:14.567Z');
const kept = 'g.db.before-restore-20261121T091314Z';
const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** A database of the sample STIGs, with a list and a session. */
const sample = join(scratchFolder(), 'g.db');
{
  const db = openCatalog(sample, { create: true });
  await runImport(db, [shipped('stigs')]);
  db.sqlite.exec(`INSERT INTO bundles VALUES ('id', 'list', 'Kept', '', '[]', '', '', 'PRIVATE', 'ann', NULL, NULL, 't', 't', NULL);
    INSERT INTO sessions VALUES ('hash', 'ann', NULL, NULL, '[]', 't', 't', 't')`);
  db.close();
}
const sampleDigest = digestOf(sample);

function digestOf(file: string): string {
  const db = openCatalog(file);
  try {
    assert.is(db.sqlite.pragma('integrity_check', { simple: true }), 'ok');
    return catalogDigest(db);
  } finally {
    db.close();
  }
}

function folderWith(name = 'g.db'): { folder: string; file: string } {
  const folder = scratchFolder();
  const file = join(folder, name);
  copyFileSync(sample, file);
  return { folder, file };
}

/** A folder with another database, `g.db`, and a backup of the sample, `b.db` with its hash. */
async function withBackup(): Promise<{ folder: string; file: string; copy: string; digest: string }> {
  const { folder, file } = folderWith();
  const copy = join(folder, 'b.db');
  await backup(file, copy);
  const db = openCatalog(file);
  await runImport(db, [put(scratchFolder(), 'a.xml', writeXccdf())]);
  const digest = catalogDigest(db);
  db.close();
  return { folder, file, copy, digest };
}

function stateOf(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((name) => [name, lstatSync(join(folder, name)).isDirectory() ? '' : sha256(join(folder, name))]),
  );
}

async function refusalOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    assert.instance(error, CommandError, (error as Error).stack);
    assert.not.match((error as Error).message, /\n/);
    return (error as Error).message;
  }
  return 'nothing was refused';
}

const backups = suite('gapstone backup');
backups.after(killAll);

backups('is whole while a server serves and an importer writes', async () => {
  const { folder, file } = folderWith();
  const running = await startServer(folder, ['serve', '--port', '0', '--db', file]);
  const texts = Array.from({ length: 12 }, (_, index) =>
    put(
      folder,
      `${index}.xml`,
      writeXccdf({ rules: 200, release: index + 1, date: null, statusDate: `2024-01-${index + 10}` }),
    ),
  );
  const importing = gapstone(['import', ...texts, '--db', file]);
  const copies: string[] = [];
  for (let ended = false, number = 0; !ended && number < 30; number++) {
    const copy = join(folder, `copy-${number}.db`);
    ended = await Promise.race([importing.then(() => true), backup(file, copy).then(() => false)]);
    if (!ended) copies.push(copy);
  }
  assert.is((await importing).code, 0);
  const last = join(folder, 'last.db');
  await backup(file, last);
  const after = digestOf(file);
  assert.is(digestOf(last), after);
  assert.is.not(after, sampleDigest);
  assert.ok(copies.length >= 1, 'no backup was made while the importer was running');
  for (const copy of copies) assert.ok([sampleDigest, after].includes(digestOf(copy)), copy);
  assert.is((await fetch(`${running.url}/readyz`)).status, 200);
  running.child.kill('SIGTERM');
  assert.equal(await running.ended, { code: 0, signal: null });
});

backups('one state, also when the database changes between two steps', async () => {
  const { folder, file } = folderWith();
  const writer = openCatalog(file);
  const reader = connect(file);
  const copying = copyDatabase(reader, join(folder, 'b.db'));
  for (let change = 0; change < 50; change++) {
    writer.sqlite.exec('UPDATE catalog SET generation = generation + 1; UPDATE stigs SET title = title || 1');
    await new Promise((resolve) => setImmediate(resolve));
  }
  await copying;
  reader.close();
  writer.close();
  const db = openCatalog(join(folder, 'b.db'));
  const { generation, title } = db.sqlite
    .prepare('SELECT generation, (SELECT max(title) FROM stigs) AS title FROM catalog')
    .get() as { generation: number; title: string };
  db.close();
  assert.is(title.length - title.replace(/1+$/, '').length, generation - 1);
});

backups('says its hash, for sha256sum; is for the owner alone; needs no log', async () => {
  const { folder, file } = folderWith();
  put(folder, 'b.db.sha256', 'of an earlier backup');
  const { code, stdout, stderr } = await gapstone(['backup', 'b.db', '--db', file], { cwd: folder });
  assert.equal([code, stderr], [0, '']);
  const copy = join(folder, 'b.db');
  assert.is(stdout, `${sha256(copy)}  b.db\n`);
  assert.is(readFileSync(`${copy}.sha256`, 'utf8'), `${sha256(copy)}  b.db\n`);
  assert.equal(filesIn(folder), ['b.db', 'b.db.sha256', 'g.db']);
  for (const path of [copy, `${copy}.sha256`]) assert.is(lstatSync(path).mode & 0o777, 0o600);
  const sqlite = new Sqlite(copy, { readonly: true });
  assert.is(sqlite.pragma('journal_mode', { simple: true }), 'delete');
  sqlite.close();
  const json = await gapstone(['backup', 'c.db', '--json', '--db', file], { cwd: folder });
  const bytes = lstatSync(join(folder, 'c.db')).size;
  assert.equal(JSON.parse(json.stdout), {
    file: 'c.db',
    bytes,
    sha256: sha256(join(folder, 'c.db')),
    schema: newest,
  });
});

backups('of an older schema: the way back before an upgrade', async () => {
  const folder = scratchFolder();
  const file = join(folder, 'g.db');
  const sqlite = new Sqlite(file);
  sqlite.pragma(`application_id = ${0x47415053}`);
  migrate(sqlite, newest - 1);
  sqlite.close();
  assert.is((await backup(file, join(folder, 'b.db'))).schema, newest - 1);
});

backups('never replaces anything, and leaves nothing behind when it fails', async () => {
  const { folder, file } = folderWith();
  put(folder, 'there.db', 'of another day');
  put(folder, 'there.db.sha256', 'its hash');
  mkdirSync(join(folder, 'folder.db'));
  const before = stateOf(folder);
  const cases: [string, RegExp][] = [
    ['g.db', /g\.db is the database itself$/],
    ['there.db', /there\.db already exists: a copy never replaces a file. Choose another name$/],
    ['folder.db', /folder\.db already exists: a copy never replaces a file. Choose another name$/],
    ['no/such/b.db', /the folder of .*b\.db does not exist$/],
  ];
  for (const [name, message] of cases) {
    assert.match(await refusalOf(() => backup(file, join(folder, name))), message);
    assert.equal(stateOf(folder), before, name);
  }
  const sqlite = connect(file);
  const noRoom = () => copyDatabase(sqlite, join(folder, 'b.db'), () => 1000);
  assert.match(
    await refusalOf(noRoom),
    /there is not enough space for .*b\.db: it needs \d+ bytes, 1000 are free$/,
  );
  sqlite.close();
  assert.equal(stateOf(folder), before);
});

backups('writes to no file that somebody planted, and through no link', async () => {
  const { folder, file } = folderWith();
  const victim = put(scratchFolder(), 'victim', 'precious');
  const copy = join(folder, 'b.db');
  const hash = `${copy}.sha256`;
  const planted = [hash, ...[copy, hash].flatMap((name) => [`${name}.part-${process.pid}`, `${name}.part`])];
  for (const name of planted) symlinkSync(victim, name);
  for (const suffix of ['-wal', '-journal']) put(folder, `b.db.part-${process.pid}${suffix}`, 'planted');
  const there = readdirSync(folder);
  const { sha256: told } = await backup(file, copy);
  assert.is(readFileSync(victim, 'utf8'), 'precious');
  assert.not(lstatSync(hash).isSymbolicLink(), 'the link was replaced, not followed');
  assert.is(readFileSync(hash, 'utf8'), `${told}  b.db\n`);
  assert.equal(readdirSync(folder).sort(), [...there, 'b.db'].sort(), 'nothing else is left');
  // A link in the place of the copy itself, even one that leads nowhere, is a name that is taken.
  symlinkSync(join(folder, 'nowhere'), join(folder, 'c.db'));
  assert.match(
    await refusalOf(() => backup(file, join(folder, 'c.db'))),
    /c\.db already exists: a copy never replaces a file. Choose another name$/,
  );
});

backups('of a damaged database fails, and leaves nothing behind', async () => {
  const { folder, file } = folderWith();
  damagePage(file, 'findings');
  const before = stateOf(folder);
  assert.match(await refusalOf(() => backup(file, join(folder, 'b.db'))), /is damaged/);
  assert.equal(stateOf(folder), before);
});

backups.run();

/** Overwrites the head of the last page of a table. */
function damagePage(file: string, table: string): void {
  const sqlite = new Sqlite(sample, { readonly: true });
  const page = sqlite.prepare('SELECT max(pageno) FROM dbstat WHERE name = ?').pluck().get(table) as number;
  const size = sqlite.pragma('page_size', { simple: true }) as number;
  sqlite.close();
  const bytes = readFileSync(file);
  bytes.fill(0xff, (page - 1) * size, (page - 1) * size + 64);
  writeFileSync(file, bytes);
}

/** The locks that this process holds on a file, as the kernel tells where it does. */
function locksOn(file: string): string[] {
  if (process.platform !== 'linux') return [];
  const { ino } = lstatSync(file);
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .map((line) => line.replace(/^\d+: /, ''))
    .filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `));
}

const restores = suite('gapstone restore');
restores.after(killAll);

restores('brings back what was backed up, keeps what it replaces, ends sessions', async () => {
  const { folder, file, copy, digest } = await withBackup();
  chmodSync(file, 0o640);
  const restored = restoreDatabase(copy, file, when);
  assert.equal(restored, {
    file,
    bytes: lstatSync(copy).size,
    sha256: sha256(copy),
    schema: newest,
    before: join(folder, kept),
  });
  assert.equal(filesIn(folder), ['b.db', 'b.db.sha256', 'g.db', kept]);
  assert.is(lstatSync(file).mode & 0o777, 0o640, 'the rights are those of the replaced file');
  assert.is(digestOf(file), sampleDigest);
  assert.is(digestOf(join(folder, kept)), digest);
  const db = openCatalog(file);
  assert.equal(db.sqlite.prepare('SELECT name FROM bundles').pluck().all(), ['Kept']);
  assert.is(db.sqlite.prepare('SELECT count(*) FROM sessions').pluck().get(), 0);
  db.close();
  // And the way back.
  const again = restoreDatabase(join(folder, kept), file, when);
  assert.is(digestOf(file), digest);
  assert.is(again.before, join(folder, `${kept}-2`));
});

restores('by the command: the hash on stdout, what was kept on stderr', async () => {
  const { folder, file, copy, digest } = await withBackup();
  const { code, stdout, stderr } = await gapstone(['restore', 'b.db', '--db', 'g.db'], { cwd: folder });
  assert.is(code, 0, stderr);
  assert.is(stdout, `${sha256(copy)}  b.db\n`);
  const before = /^the replaced database is in (g\.db\.before-restore-\d{8}T\d{6}Z)$/m.exec(stderr)?.[1];
  assert.is(digestOf(join(folder, before!)), digest);
  assert.match(stderr, /all sessions were ended/);
  assert.is(digestOf(file), sampleDigest);
});

restores(
  'a log that was not closed goes with the database it belongs to, never into the new one',
  async () => {
    const { folder, file, copy } = await withBackup();
    const other = scratchFolder();
    const sqlite = new Sqlite(file);
    sqlite.pragma('journal_mode = WAL');
    sqlite.exec("UPDATE catalog SET generation = 4711; UPDATE stigs SET title = 'in the log'");
    for (const suffix of ['', '-wal', '-shm']) copyFileSync(`${file}${suffix}`, join(other, `g.db${suffix}`));
    sqlite.close();
    assert.ok(lstatSync(join(other, 'g.db-wal')).size > 0);
    const { before } = restoreDatabase(copy, join(other, 'g.db'), when);
    assert.equal(filesIn(other), ['g.db', kept]);
    assert.is(digestOf(join(other, 'g.db')), sampleDigest);
    const old = openCatalog(before!);
    assert.is(old.generation(), 4711);
    assert.is(old.sqlite.prepare('SELECT DISTINCT title FROM stigs').pluck().get(), 'in the log');
    old.close();
    assert.ok(existsSync(folder));
  },
);

restores('where the database is missing, empty or no database any more; its log is moved along', async () => {
  const garbage = Buffer.alloc(8192, 0xee);
  for (const [name, bytes] of [
    ['missing', null],
    ['empty', Buffer.alloc(0)],
    ['garbage', garbage],
    ['cut', readFileSync(sample).subarray(0, 5000)],
  ] as const) {
    const { copy } = await withBackup();
    const folder = scratchFolder();
    const file = join(folder, 'g.db');
    if (bytes) writeFileSync(file, bytes);
    writeFileSync(`${file}-wal`, 'a log of something that is gone');
    const { before } = restoreDatabase(copy, file, when);
    assert.is(digestOf(file), sampleDigest, name);
    assert.is(before === null, bytes === null, name);
    if (name === 'garbage') {
      assert.equal(readFileSync(before!), garbage);
      assert.is(readFileSync(`${before}-wal`, 'utf8'), 'a log of something that is gone');
    }
    assert.not(existsSync(`${file}-wal`), name);
  }
});

restores('is refused while a server has the database open, which serves on', async () => {
  const { folder, file, copy } = await withBackup();
  const running = await startServer(folder, ['serve', '--port', '0', '--db', file]);
  const names = readdirSync(folder);
  const { code, stdout, stderr } = await gapstone(['restore', copy, '--db', file]);
  assert.equal([code, stdout], [1, '']);
  assert.match(
    stderr,
    /^gapstone: .*g\.db is in use: first stop the server and any other program that uses it\n$/,
  );
  assert.equal(readdirSync(folder), names);
  assert.is((await fetch(`${running.url}/readyz`)).status, 200);
  running.child.kill('SIGTERM');
  await running.ended;
  assert.is((await gapstone(['restore', copy, '--db', file])).code, 0);
  assert.is(digestOf(file), sampleDigest);
});

restores(
  'a second connection of a process, opened and closed, does not give up the lock of the first',
  async () => {
    const { folder, file, copy, digest } = await withBackup();
    const first = openCatalog(file);
    const held = locksOn(file);
    openCatalog(file).close();
    connect(join(folder, '.', 'g.db')).close();
    await backup(file, join(folder, 'c.db'));
    assert.equal(locksOn(file), held);
    if (process.platform === 'linux') assert.is(held.length, 1);
    const { code, stderr } = await gapstone(['restore', copy, '--db', file]);
    assert.is(code, 1);
    assert.match(stderr, /g\.db is in use/);
    assert.is(catalogDigest(first), digest);
    first.close();
    assert.is((await gapstone(['restore', copy, '--db', file])).code, 0);
  },
);

restores('whoever opened the replaced file before cannot write beside the new one', async () => {
  const { folder, file, copy } = await withBackup();
  // As a process that stands between opening the file and its first use: it holds no lock yet.
  const stale = new Sqlite(file);
  restoreDatabase(copy, file, when);
  assert.throws(
    () => stale.pragma('journal_mode = WAL'),
    (error: { code: string }) => error.code === 'SQLITE_READONLY_DBMOVED',
  );
  stale.close();
  assert.not(existsSync(`${file}-wal`));
  assert.is(digestOf(file), sampleDigest);
  assert.ok(existsSync(folder));
});

restores('a database behind a link is replaced where it lies, and its log is found there', async () => {
  const { folder, file, copy } = await withBackup();
  const links = scratchFolder();
  const link = join(links, 'link.db');
  symlinkSync(file, link);
  const db = openCatalog(link);
  db.sqlite.exec('UPDATE catalog SET generation = generation + 1');
  assert.ok(readHeader(link).hasLog);
  const status = await gapstone(['status', '--json', '--db', link]);
  assert.ok(JSON.parse(status.stdout).database.logBytes > 0);
  db.close();
  assert.match(await refusalOf(() => restoreDatabase(file, link, when)), /is the database itself/);
  const { before } = restoreDatabase(copy, link, when);
  assert.is(dirname(before!), folder);
  assert.is(readlinkSync(link), file);
  assert.is(digestOf(file), sampleDigest);
  assert.equal(filesIn(links), ['link.db']);
});

restores('verifies before it replaces: nothing is changed by a bad backup', async () => {
  const { folder, file, copy } = await withBackup();
  const good = readFileSync(copy);
  const bad = (name: string, bytes: Uint8Array) => put(folder, name, bytes);
  const changed = (name: string, change: (sqlite: Sqlite.Database) => void) => {
    const path = bad(name, good);
    const sqlite = new Sqlite(path);
    sqlite.pragma('foreign_keys = OFF');
    change(sqlite);
    sqlite.close();
    return path;
  };
  const flipped = bad('flipped.db', good);
  damagePage(flipped, 'findings');
  const inUse = bad('in-use.db', good);
  put(folder, 'in-use.db-wal', 'x');
  const hashed = bad('hashed.db', good);
  put(folder, 'hashed.db.sha256', `${'0'.repeat(64)}  hashed.db\n`);
  const noHash = bad('no-hash.db', good);
  put(folder, 'no-hash.db.sha256', 'nothing');
  const foreign = join(folder, 'foreign.db');
  const other = new Sqlite(foreign);
  other.exec('CREATE TABLE notes (text TEXT)');
  other.close();
  const cases: [string, RegExp][] = [
    [join(folder, 'missing.db'), /there is no database at .*missing\.db$/],
    [folder, /is not a file$/],
    [file, /is the database itself$/],
    [bad('text.db', Buffer.from('hello')), /is not a database \(5 bytes\)/],
    [bad('empty.db', Buffer.alloc(0)), /is not a database \(0 bytes\)/],
    [bad('cut.db', good.subarray(0, 20_000)), /is truncated: 20000 bytes of \d+/],
    [flipped, /^\S*\/flipped\.db is damaged \(/],
    [foreign, /is not a Gapstone database$/],
    [
      changed('newer.db', (sqlite) => sqlite.pragma('user_version = 999')),
      /has schema 999, this version of Gapstone supports/,
    ],
    [
      changed('loose.db', (sqlite) => sqlite.exec('DELETE FROM sources')),
      /the backup is damaged: \d+ rows refer to rows that do not exist$/,
    ],
    [
      changed('trigger.db', (sqlite) =>
        sqlite.exec('CREATE TRIGGER stay BEFORE DELETE ON sessions BEGIN SELECT RAISE(IGNORE); END'),
      ),
      /trigger\.db is refused: the trigger stay on sessions does not belong to Gapstone$/,
    ],
    [
      changed('view.db', (sqlite) =>
        sqlite.exec('DROP VIEW known_stigs; CREATE VIEW known_stigs AS SELECT * FROM stigs'),
      ),
      /view\.db is refused: the view known_stigs does not belong to Gapstone$/,
    ],
    [inUse, /is a database in use, not a backup: it has a log beside it/],
    [hashed, /hashed\.db was changed: its SHA-256 does not match .*hashed\.db\.sha256$/],
    [noHash, /does not contain a SHA-256$/],
  ];
  const before = stateOf(folder);
  for (const [path, message] of cases) {
    assert.match(await refusalOf(() => restoreDatabase(path, file, when)), message, path);
    assert.equal(stateOf(folder), before, path);
  }
  assert.match(
    await refusalOf(() => restoreDatabase(copy, file, when, { room: () => 1000 })),
    /there is not enough space beside .*g\.db: it needs \d+ bytes, 1000 are free$/,
  );
  assert.match(
    await refusalOf(() => restoreDatabase(copy, foreign, when)),
    /belongs to another program: nothing was replaced/,
  );
  assert.match(
    await refusalOf(() => restoreDatabase(copy, join(folder, 'no', 'g.db'), when)),
    /the folder of the database does not exist/,
  );
  assert.equal(stateOf(folder), before);
});

restores('an older schema is brought up by the next start', async () => {
  const folder = scratchFolder();
  const old = join(folder, 'old.db');
  const sqlite = new Sqlite(old);
  sqlite.pragma(`application_id = ${0x47415053}`);
  sqlite.exec(readFileSync(listMigrations()[0]!.file, 'utf8'));
  sqlite.pragma('user_version = 1');
  sqlite.close();
  const file = join(folder, 'g.db');
  const { code, stderr } = await gapstone(['restore', old, '--db', file]);
  assert.is(code, 0, stderr);
  assert.match(stderr, new RegExp(`it has schema 1: the next start upgrades it to ${newest}`));
  (await openUpgraded(file)).close();
  openCatalog(file).close();
});

restores('the views that each older schema had are ours', async () => {
  for (const version of listMigrations().keys()) {
    const folder = scratchFolder();
    const old = join(folder, 'old.db');
    const sqlite = new Sqlite(old);
    sqlite.pragma(`application_id = ${0x47415053}`);
    migrate(sqlite, version + 1);
    sqlite.close();
    assert.is(restoreDatabase(old, join(folder, 'g.db'), when).schema, version + 1);
  }
});

restores('killed at any moment, the database is the old one or the new one', async () => {
  let { ms } = await (async () => {
    const { file, copy } = await withBackup();
    return gapstone(['restore', copy, '--db', file]);
  })();
  const { file, copy, digest } = await withBackup();
  let killed = 0;
  for (let round = 0; round < 10; round++) {
    const run = await gapstone(['restore', copy, '--db', file], { killAfter: ms * (0.5 + 0.05 * round) });
    if (run.signal === 'SIGKILL') killed++;
    else ms = run.ms;
    assert.ok(existsSync(file));
    assert.ok([digest, sampleDigest].includes(digestOf(file)));
  }
  assert.ok(killed >= 2, String(killed));
  assert.is((await gapstone(['restore', copy, '--db', file])).code, 0);
});

restores.run();
