import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { packageRoot } from '../../src/base/root.ts';
import { type Database, openCatalog } from '../../src/db/database.ts';
import { dumpCatalog } from '../support/catalog-dump.ts';
import { type ChildResult, gapstone } from '../support/child.ts';
import { rejects, suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

const work = scratchFolder();
const oldFile = join(work, 'old.db');
const test = suite('I: an import that is killed or cannot be written');
/** What is imported over the old catalog. */
const folder = madeUp();
let before: unknown;
let after: unknown;

/** The whole content of the catalog as one comparable value, its generation and the runs included. */
const contentOf = (db: Database) => ({
  ...dumpCatalog(db),
  runs: db.sqlite
    .prepare(
      'SELECT (SELECT generation FROM catalog), (SELECT count(*) FROM import_runs), count(*) FROM import_ledger',
    )
    .raw()
    .get(),
});

function read(file: string) {
  const db = openCatalog(file);
  try {
    assert.is(db.sqlite.pragma('integrity_check', { simple: true }), 'ok');
    assert.equal(db.sqlite.pragma('foreign_key_check'), []);
    return contentOf(db);
  } finally {
    db.close();
  }
}

test.before(async () => {
  const db = openCatalog(oldFile, { create: true });
  await runImport(db, [shipped('stigs'), join(folder, '0.xml')]);
  before = contentOf(db);
  db.sqlite.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  const file = join(work, 'new.db');
  copyFileSync(oldFile, file);
  const run = await gapstone(['import', folder, '--db', file]);
  assert.is(run.code, 0, run.stderr.slice(-500));
  after = read(file);
  assert.not.equal(after, before);
});

/** A named point of an import: a file that is opened, the nth statement that is prepared, or a side of the commit. */
type Point = { file: string } | { statement: number } | { commit: 'before' | 'after' };

/** Makes a command line kill itself at a point, before anything else of it runs. */
function dieAt(point: Point, signal: NodeJS.Signals): string[] {
  const hook = `
    import fs from 'node:fs';
    import { createRequire, syncBuiltinESMExports } from 'node:module';
    const { prototype } = createRequire(${JSON.stringify(join(packageRoot, 'package.json'))})('better-sqlite3');
    const point = ${JSON.stringify(point)};
    const reach = (isHere) => isHere && process.kill(process.pid, '${signal}');
    const { openSync } = fs;
    fs.openSync = (path, ...rest) => {
      reach(point.file !== undefined && String(path).endsWith('/' + point.file));
      return openSync(path, ...rest);
    };
    syncBuiltinESMExports();
    const { exec, prepare } = prototype;
    prototype.exec = function (sql) {
      reach(sql === 'COMMIT' && point.commit === 'before');
      const result = exec.call(this, sql);
      reach(sql === 'COMMIT' && point.commit === 'after');
      return result;
    };
    let statements = 0;
    prototype.prepare = function (sql) {
      reach(++statements === point.statement);
      return prepare.call(this, sql);
    };
    process.on('exit', () => process.stderr.write('statements ' + statements + '\\n'));`;
  return ['--import', `data:text/javascript,${encodeURIComponent(hook)}`];
}

async function importDyingAt(point: Point, signal: NodeJS.Signals) {
  const file = join(work, `${signal} ${JSON.stringify(point).replaceAll(/\W/g, '')}.db`);
  copyFileSync(oldFile, file);
  return { file, ...(await gapstone(['import', folder, '--db', file], { nodeArgs: dieAt(point, signal) })) };
}

test('killed at each point, the catalog is the old one or the new one, and the next import succeeds', async () => {
  const whole = await importDyingAt({ statement: 0 }, 'SIGKILL');
  assert.is(whole.code, 0, whole.stderr.slice(-300));
  const statements = Number(/^statements (\d+)$/m.exec(whole.stderr)![1]);
  assert.ok(statements > 20, `${statements} statements`);
  const names = readdirSync(folder).sort();
  const points: [Point, 'old' | 'new' | 'either'][] = [
    [{ file: names[0]! }, 'old'],
    [{ file: names.at(-1)! }, 'old'],
    ...[0.3, 0.6, 0.8].map((part): [Point, 'either'] => [
      { statement: Math.floor(statements * part) },
      'either',
    ]),
    [{ commit: 'before' }, 'old'],
    [{ commit: 'after' }, 'new'],
  ];
  for (const [point, expected] of points) {
    const when = JSON.stringify(point);
    const { file, signal, stderr } = await importDyingAt(point, 'SIGKILL');
    assert.is(signal, 'SIGKILL', `${when}: ${stderr.slice(-300)}`);
    const content = read(file);
    const isOld = JSON.stringify(content) === JSON.stringify(before);
    assert.equal(content, isOld ? before : after, when);
    if (expected !== 'either') assert.is(isOld, expected === 'old', when);
    const db = openCatalog(file);
    assert.is((await runImport(db, [folder])).summary.rejected, 0, when);
    assert.equal(dumpCatalog(db), withoutRuns(after), when);
    db.close();
  }
});

test('Ctrl-C and SIGTERM say that nothing changed, and so it is', async () => {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const run = await importDyingAt({ file: '1.xml' }, signal);
    assert.is(run.code, code, run.stderr.slice(-300));
    assert.match(run.stderr, new RegExp(`gapstone: stopped by ${signal}: nothing was changed\n`));
    assert.equal(read(run.file), before);
  }
});

test('a database that another process is writing to is left alone', async () => {
  const file = join(work, 'busy.db');
  copyFileSync(oldFile, file);
  const other = openCatalog(file);
  const db = openCatalog(file, { busyTimeout: 50 });
  const text = put(scratchFolder(), 'a.xml', writeXccdf());
  other.sqlite.exec('BEGIN IMMEDIATE');
  await rejects(runImport(db, [text]), /busy: another process is writing/);
  assert.not(db.sqlite.inTransaction);
  other.sqlite.exec('ROLLBACK');
  assert.equal(contentOf(db), before);
  assert.is((await runImport(db, [text])).summary.imported, 1);
  other.close();
  db.close();
});

test('two imports at once both end, and nothing is stored twice', async () => {
  const file = join(work, 'two.db');
  copyFileSync(oldFile, file);
  const runs: ChildResult[] = await Promise.all([
    gapstone(['import', folder, '--db', file]),
    gapstone(['import', folder, '--db', file]),
  ]);
  for (const { code, stderr } of runs) assert.is(code, 0, stderr.slice(-300));
  assert.equal(withoutRuns(read(file)), withoutRuns(after));
});

test('readers see the old catalog until the commit', async () => {
  const file = join(work, 'reader.db');
  copyFileSync(oldFile, file);
  const writer = openCatalog(file);
  const reader = openCatalog(file);
  const held = reader.catalogVersion();
  let seen = 0;
  await runImport(writer, [folder], {
    onProgress: () => {
      seen++;
      assert.is(reader.catalogVersion(), held);
    },
  });
  assert.ok(seen > 1);
  assert.is.not(reader.catalogVersion(), held);
  assert.equal(dumpCatalog(reader), withoutRuns(after));
  writer.close();
  reader.close();
});

test.run();

function withoutRuns(content: unknown) {
  const { runs: _, ...rest } = content as ReturnType<typeof contentOf>;
  return rest;
}

function madeUp(): string {
  const target = scratchFolder();
  for (let index = 0; index < 8; index++) {
    const rules = sampleRules(60, `P${index}`, 1000 * index + 1).map((rule) => ({
      ...rule,
      description: `<VulnDiscussion>${'Long text. '.repeat(200)}</VulnDiscussion>`,
    }));
    put(
      target,
      `${index}.xml`,
      writeXccdf({ id: `Product_${index}`, title: `Product ${index} STIG`, rules }),
    );
  }
  return target;
}
