// Backups by site and time, and what is set aside (rule D44.5).
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import * as assert from 'uvu/assert';
import { removeOlder } from '../../src/commands/backup.ts';
import { removable, setAside } from '../../src/commands/tidy.ts';
import { openDatabase } from '../../src/db/database.ts';
import { auditLines } from '../support/audit.ts';
import { build, sampleCatalog, sampleKey } from '../support/bundles.ts';
import { suite, testIf } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { programs } from '../support/programs.ts';
import { shipped } from '../support/reference.ts';
import { until } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { filesOf, importInto } from '../support/site.ts';
import { makeZip } from '../support/zip.ts';

const keep = suite('Backups that are kept, and what is set aside');

async function site(): Promise<{
  folder: string;
  run: (args: string[], env?: Record<string, string>) => ReturnType<typeof commandHere>;
}> {
  const folder = scratchFolder();
  const files = filesOf(join(folder, 'g.db'));
  await importInto(files.db, [shipped('stigs')]);
  openDatabase(files, { create: true }).close();
  return { folder, run: (args, env = {}) => commandHere([...args, '--db', 'g.db'], { cwd: folder, env }) };
}

testIf(programs('unzip'), keep)(
  'a backup is a compressed zip that others read; a stored one restores, too',
  async () => {
    const { folder, run } = await site();
    assert.is((await run(['backup', 'b.zip'])).code, 0);
    const zip = join(folder, 'b.zip');
    execFileSync('unzip', ['-tq', zip]);
    const sizes = statSync(join(folder, 'g.db')).size;
    assert.ok(statSync(zip).size < 0.6 * sizes, `${statSync(zip).size} of ${sizes} bytes`);
    assert.is((await run(['restore', 'b.zip'])).code, 0);
    execFileSync('unzip', ['-q', zip, '-d', join(folder, 'out')]);
    const members = ['catalog.db', 'users.db'].map((name) => ({
      name,
      data: readFileSync(join(folder, 'out', name)),
      stored: true,
    }));
    put(folder, 'stored.zip', makeZip(members));
    assert.is((await run(['restore', 'stored.zip'])).code, 0);
  },
);

keep('--into names backups by site and time; --keep leaves so many of its own', async () => {
  const { folder, run } = await site();
  mkdirSync(join(folder, 'to'));
  const made: string[] = [];
  for (let round = 0; round < 3; round++) {
    const { code, stdout, stderr } = await run(['backup', '--into', 'to', '--keep', '2', '--json'], {
      GAPSTONE_SITE: 'east.1',
    });
    assert.is(code, 0, stderr);
    made.push(JSON.parse(stdout).file);
    assert.match(made.at(-1)!, /^to\/gapstone-east\.1-\d{8}T\d{6}Z\.zip$/);
  }
  assert.equal(
    readdirSync(join(folder, 'to')).sort(),
    made
      .slice(1)
      .flatMap((file) => [basename(file), `${basename(file)}.sha256`])
      .sort(),
  );
  // Without a name, an id that stays.
  const ids = [];
  for (let round = 0; round < 2; round++) {
    const { stdout } = await run(['backup', '--into', 'to', '--users-only', '--json']);
    ids.push(/^to\/gapstone-([0-9a-f]{8})-\d{8}T\d{6}Z\.db$/.exec(JSON.parse(stdout).file)![1]);
  }
  assert.is(ids[0], ids[1]);
});

keep('a file goes only when its name, its hash file and its site agree, and never the one just made', () => {
  const folder = scratchFolder();
  const finished = (name: string, names = name) => {
    put(folder, name, 'x');
    put(folder, `${name}.sha256`, `${'a'.repeat(64)}  ${names}\n`);
    return name;
  };
  const own = ['20260101', '20260102', '20260103', '20260104'].map((date) =>
    finished(`gapstone-a-${date}T000000Z.zip`),
  );
  const stays = [
    finished('gapstone-b-20200101T000000Z.zip'),
    finished('gapstone-a-b-20200101T000000Z.zip'),
    finished('gapstone-a-20200101T000000Z.db'),
    finished('gapstone-a-20200102T000000Z.zip', 'gapstone-a-20200103T000000Z.zip'),
    finished('xgapstone-a-20200101T000000Z.zip'),
    finished('gapstone-a-20200101T000000Z.zip.zip'),
    finished('gapstone-a-20200101.zip'),
  ];
  put(folder, 'gapstone-a-20200104T000000Z.zip', 'no hash file');
  for (const name of ['gapstone-a-20200106T000000Z.zip', 'gapstone-a-20200107T000000Z.zip'])
    put(folder, `${name}.sha256`, `${'a'.repeat(64)}  ${name}\n`);
  symlinkSync('notes.txt', join(folder, 'gapstone-a-20200106T000000Z.zip'));
  symlinkSync(own[3]!, join(folder, 'gapstone-a-20200107T000000Z.zip'));
  mkdirSync(join(folder, 'gapstone-a-20200105T000000Z.zip.part-abcdef'));
  // The clock was set back: what was just made has the oldest name.
  const made = finished('gapstone-a-20190101T000000Z.zip');
  const remove = (keepN: number, now: Date) =>
    removeOlder(folder, { site: 'a', keep: keepN, made: join(folder, made), usersOnly: false, now });
  assert.equal(remove(3, new Date()), own.slice(0, 2));
  assert.equal(remove(1, new Date(Date.now() + 2 * 86_400_000)), [
    ...own.slice(2),
    'gapstone-a-20200105T000000Z.zip.part-abcdef',
  ]);
  assert.equal(remove(1, new Date()), []);
  const left = readdirSync(folder);
  const links = ['gapstone-a-20200106T000000Z.zip', 'gapstone-a-20200107T000000Z.zip'];
  for (const name of [made, ...stays, ...links, 'gapstone-a-20200104T000000Z.zip'])
    assert.ok(left.includes(name), name);
  // The clock was ahead for two nights: what claims to be later than the new one is older than it.
  for (const name of ['20270101', '20270102', '20260105', '20260106'])
    finished(`gapstone-a-${name}T000000Z.zip`);
  const options = { site: 'a', made: join(folder, 'gapstone-a-20260106T000000Z.zip'), usersOnly: false };
  assert.equal(removeOlder(folder, { ...options, keep: 2, now: new Date() }), [
    'gapstone-a-20270101T000000Z.zip',
    'gapstone-a-20270102T000000Z.zip',
    made,
  ]);
});

keep('tidy lists what is set aside and removes what is older, but not what a rollback needs', async () => {
  const { folder, run } = await site();
  const key = sampleKey('depot');
  const bundle = (await build(await sampleCatalog([[shipped('stigs')]]), key)).file;
  assert.match((await run(['tidy'])).stderr, /^nothing is set aside\n$/);
  assert.is((await run(['content', 'trust', 'add', `${key.file}.pub`, '--name', 'depot'])).code, 0);
  assert.is((await run(['backup', 'b.zip'])).code, 0);
  assert.is((await run(['restore', 'b.zip'])).code, 0);
  linkSync(join(folder, 'g.db'), join(folder, 'g.db.before-schema-9'));
  for (const name of ['g.db.before-schema-9x', 'g.db.before', 'other.db.before-1', 'g.db.bak'])
    writeFileSync(join(folder, name), '');
  // Folders with such names are of somebody else, and do not stop the others.
  for (const name of ['g.db.before-schema-7', 'g-users.db.before-restore-20260101T000000Z'])
    mkdirSync(join(folder, name));
  const applied = await run(['content', 'apply', bundle, '--drop-local']);
  assert.is(applied.code, 0, applied.stderr);
  const listed = (await run(['tidy', '--json'])).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(
    listed.map(({ file, why, removed }) => [file.replace(/\d{8}T\d{6}Z/, 'TIME'), why, removed]).sort(),
    [
      ['g-users.db.before-restore-TIME', 'replaced by a restore', false],
      ['g.db.before-1', 'from before a bundle', false],
      ['g.db.before-restore-TIME', 'replaced by a restore', false],
      ['g.db.before-schema-9', 'from before an upgrade', false],
    ],
  );
  const files = { db: join(folder, 'g.db'), usersDb: join(folder, 'g-users.db') };
  const all = setAside(files);
  const names = (given: typeof all) => given.map(({ file }) => basename(file));
  const kept = (given: typeof files) => names(setAside(given).filter((each) => each.isNeeded));
  // However the path is spelled; and where users' data cannot say what is needed.
  assert.equal(kept({ ...files, db: `${folder}/./g.db` }), ['g.db.before-1']);
  assert.equal(kept({ ...files, usersDb: join(folder, 'slip.db') }), ['g.db.before-1']);
  const later = (days: number) => new Date(Date.now() + days * 86_400_000);
  assert.equal(removable(all, 30 * 86_400, later(29)), []);
  assert.equal(
    removable(all, 30 * 86_400, later(31)),
    all.filter((each) => !each.isNeeded),
  );
  assert.equal((await run(['tidy', '--older-than', '30d'])).code, 0);
  assert.is(setAside(files).length, 4);
  mkdirSync(join(folder, 'g.db.before-schema-3-wal'));
  writeFileSync(join(folder, 'g.db.before-schema-3'), '');
  await until('all are older than a second', () => removable(setAside(files), 1, new Date()).length === 4);
  const { code, stdout, stderr } = await run(['tidy', '--older-than', '1s']);
  assert.is(code, 1, 'one of them cannot be removed');
  assert.match(stderr, /^\S*g\.db\.before-schema-3 cannot be removed: .+$/m);
  rmSync(join(folder, 'g.db.before-schema-3-wal'), { recursive: true });
  assert.match(stdout, /g\.db\.before-1: from before a bundle; kept: "content rollback" goes back to it$/m);
  assert.equal(names(setAside(files)), ['g.db.before-1']);
  const lines = auditLines(join(folder, 'gapstone-audit.jsonl'));
  assert.equal(lines.at(-1)!.action, 'database.tidy');
  for (const name of ['g.db.before-schema-9x', 'g.db.before', 'other.db.before-1', 'g.db.bak'])
    assert.ok(existsSync(join(folder, name)), name);
  assert.is((await run(['content', 'rollback'])).code, 0);
  // What the rollback took back is needed by nothing.
  assert.equal(
    setAside(files).map(({ file, isNeeded }) => [basename(file), isNeeded]),
    [['g.db.undone-1', false]],
  );
});

keep.run();
