import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { CommandError } from '../../src/base/errors.ts';
import { type Database, openCatalog } from '../../src/db/database.ts';
import { dumpCatalog, tableDigests } from '../support/catalog-dump.ts';
import { type ChildResult, gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { random } from '../support/hostile/seed.ts';
import { hasReferenceData, reference, shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

const work = scratchFolder();
const oldFile = join(work, 'old.db');
const test = suite('I: an import that is killed or cannot be written');
/** Releases that the old catalog has. */
const older = [
  'U_RHEL_9_STIG_V2R3_Manual-xccdf.xml',
  'U_Google_Chrome_STIG_V1R12_Manual-xccdf.xml',
  'U_Kubernetes_STIG_V1R1_Manual-xccdf.xml',
];
/** What is imported over the old catalog: a third of the real loose files, or a made-up folder where they are absent. */
const folder = hasReferenceData ? realFiles() : madeUp();
let before: unknown;
let after: unknown;
let fullRun = 0;

/** The whole content of the catalog as one comparable value, its generation and the runs included. */
function contentOf(db: Database) {
  const count = (table: string) => db.sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  return {
    ...dumpCatalog(db),
    generation: db.sqlite.prepare('SELECT generation FROM catalog').pluck().get(),
    runs: count('import_runs'),
    lines: count('import_ledger'),
  };
}

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
  const former = hasReferenceData ? older.map((name) => reference('xccdf', name)) : [];
  await runImport(db, [shipped('stigs'), ...former]);
  before = contentOf(db);
  db.sqlite.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  const file = join(work, 'new.db');
  copyFileSync(oldFile, file);
  const run = await gapstone(['import', folder, '--db', file]);
  assert.is(run.code, 0, run.stderr.slice(-500));
  fullRun = run.ms;
  after = read(file);
  assert.not.equal(after, before);
});

test('killed at random moments, the catalog is the old one or the new one, and the next import succeeds', async () => {
  let killed = 0;
  let old = 0;
  let first = 0;
  // More than these only where the machine got so much faster meanwhile that runs end before their moment.
  for (; first < 8 || ((killed < 4 || old < 1) && first < 40); first += 2) {
    const pair = [first, first + 1].map((index) => {
      const file = join(work, `${index}.db`);
      copyFileSync(oldFile, file);
      // By turns over the whole run, and in its last part, where everything is written and committed.
      const part = index % 4 < 2 ? 0.15 + 0.85 * random() : 0.6 + 0.4 * random();
      const moment = Math.round(fullRun * part);
      return { moment, file, run: gapstone(['import', folder, '--db', file], { killAfter: moment }) };
    });
    await Promise.all(pair.map(({ run }) => run));
    for (const { moment, file, run } of pair) {
      const { signal, code, stderr, ms } = await run;
      const when = `killed after ${moment} of about ${Math.round(fullRun)} ms`;
      assert.ok(signal === 'SIGKILL' || code === 0, `${when}: ${code} ${stderr.slice(-300)}`);
      if (signal === 'SIGKILL') killed++;
      else fullRun = ms;
      const content = read(file);
      const isOld = JSON.stringify(content) === JSON.stringify(before);
      if (isOld) old++;
      else assert.equal(content, after, `${when}: the catalog is neither the old one nor the new one`);
      if (code === 0) assert.not(isOld, 'a run that ended has stored');

      const db = openCatalog(file);
      const next = await runImport(db, [folder]);
      assert.is(next.summary.rejected, 0, when);
      assert.equal(dumpCatalog(db), withoutRuns(after), when);
      db.close();
    }
  }
  assert.ok(killed >= 4, `only ${killed} of ${first} runs were still running when they were killed`);
  assert.ok(old >= 1, 'no kill came before the commit');
});

test('Ctrl-C and SIGTERM say that nothing changed, and so it is', async () => {
  let stopped = 0;
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)
    for (const part of [0.5, 0.7, 0.9]) {
      const file = join(work, `${signal}-${part}.db`);
      copyFileSync(oldFile, file);
      const run = await gapstone(['import', folder, '--db', file], {
        onStart: (child) => setTimeout(() => child.kill(signal), fullRun * part),
      });
      const content = read(file);
      // One that was committed before the signal came is complete.
      if (run.code === 0 || run.stderr.endsWith('\ndone\n')) assert.equal(content, after);
      else {
        stopped++;
        assert.is(run.code, code, run.stderr.slice(-300));
        assert.match(run.stderr, new RegExp(`gapstone: stopped by ${signal}: nothing was changed\n$`));
        assert.equal(content, before);
      }
    }
  assert.ok(stopped > 0, 'no signal came before the commit');
});

test('a full disk changes nothing, and says so in one line', async () => {
  const file = join(work, 'full.db');
  copyFileSync(oldFile, file);
  const db = openCatalog(file);
  const digests = tableDigests(db);
  const pages = db.sqlite.pragma('page_count', { simple: true }) as number;
  for (const more of [1, 5, 50, 300]) {
    db.sqlite.pragma(`max_page_count = ${pages + more}`);
    const error = await failure(runImport(db, [folder]));
    assert.instance(error, CommandError);
    assert.match((error as Error).message, /^the disk is full: nothing was changed$/);
    assert.not(db.sqlite.inTransaction);
    assert.equal(tableDigests(db), digests);
  }
  assert.equal(contentOf(db), before);
  db.sqlite.pragma('max_page_count = 1073741823');
  assert.is((await runImport(db, [folder])).summary.rejected, 0);
  assert.equal(dumpCatalog(db), withoutRuns(after));
  db.close();
});

test('a database that another process is writing to is left alone', async () => {
  const file = join(work, 'busy.db');
  copyFileSync(oldFile, file);
  const other = openCatalog(file);
  const db = openCatalog(file, { busyTimeout: 50 });
  const text = put(scratchFolder(), 'a.xml', writeXccdf());
  other.sqlite.exec('BEGIN IMMEDIATE');
  const error = await failure(runImport(db, [text]));
  assert.instance(error, CommandError);
  assert.match((error as Error).message, /busy: another process is writing/);
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
  const held = reader.generation();
  let seen = 0;
  await runImport(writer, [folder], {
    onProgress: () => {
      seen++;
      assert.is(reader.generation(), held);
    },
  });
  assert.ok(seen > 1);
  assert.is.not(reader.generation(), held);
  assert.equal(dumpCatalog(reader), withoutRuns(after));
  writer.close();
  reader.close();
});

test.run();

function withoutRuns(content: unknown) {
  const { generation: _, runs: __, lines: ___, ...rest } = content as ReturnType<typeof contentOf>;
  return rest;
}

async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return null;
}

function realFiles(): string {
  const target = scratchFolder();
  for (const [index, name] of readdirSync(reference('xccdf')).sort().entries())
    if (index % 3 === 0 || older.includes(name)) copyFileSync(reference('xccdf', name), join(target, name));
  return target;
}

function madeUp(): string {
  const target = scratchFolder();
  for (let index = 0; index < 40; index++) {
    const rules = sampleRules(150, `P${index}`, 1000 * index + 1).map((rule) => ({
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
