import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { CommandError } from '../../src/base/errors.ts';
import { sha256 } from '../../src/base/ids.ts';
import { importCommand } from '../../src/commands/import.ts';
import { createProgress } from '../../src/commands/progress.ts';
import { openCatalog } from '../../src/db/database.ts';
import { dumpCatalog, tableDigests } from '../support/catalog-dump.ts';
import { gapstone, withoutProgress } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { jsonLines, told } from '../support/told.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';
import { makeZip } from '../support/zip.ts';

const folder = scratchFolder();
const good = put(folder, 'good.xml', writeXccdf({ id: 'Good', title: 'Good STIG' }));
const other = put(
  folder,
  'other.xml',
  writeXccdf({ id: 'Other', title: 'Other STIG', rules: sampleRules(2, 'O', 7) }),
);
const bad = put(folder, 'bad.xml', writeXccdf().slice(0, 400));
const text = put(folder, 'text.txt', 'only text');
const empty = put(folder, 'empty', '');
const scap = put(
  folder,
  'scap.xml',
  '<data-stream-collection xmlns="http://scap.nist.gov/schema/scap/source/1.2"/>',
);
const skips = scratchFolder();
put(skips, 'a.txt', 'a');
put(skips, 'b.xsl', '<stylesheet/>');
const zip = put(
  folder,
  'a.zip',
  makeZip([
    { name: 'x.xml', data: readFileSync(good) },
    { name: 'y.xml', data: readFileSync(other) },
    { name: 'z.txt', data: 'z' },
  ]),
);
const badZip = put(folder, 'bad.zip', makeZip([{ name: 'x.xml', data: readFileSync(bad) }]));

function newDb(): string {
  return join(scratchFolder(), 'x.db');
}

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the command in this process, as `src/cli.ts` does, and keeps what it writes. */
async function importHere(...args: string[]): Promise<Ended> {
  const out = { stdout: '', stderr: '' };
  const writes = { stdout: process.stdout.write, stderr: process.stderr.write };
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = ((part: string) => {
      out[name] += part;
      return true;
    }) as typeof process.stdout.write;
  }
  try {
    return { code: await importCommand.run(args), ...out };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { code: error.exitCode, ...out, stderr: `${out.stderr}gapstone: ${error.message}\n` };
  } finally {
    for (const name of ['stdout', 'stderr'] as const) process[name].write = writes[name];
  }
}

async function exits(code: number, args: string[], message: RegExp): Promise<Ended> {
  return check(await importHere(...args), code, message);
}

function check<T extends Ended>(ended: T, code: number, message: RegExp): T {
  assert.is(ended.code, code, ended.stderr);
  assert.match(ended.stderr, message);
  assert.not.match(ended.stderr, /\n\s+at |node:internal/, 'no stack');
  return ended;
}

const codes = suite('gapstone import: exit codes');

codes('as a process: 0, 1, 2 and 3', async () => {
  const [done, failed, missing, wrong, partly] = await Promise.all([
    gapstone(['import', good, '--db', 'x.db']),
    gapstone(['import', bad, '--db', 'x.db']),
    gapstone(['import', good, join(folder, 'missing.xml'), '--db', 'x.db']),
    gapstone(['import', good, '--no-such-option']),
    gapstone(['import', good, bad, '--db', 'x.db']),
  ]);
  check(done, 0, /^imported .*good\.xml \[xccdf\] -> good \(3 rules/m);
  assert.is(done.stdout, '', 'data goes to stdout, messages do not');
  check(failed, 1, /^rejected .*bad\.xml \[xccdf\]: .*line \d+, column \d+/m);
  check(missing, 1, /^gapstone: \S*missing\.xml does not exist\n$/);
  check(wrong, 2, /^gapstone: .*no-such-option.*\n$/);
  check(partly, 3, /1 imported.*1 rejected/);
});

const missing = join(folder, 'missing.xml');
const nothing = /\nfailed: nothing could be used\n$/;

// In each group one command after the other on one new database.
const groups: [code: number, paths: string[], message: RegExp][][] = [
  [
    [0, [good], /^1 source in [\d.]+ s: 1 imported, 0 unchanged, 0 superseded, 0 skipped, 0 rejected/m],
    [0, [good], /^unchanged .*-> good$/m],
    [0, [good, skips], /^skipped .*a\.txt \[other\]: [\s\S]*\ndone\n$/m],
    [0, [good, text], /^skipped .*text\.txt[\s\S]*\ndone\n$/m],
    [0, [zip], /^imported .*a\.zip!\/y\.xml/m],
    [3, [good, bad], /2 unchanged|1 unchanged.*1 rejected/],
  ],
  [
    [1, [skips], nothing],
    [1, [skips, bad], nothing],
    [1, [scap], /^rejected .*scap\.xml \[scap\]: the data stream has no XCCDF benchmark/m],
    [1, [scratchFolder()], nothing],
    [1, [bad], /^rejected .*bad\.xml \[xccdf\]: .*line \d+, column \d+/m],
    [1, [badZip], /^rejected .*bad\.zip!\/x\.xml/m],
    [1, [text], /^skipped .*text\.txt \[other\]: /m],
    [1, [empty], /^skipped .*empty.*: the file is empty/m],
    [1, [join(skips, 'b.xsl')], /root <stylesheet>/],
    [1, [good, missing], /^gapstone: \S*missing\.xml does not exist\n$/],
  ],
  [[3, [good, bad], /1 imported.*1 rejected[\s\S]*\ndone in part: 1 source could not be used\n$/]],
  [[3, [good, badZip], /1 imported, 1 unchanged.*1 rejected/]],
];

codes('0 all good, 1 nothing could be used, 3 some', async () => {
  for (const group of groups) {
    const db = newDb();
    for (const [code, paths, message] of group) await exits(code, [...paths, '--db', db], message);
  }
  const fresh = newDb();
  await exits(1, [good, missing, '--db', fresh], /does not exist/);
  assert.not(existsSync(fresh), 'nothing is begun');
});

codes('an archive of which nothing was new is unchanged, as deep as it lies', async () => {
  const db = newDb();
  const inner = makeZip([{ name: 'good.xml', data: readFileSync(good) }]);
  const other = makeZip([{ name: 'note.txt', data: 'nothing of ours' }]);
  const library = put(
    scratchFolder(),
    'library.zip',
    makeZip([
      { name: 'inner.zip', data: inner },
      { name: 'other.zip', data: other },
    ]),
  );
  const outcomes = async () => {
    const { stdout } = await gapstone(['import', '--json', library, '--db', db]);
    const told = jsonLines(stdout);
    const { summary } = told.pop();
    const { imported, unchanged, skipped } = summary;
    const byName = told.map(({ source, outcome }) => `${source.slice(library.length)} ${outcome}`);
    return { byName, counts: [imported, unchanged, skipped] };
  };
  assert.equal(await outcomes(), {
    byName: [
      ' imported',
      '!/inner.zip imported',
      '!/inner.zip!/good.xml imported',
      '!/other.zip unchanged',
      '!/other.zip!/note.txt skipped',
    ],
    counts: [3, 1, 1],
  });
  const { byName, counts } = await outcomes();
  assert.is(byName[3], '!/other.zip unchanged');
  assert.equal([byName[0], byName[1], counts], [' unchanged', '!/inner.zip unchanged', [0, 4, 1]]);
  const members = [good, bad].map((file) => ({ name: basename(file), data: readFileSync(file) }));
  const mixed = put(scratchFolder(), 'mixed.zip', makeZip(members));
  const { stdout } = await gapstone(['import', '--json', mixed, '--db', db]);
  const told = stdout.trim().split('\n').slice(0, -1);
  assert.equal(
    told.map((line) => JSON.parse(line).outcome),
    ['unchanged', 'rejected', 'unchanged'],
    'also with something bad beside',
  );
});

codes('--strict: 1 and nothing stored, or 0', async () => {
  const db = newDb();
  const refused = await exits(
    1,
    [good, bad, zip, zip, '--strict', '--json', '--db', db],
    /nothing was changed/,
  );
  const told = jsonLines(refused.stdout);
  const { summary } = told.pop();
  assert.equal([summary.imported, summary.unchanged, summary.rejected], [0, 0, 1]);
  assert.is(summary.skipped, told.length - 1);
  for (const { source, outcome, reason, target, counts } of told)
    if (outcome !== 'rejected' && !source.endsWith('z.txt'))
      assert.equal(
        [outcome, reason, target, counts],
        ['skipped', 'nothing was stored: --strict was given, and 1 source cannot be imported', null, {}],
      );
  assert.equal(catalogOf(db).stigs, []);
  await exits(0, [good, skips, '--strict', '--db', db], /1 imported/);
  assert.is(catalogOf(db).stigs.length, 1);
  // What was stored before is still there; of two that are not good, one is a file of no known kind.
  const again = await exits(1, [good, bad, text, other, '--strict', '--db', db], /2 sources cannot/);
  assert.match(again.stderr, /^unchanged .*good\.xml/m);
  assert.match(again.stderr, /1 unchanged, 0 superseded, 2 skipped, 1 rejected/);
});

codes('2 for wrong usage, before anything is made', async () => {
  const db = newDb();
  for (const args of [
    [],
    ['--json', '--db', db],
    [good, '--no-such-option', '--db', db],
    [good, '--db'],
    [good, '--strict=yes', '--db', db],
    [good, '--db', db, '--slugs'],
  ]) {
    const { stdout } = await exits(2, args, /^gapstone: .*\n$/);
    assert.is(stdout, '');
  }
  assert.not(existsSync(db));
});

codes('wrong commands and --help', async () => {
  const [inport, nothing, help] = await Promise.all([
    gapstone(['inport', good]),
    gapstone([]),
    gapstone(['import', '--help']),
  ]);
  check(inport, 2, /no command "inport"/);
  assert.is(nothing.code, 2);
  assert.is(help.code, 0);
  for (const word of ['PATH', '--strict', '--dry-run', '--slugs', '--json', '--db'])
    assert.ok(help.stdout.includes(word), word);
});

codes('1 and one line when the database cannot be used', async () => {
  const place = scratchFolder();
  mkdirSync(join(place, 'folder'));
  const cases: [string, RegExp][] = [
    [join(place, 'missing', 'x.db'), /folder of the database does not exist/],
    [join(place, 'folder'), /not a file/],
    [put(place, 'text.db', 'this is no database at all'.repeat(10)), /is not a database/],
    [put(place, 'empty.db', ''), /is not a database \(0 bytes\)/],
  ];
  const whole = newDb();
  await importHere(good, '--db', whole);
  const db = openCatalog(whole);
  db.sqlite.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  const bytes = readFileSync(whole);
  cases.push([put(place, 'cut.db', bytes.subarray(0, bytes.length / 2)), /truncated/]);
  const foreign = Buffer.from(bytes);
  foreign.writeUInt32BE(1, 68);
  cases.push([put(place, 'foreign.db', foreign), /not a Gapstone database/]);
  for (const [file, message] of cases) {
    const { stderr } = await exits(1, [good, '--db', file], message);
    assert.is(stderr.trim().split('\n').length, 1, stderr);
  }
});

codes.run();

const ledger = suite('gapstone import --json');
const lineKeys = ['source', 'kind', 'sha256', 'outcome', 'reason', 'warnings', 'target', 'counts', 'ms'];
const summaryKeys = [
  'sources',
  'imported',
  'unchanged',
  'superseded',
  'skipped',
  'rejected',
  'warnings',
  'ms',
  'phases',
];

ledger('one object for each source in the order of its keys, the summary last', async () => {
  const db = newDb();
  const older = put(
    scratchFolder(),
    'printing.xml',
    writeXccdf({ id: 'Good', title: 'Good STIG', date: '01 Jan 2020' }),
  );
  const { code, stdout, stderr } = await gapstone([
    'import',
    '--json',
    ...[good, good, bad, text, zip, older],
    '--db',
    db,
  ]);
  assert.is(code, 3, stderr);
  assert.not.match(stderr, /imported|rejected/, 'the ledger goes to stdout');
  assert.ok(stdout.endsWith('\n'));
  const objects = jsonLines(stdout);
  const { summary, ...rest } = objects.pop();
  assert.equal(rest, {});
  assert.equal(Object.keys(summary), summaryKeys);
  for (const line of objects) {
    assert.equal(Object.keys(line), lineKeys, line.source);
    assert.type(line.ms, 'number');
    assert.ok(line.ms >= 0);
    assert.ok(Array.isArray(line.warnings));
  }
  assert.equal(
    objects.map(({ source, kind, outcome, target }) => [source, kind, outcome, target]),
    [
      [good, 'xccdf', 'imported', 'good'],
      [good, 'xccdf', 'unchanged', 'good'],
      [bad, 'xccdf', 'rejected', null],
      [text, 'other', 'skipped', null],
      [zip, 'archive', 'imported', null],
      [`${zip}!/x.xml`, 'xccdf', 'unchanged', 'good'],
      [`${zip}!/y.xml`, 'xccdf', 'imported', 'other'],
      [`${zip}!/z.txt`, 'other', 'skipped', null],
      [older, 'xccdf', 'superseded', 'good'],
    ],
  );
  assert.equal(objects[0].counts, { rules: 3, high: 0, medium: 3, low: 0, profiles: 0 });
  assert.equal(objects[4].counts, { members: 3 });
  const hashes = objects.slice(0, 5).map((line) => line.sha256);
  assert.equal(
    hashes,
    [good, good, bad, text, zip].map((file) => sha256(readFileSync(file))),
  );
  for (const index of [2, 3, 8]) assert.ok(objects[index].reason.length > 10);
  const { ms, phases, ...totals } = summary;
  assert.equal(totals, {
    sources: 9,
    imported: 3,
    unchanged: 2,
    superseded: 1,
    skipped: 2,
    rejected: 1,
    warnings: 0,
  });
  assert.type(ms, 'number');
  for (const [phase, time] of Object.entries(phases)) assert.ok((time as number) >= 0, phase);
  const sum = Object.values(phases as Record<string, number>).reduce((total, time) => total + time, 0);
  assert.ok(sum <= ms + 1 && Object.keys(phases).length >= 3, `${sum} of ${ms} ms`);
});

ledger('the ledger of a stored run is in the database', async () => {
  const db = newDb();
  const { stdout } = await importHere('--json', good, bad, zip, '--db', db);
  const lines = jsonLines(stdout);
  const { sqlite, close } = openCatalog(db);
  const stored = sqlite.prepare('SELECT * FROM import_ledger ORDER BY run_id, ordinal').all() as Record<
    string,
    unknown
  >[];
  assert.equal(
    stored.map(({ run_id: _, ordinal: __, warnings, counts, ...line }) => ({
      ...line,
      warnings: JSON.parse(String(warnings)),
      counts: JSON.parse(String(counts)),
    })),
    lines.slice(0, -1),
  );
  const runs = sqlite.prepare('SELECT * FROM import_runs').all() as Record<string, string>[];
  assert.is(runs.length, 1);
  const { ms: _ms, phases: _phases, ...summary } = JSON.parse(runs[0]!.summary!);
  const { ms: __ms, phases: __phases, ...printed } = lines.at(-1).summary;
  assert.equal(summary, printed);
  close();
});

ledger.run();

const dry = suite('gapstone import --dry-run');

dry('makes no database where there is none', async () => {
  const cwd = scratchFolder();
  const { code, stdout, stderr } = await gapstone(['import', good, bad, '--dry-run', '--json'], { cwd });
  assert.is(code, 3);
  assert.match(stderr, /dry run: nothing was changed/);
  assert.equal(readdirSync(cwd), []);
  const outcomes = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).outcome);
  assert.equal(outcomes, ['imported', 'rejected', undefined]);
});

dry('says what would change, and changes nothing', async () => {
  const place = scratchFolder();
  const file = join(place, 'x.db');
  await importHere(good, '--db', file);
  const db = openCatalog(file);
  db.sqlite.pragma('wal_checkpoint(TRUNCATE)');
  const digests = tableDigests(db);
  db.close();
  // The counters of changes in the header of the file go on: the journal is another one while it is open.
  const bytes = () => {
    const read = readFileSync(file);
    read.fill(0, 24, 28);
    read.fill(0, 92, 96);
    return sha256(read);
  };
  const before = bytes();
  const { code, stderr } = await importHere(good, other, '--dry-run', '--db', file);
  assert.is(code, 0);
  assert.match(stderr, /^unchanged .*good\.xml/m);
  assert.match(stderr, /^imported .*other\.xml \[xccdf\] -> other/m);
  assert.match(stderr, /dry run: nothing was changed/);
  assert.is(bytes(), before, 'the file is the same to the byte');
  const again = openCatalog(file);
  assert.equal(tableDigests(again), digests);
  assert.is(again.sqlite.prepare('SELECT count(*) FROM import_runs').pluck().get(), 1);
  again.close();
  const real = await importHere(other, '--db', file);
  assert.match(real.stderr, /^imported .*other\.xml/m);
});

dry.run();

const options = suite('gapstone import: --slugs, --db, GAPSTONE_DB');

options('--slugs gives slugs to benchmarks', async () => {
  const db = newDb();
  const slugs = put(folder, 'slugs.csv', '\ufeffbenchmarkId,slug\r\nGood, my_good \r\n\r\n"Other","o-1"\r\n');
  const { code, stderr } = await importHere(good, other, '--slugs', slugs, '--db', db);
  assert.is(code, 0, stderr);
  assert.equal(told(catalogOf(db).stigs, 'slug'), ['my_good', 'o-1']);
});

options('a row is kept for later runs, and - takes it back', async () => {
  const db = newDb();
  const slugs = (name: string, row: string) => put(folder, name, `benchmarkId,slug\n${row}\n`);
  const held = () => catalogOf(db).stigs.map((stig) => stig.slug);
  assert.is((await importHere(other, '--slugs', slugs('a.csv', 'Good,my_good'), '--db', db)).code, 0);
  await importHere(good, '--db', db);
  assert.ok(held().includes('my_good'), 'the benchmark came after the row');
  assert.is((await importHere(good, '--slugs', slugs('b.csv', 'Good,-'), '--db', db)).code, 0);
  assert.not.ok(held().includes('my_good'));
});

options('a --slugs file that is wrong is refused with its row, before anything is done', async () => {
  const cases: [rows: string, message: RegExp][] = [
    ['id,slug\nGood,x\n', /header must be benchmarkId,slug/],
    ['', /header/],
    ['Good,Not A Slug', /row 2.*"Not A Slug" is not a slug: use a-z, 0-9 and _/],
    ['Good,', /row 2.*not a slug/],
    ['Good,stats', /row 2: "stats" is reserved for a path of the API: choose another slug$/m],
    ['Good,a\n,b', /row 3.*benchmarkId is empty/],
    ['Good,a\nGood,b', /row 3.*twice/],
    ['Good,a,b', /it has 3 columns, not 2/],
    ['"Good,a', /cannot be read/],
    [`Good,${'x'.repeat(201)}`, /not a slug/],
  ];
  const db = newDb();
  for (const [rows, message] of cases) {
    const csv = /header/.test(String(message)) ? rows : `benchmarkId,slug\n${rows}\n`;
    const { stderr } = await exits(1, [good, '--slugs', put(folder, 's.csv', csv), '--db', db], message);
    assert.is(stderr.trim().split('\n').length, 1);
  }
  await exits(1, [good, '--slugs', join(folder, 'none.csv'), '--db', db], /cannot be read/);
  assert.not(existsSync(db));
});

options('the database is that of --db, else of GAPSTONE_DB, else gapstone.db', async () => {
  const cwd = scratchFolder();
  const place = scratchFolder();
  await Promise.all([
    gapstone(['import', good], { cwd }),
    gapstone(['import', good], { cwd, env: { GAPSTONE_DB: join(place, 'env.db') } }),
    gapstone(['import', good, '--db', join(place, 'flag.db')], {
      cwd,
      env: { GAPSTONE_DB: join(place, 'no.db') },
    }),
  ]);
  const databases = (where: string) => readdirSync(where).filter((name) => name.endsWith('.db'));
  assert.equal(databases(cwd), ['gapstone.db']);
  assert.equal(databases(place).sort(), ['env.db', 'flag.db']);
});

options('a folder that cannot be listed and a name that is not UTF-8 are rejected alone', async () => {
  const cwd = scratchFolder();
  put(cwd, 'in/a.xml', readFileSync(good));
  const named = (text: string) => Buffer.concat([Buffer.from(`${cwd}/in/${text}`), Buffer.from([0xe9])]);
  mkdirSync(named('folder'));
  writeFileSync(named('file'), 'x');
  const { code, stdout, stderr } = await gapstone(['import', 'in', '--json'], { cwd });
  assert.is(code, 3, stderr);
  const lines = stdout
    .split('\n')
    .slice(0, 3)
    .map((line) => JSON.parse(line));
  assert.equal(
    lines.map(({ outcome, reason }) => (outcome === 'rejected' ? reason : outcome)),
    ['imported', 'the name is not UTF-8: rename the file', 'the name is not UTF-8: rename the file'],
  );
  assert.is((await gapstone(['import', 'in', '--strict', '--db', 'strict.db'], { cwd })).code, 1);
});

options('a name with control characters neither ends a line nor speaks to the terminal', async () => {
  const cwd = scratchFolder();
  put(cwd, 'in/a\nimported b\u001b[2J.xml', readFileSync(good));
  const { code, stderr } = await gapstone(['import', 'in'], { cwd });
  assert.is(code, 0);
  assert.match(withoutProgress(stderr), /^imported {3}in\/a\\u000aimported b\\u001b\[2J\.xml \[xccdf\]/);
  assert.is(withoutProgress(stderr).split('\n').length, 4, 'the source, the summary, the result, the end');
});

options.run();

const progress = suite('the progress of an import');

progress('is a line every two seconds', () => {
  const lines: string[] = [];
  let time = 0;
  const update = createProgress(
    (line) => lines.push(line),
    () => time,
  );
  for (const [at, done] of [
    [1, 1],
    [1999, 2],
    [5000, 50],
    [5001, 51],
    [7000, 60],
  ] as const) {
    time = at;
    update({ done, found: 100, rules: done * 10, bytes: done * 1e6 });
  }
  assert.equal(lines, [
    'reading: 50 of 100 sources, 500 rules, 10.0 MB/s',
    'reading: 60 of 100 sources, 600 rules, 8.6 MB/s',
  ]);
});

progress('reports every source, found never below done', async () => {
  const seen: [number, number][] = [];
  const db = openCatalog(':memory:', { create: true });
  await runImport(db, [zip, skips, good], { onProgress: ({ done, found }) => seen.push([done, found]) });
  assert.equal(
    seen.map(([done]) => done),
    [1, 2, 3, 4, 5, 6, 7],
  );
  for (const [done, found] of seen) assert.ok(found >= done);
  assert.equal(seen.at(-1), [7, 7]);
});

progress.run();

function catalogOf(file: string) {
  const db = openCatalog(file);
  try {
    return dumpCatalog(db);
  } finally {
    db.close();
  }
}
