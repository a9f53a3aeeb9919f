import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { sha256 } from '../../src/base/ids.ts';
import { createProgress } from '../../src/commands/audited-import.ts';
import { openCatalog } from '../../src/db/database.ts';
import { dumpCatalog, tableDigests } from '../support/catalog-dump.ts';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { commandHere } from '../support/here.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { jsonLines, told } from '../support/told.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';
import { makeZip } from '../support/zip.ts';

const folder = scratchFolder();
const good = put(folder, 'good.xml', writeXccdf({ id: 'Good', title: 'Good STIG' }));
const otherRules = sampleRules(2, 'O', 7);
const other = put(folder, 'other.xml', writeXccdf({ id: 'Other', title: 'Other STIG', rules: otherRules }));
const older = put(folder, 'old.xml', writeXccdf({ id: 'Good', title: 'Good STIG', date: '01 Jan 2020' }));
const bad = put(folder, 'bad.xml', writeXccdf().slice(0, 400));
const text = put(folder, 'text.txt', 'only text');
const empty = put(folder, 'empty', '');
const scap = put(
  folder,
  'scap.xml',
  '<data-stream-collection xmlns="http://scap.nist.gov/schema/scap/source/1.2"/>',
);
const missing = join(folder, 'missing.xml');
const skips = scratchFolder();
put(skips, 'a.txt', 'a');
put(skips, 'b.xsl', '<stylesheet/>');
const zipOf = (...files: string[]) =>
  makeZip(files.map((file) => ({ name: basename(file), data: readFileSync(file) })));
const zip = put(folder, 'a.zip', zipOf(good, other, text));
const badZip = put(folder, 'bad.zip', zipOf(bad));

const newDb = () => join(scratchFolder(), 'x.db');

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

const importHere = (...args: string[]): Promise<Ended> => commandHere(['import', ...args]);

function check<T extends Ended>(ended: T, code: number, message: RegExp): T {
  assert.is(ended.code, code, ended.stderr);
  assert.match(ended.stderr, message);
  assert.not.match(ended.stderr, /\n\s+at |node:internal/, 'no stack');
  return ended;
}

const exits = async (code: number, args: string[], message: RegExp) =>
  check(await importHere(...args), code, message);

const codes = suite('gapstone import: exit codes');

codes('as a process', async () => {
  const [partly, wrong] = await Promise.all([
    gapstone(['import', good, bad, '--db', 'x.db']),
    gapstone(['import', good, '--no-such-option']),
  ]);
  check(partly, 3, /1 imported.*1 rejected/);
  assert.is(partly.stdout, '', 'data goes to stdout, messages do not');
  check(wrong, 2, /^gapstone: .*no-such-option.*\n$/);
});

const nothing = /\nfailed: nothing could be used\n$/;

// In each group one command after the other on one new database.
const groups: [code: number, paths: string[], message: RegExp][][] = [
  [
    [0, [good], /^1 source in [\d.]+ s: 1 imported, 0 unchanged, 0 superseded, 0 skipped, 0 rejected/m],
    [0, [good], /^unchanged .*-> good$/m],
    [0, [good, skips], /^skipped .*a\.txt \[other\]: [\s\S]*\ndone\n$/m],
    [0, [zip], /^imported .*a\.zip!\/other\.xml/m],
    [3, [good, bad], /1 unchanged.*1 rejected/],
  ],
  [
    [1, [skips, bad], nothing],
    [1, [scap], /^rejected .*scap\.xml \[scap\]: the data stream has no XCCDF benchmark/m],
    [1, [scratchFolder()], nothing],
    [1, [bad], /^rejected .*bad\.xml \[xccdf\]: .*line \d+, column \d+/m],
    [1, [badZip], /^rejected .*bad\.zip!\/bad\.xml/m],
    [1, [text], /^skipped .*text\.txt \[other\]: /m],
    [1, [empty], /^skipped .*empty.*: the file is empty/m],
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
  for (const args of [[], [good, '--strict=yes', '--db', fresh], [good, '--db', fresh, '--slugs']])
    await exits(2, args, /^gapstone: .*\n$/);
  assert.not(existsSync(fresh), 'nothing is begun');
});

codes('an archive of which nothing was new is unchanged, as deep as it lies', async () => {
  const db = newDb();
  const members = [
    { name: 'inner.zip', data: zipOf(good) },
    { name: 'other.zip', data: zipOf(text) },
  ];
  const library = put(scratchFolder(), 'library.zip', makeZip(members));
  const outcomes = async (path: string) => {
    const { stdout } = await importHere('--json', path, '--db', db);
    return told(jsonLines(stdout).slice(0, -1), 'outcome').join(' ');
  };
  assert.is(await outcomes(library), 'imported imported imported unchanged skipped');
  assert.is(await outcomes(library), 'unchanged unchanged unchanged unchanged skipped');
  const mixed = put(scratchFolder(), 'mixed.zip', zipOf(good, bad));
  assert.is(await outcomes(mixed), 'unchanged rejected unchanged', 'also with something bad beside');
});

codes('--strict: 1 and nothing stored, or 0', async () => {
  const db = newDb();
  const paths = [good, bad, zip, zip];
  const refused = await exits(1, [...paths, '--strict', '--json', '--db', db], /nothing was changed/);
  const lines = jsonLines(refused.stdout);
  const { summary } = lines.pop();
  assert.equal([summary.imported, summary.unchanged, summary.rejected], [0, 0, 1]);
  assert.is(summary.skipped, lines.length - 1);
  for (const { source, outcome, reason, target, counts } of lines)
    if (outcome !== 'rejected' && !source.endsWith('text.txt'))
      assert.equal(
        [outcome, reason, target, counts],
        ['skipped', 'nothing was stored: --strict was given, and 1 source cannot be imported', null, {}],
      );
  assert.equal(slugsOf(db), []);
  await exits(0, [good, skips, '--strict', '--db', db], /1 imported/);
  // What was stored before is still there; of two that are not good, one is a file of no known kind.
  const again = await exits(1, [good, bad, text, other, '--strict', '--db', db], /2 sources cannot/);
  assert.match(again.stderr, /1 unchanged, 0 superseded, 2 skipped, 1 rejected/);
  assert.equal(slugsOf(db), ['good']);
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
  for (const [file, message] of cases) {
    const { stderr } = await exits(1, [good, '--db', file], message);
    assert.is(stderr.trim().split('\n').length, 1, stderr);
  }
});

codes.run();

const ledger = suite('gapstone import --json');

ledger(
  'one object for each source in the order of its keys, the summary last, as the database has it',
  async () => {
    const db = newDb();
    const { code, stdout, stderr } = await importHere(
      '--json',
      good,
      good,
      bad,
      text,
      zip,
      older,
      '--db',
      db,
    );
    assert.is(code, 3, stderr);
    assert.not.match(stderr, /imported|rejected/, 'the ledger goes to stdout');
    const objects = jsonLines(stdout);
    const { summary, ...rest } = objects.pop();
    assert.equal(rest, {});
    const { ms, phases, ...totals } = summary;
    assert.is(
      JSON.stringify(totals),
      '{"sources":9,"imported":3,"unchanged":2,"superseded":1,"skipped":2,"rejected":1,"warnings":0}',
    );
    assert.ok(ms >= 0 && Object.keys(phases).length >= 3);
    for (const line of objects) {
      assert.is(Object.keys(line).join(' '), 'source kind sha256 outcome reason warnings target counts ms');
      assert.equal([typeof line.ms, line.warnings], ['number', []]);
    }
    assert.equal(
      objects.map(({ source, kind, outcome, target }) => [source, kind, outcome, target].join(' ')),
      [
        `${good} xccdf imported good`,
        `${good} xccdf unchanged good`,
        `${bad} xccdf rejected `,
        `${text} other skipped `,
        `${zip} archive imported `,
        `${zip}!/good.xml xccdf unchanged good`,
        `${zip}!/other.xml xccdf imported other`,
        `${zip}!/text.txt other skipped `,
        `${older} xccdf superseded good`,
      ],
    );
    assert.equal(objects[0].counts, { rules: 3, high: 0, medium: 3, low: 0, profiles: 0 });
    assert.equal(objects[4].counts, { members: 3 });
    const hashes = [good, good, bad, text, zip].map((file) => sha256(readFileSync(file)));
    assert.equal(told(objects.slice(0, 5), 'sha256'), hashes);
    for (const index of [2, 3, 8]) assert.ok(objects[index].reason.length > 10);

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
      objects,
    );
    const runs = sqlite.prepare('SELECT summary FROM import_runs').pluck().all() as string[];
    const { ms: _ms, phases: _phases, ...kept } = JSON.parse(runs.join());
    assert.equal(kept, totals);
    close();
  },
);

ledger.run();

const options = suite('gapstone import: --dry-run, --slugs, --db, GAPSTONE_DB');

options('--dry-run says what would change, and changes nothing', async () => {
  const cwd = scratchFolder();
  const none = await commandHere(['import', good, bad, '--dry-run', '--json'], { cwd });
  check(none, 3, /dry run: nothing was changed/);
  assert.equal(readdirSync(cwd), [], 'it makes no database where there is none');
  assert.equal(told(jsonLines(none.stdout), 'outcome'), ['imported', 'rejected', 'undefined']);

  const file = newDb();
  await importHere(good, '--db', file);
  const db = openCatalog(file);
  db.sqlite.pragma('wal_checkpoint(TRUNCATE)');
  const digests = tableDigests(db);
  db.close();
  // The counters of changes in the header of the file go on: the journal is another one while it is open.
  const bytes = () => sha256(readFileSync(file).fill(0, 24, 28).fill(0, 92, 96));
  const before = bytes();
  const { stderr } = await exits(0, [good, other, '--dry-run', '--db', file], /dry run: nothing was changed/);
  assert.match(stderr, /^unchanged .*good\.xml[\s\S]*^imported .*other\.xml \[xccdf\] -> other/m);
  assert.is(bytes(), before, 'the file is the same to the byte');
  const again = openCatalog(file);
  assert.equal(tableDigests(again), digests);
  assert.is(again.sqlite.prepare('SELECT count(*) FROM import_runs').pluck().get(), 1);
  again.close();
});

options('--slugs gives slugs to benchmarks; a row is kept for later runs, and - takes it back', async () => {
  const db = newDb();
  const slugs = (rows: string) => put(folder, 'slugs.csv', `\ufeffbenchmarkId,slug\r\n${rows}\r\n`);
  await exits(0, [other, '--slugs', slugs('Good, my_good \r\n\r\n"Other","o-1"'), '--db', db], /-> o-1/);
  await exits(0, [good, '--db', db], /-> my_good/);
  assert.equal(slugsOf(db), ['my_good', 'o-1']);
  await exits(0, [good, '--slugs', slugs('Good,-'), '--db', db], /-> good/);
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
  const [cwd, place] = [scratchFolder(), scratchFolder()];
  const env = { GAPSTONE_DB: join(place, 'env.db') };
  await commandHere(['import', good], { cwd });
  await commandHere(['import', good], { cwd, env });
  await commandHere(['import', good, '--db', join(place, 'flag.db')], { cwd, env });
  const databases = (where: string) => readdirSync(where).filter((name) => name.endsWith('.db'));
  assert.equal([databases(cwd), databases(place).sort()], [['gapstone.db'], ['env.db', 'flag.db']]);
});

options('a folder that cannot be listed and a name that is not UTF-8 are rejected alone', async () => {
  const cwd = scratchFolder();
  put(cwd, 'in/a.xml', readFileSync(good));
  const named = (name: string) => Buffer.concat([Buffer.from(`${cwd}/in/${name}`), Buffer.from([0xe9])]);
  mkdirSync(named('folder'));
  writeFileSync(named('file'), 'x');
  const { code, stdout, stderr } = await commandHere(['import', 'in', '--json'], { cwd });
  assert.is(code, 3, stderr);
  const says = 'the name is not UTF-8: rename the file';
  assert.equal(told(jsonLines(stdout).slice(0, 3), 'reason').slice(1), [says, says]);
  assert.is((await commandHere(['import', 'in', '--strict', '--db', 'strict.db'], { cwd })).code, 1);
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
  using db = emptyCatalog();
  await runImport(db, [zip, skips, good], { onProgress: ({ done, found }) => seen.push([done, found]) });
  assert.is(seen.map(([done]) => done).join(' '), '1 2 3 4 5 6 7');
  assert.ok(seen.every(([done, found]) => found >= done) && seen.at(-1)![1] === 7);
});

progress.run();

function slugsOf(file: string): string[] {
  using db = openCatalog(file);
  return told(dumpCatalog(db).stigs, 'slug');
}
