import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../importers/run.ts';
import { checkDatabase } from '../src/commands/check.ts';
import type { Database } from '../src/db/database.ts';
import { catalogDigest, storedDigest, tableDigests } from '../src/db/digest.ts';
import { importTexts } from './support/catalog-dump.ts';
import { oscalProfile } from './support/control-sources.ts';
import { suite, testIf } from './support/harness.ts';
import { emptyCatalog, everything } from './support/prepared.ts';
import { reference, referenceData, shipped } from './support/reference.ts';
import { scapRules, writeScap } from './support/scap-writer.ts';
import { put, scratchFolder } from './support/scratch.ts';
import { sampleRules, writeXccdf } from './support/xccdf-writer.ts';

/** Files of every kind whose crosswalk is small. */
const files = [
  shipped('stigs'),
  shipped('regulatory'),
  shipped('roles'),
  shipped('search'),
  shipped('controls', 'nist-800-171_rev2.csv'),
  shipped('controls', 'nist-800-53_rev5.csv'),
  shipped('mappings', 'nist-800-171_to_nist-800-53.csv'),
  put(scratchFolder(), 'scap.xml', writeScap({ rules: scapRules(900_001, 3) })),
  put(
    scratchFolder(),
    'profile.json',
    oscalProfile('high', ['ac-1', 'ac-2'], '5.2.0', { 'ac-01_odp.01': 'daily' }),
  ),
];

async function imported(...runs: string[][]): Promise<Database> {
  const db = emptyCatalog();
  for (const paths of runs) assert.is((await runImport(db, paths)).summary.rejected, 0);
  return db;
}

async function digestAfter(...runs: string[][]): Promise<string> {
  const db = await imported(...runs);
  const digest = catalogDigest(db);
  db.close();
  return digest;
}

const digestedTables = tableDigests(emptyCatalog().sqlite).map(({ table }) => table);

const test = suite('The digest of the catalog');

test('every table of the schema is digested, or left out for a reason', () => {
  const db = emptyCatalog();
  const names = db.sqlite
    .prepare<[], string>(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    .pluck()
    .all();
  db.close();
  const users = `bundles list_stigs collection_controls collection_documents collection_roles favorite_stigs
    favorite_controls sessions integration_tokens integration_token_lists content_keys content_bundles
    content_sequences inbox_contents shipped_sources site list_hosts list_seen used_nonces user_tokens`;
  const times = ['catalog', 'import_runs', 'import_ledger', 'clock', 'audit_head'];
  const decided = ['mapping_decisions', 'mapping_changes'];
  // What follows from what is digested.
  const others = [
    'control_keys',
    'crosswalk_paths',
    'profile_values',
    'rule_ids',
    'rule_marks',
    'stig_evidence',
  ];
  assert.equal(
    [...digestedTables, ...users.split(/\s+/), ...times, ...decided, ...others].sort(),
    names.sort(),
  );
});

test('it does not depend on the order of the files of a run, nor on where they lie, nor on the time', async () => {
  const digest = await digestAfter(files);
  assert.match(digest, /^[0-9a-f]{64}$/);
  assert.is(await digestAfter([...files].reverse()), digest);
  const elsewhere = join(scratchFolder(), 'other name');
  for (const path of files)
    cpSync(path, join(elsewhere, path.split('/').slice(-2).join('/')), { recursive: true });
  const db = emptyCatalog();
  await runImport(db, [elsewhere], { now: () => new Date('2001-01-01T00:00:00Z') });
  assert.is(catalogDigest(db), digest);
  db.close();
});

test('importing the same again changes nothing, and internal ids do not count', async () => {
  const digest = await digestAfter(files);
  assert.is(await digestAfter(files, [...files].reverse()), digest);
  // Other runs give other ids to sources, releases and findings.
  const [stigs, ...others] = files;
  assert.is(await digestAfter(others, [stigs!]), digest);
});

test('one changed character in one finding changes it, and only the tables that it is in', async () => {
  const texts = (fix: string) => [
    writeXccdf({
      rules: sampleRules(20).map((rule, index) => (index === 13 ? { ...rule, fixTexts: [fix] } : rule)),
    }),
  ];
  const digests = [];
  for (const fix of ['Set it to 1.', 'Set it to 2.']) {
    const db = emptyCatalog();
    await importTexts(db, texts(fix));
    digests.push({ whole: catalogDigest(db), tables: tableDigests(db.sqlite) });
    db.close();
  }
  const [one, two] = digests;
  assert.is.not(one!.whole, two!.whole);
  const different = one!.tables
    .filter(({ sha256 }, index) => sha256 !== two!.tables[index]!.sha256)
    .map(({ table }) => table);
  // The file is another one, so its source is too, which its rows name and whose hash settles its release order.
  assert.equal(different, ['sources', 'stig_printings', 'findings']);
});

test('a change of any value of any table changes it, but for paths and times', async () => {
  const db = await imported(files);
  db.sqlite.exec(`INSERT INTO stig_overrides VALUES ('Harbor_Linux_3_STIG', 'harbor_linux_3');
    INSERT INTO curated_mapping_facts SELECT min(id), 'slug', '15-1244.00', 0.5, 'Primary', 'PD', 'why', 1 FROM sources;
    INSERT INTO mapping_details SELECT min(id), 1, 'subset-of', 0, '[]' FROM sources;
    INSERT INTO profile_facts SELECT min(id), '{}' FROM sources;
    INSERT INTO mapping_products VALUES ('linux', '{}');
    INSERT INTO mapping_candidates VALUES ('15-1244.00', 4, '{}');
    INSERT INTO framework_titles SELECT min(id), 'harbor', '1', '1', 'Harbor' FROM sources;
    INSERT INTO baseline_facts SELECT min(id), 'nist-800-53', 'Rev 5', '5', 'low', 'Low', 'AC-1' FROM sources;`);
  db.sqlite.pragma('foreign_keys = OFF');
  db.sqlite.pragma('ignore_check_constraints = ON');
  const columnsOf = (table: string) =>
    db.sqlite.pragma(`table_info(${table})`) as { name: string; type: string; pk: number }[];
  const keyOf = (table: string) =>
    columnsOf(table)
      .filter(({ pk }) => pk > 0)
      .map(({ name }) => `"${name}"`)
      .join(', ');
  // Few rows of each but of those that are read together: what is tried is each column.
  for (const table of digestedTables.filter((each) => !each.startsWith('crosswalk_')))
    db.sqlite.exec(
      `DELETE FROM ${table} WHERE (${keyOf(table)}) NOT IN (SELECT ${keyOf(table)} FROM ${table} LIMIT 60)`,
    );
  const whole = catalogDigest(db);
  const without: string[] = [];
  let changed = 0;
  for (const table of digestedTables) {
    const rows = db.sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
    assert.ok(rows > 0, `${table} is empty`);
    const key = keyOf(table);
    const row = `(${key}) = (SELECT ${key} FROM ${table} LIMIT 1 OFFSET ${Math.floor(rows / 2)})`;
    for (const { name, type } of columnsOf(table)) {
      const other = type === 'TEXT' ? `coalesce("${name}", '') || 'x'` : `coalesce("${name}", 0) + 1000000`;
      db.sqlite.exec('BEGIN');
      const { changes } = db.sqlite.prepare(`UPDATE ${table} SET "${name}" = ${other} WHERE ${row}`).run();
      assert.is(changes, 1, `${table}.${name}`);
      if (catalogDigest(db) === whole) without.push(`${table}.${name}`);
      else changed++;
      db.sqlite.exec('ROLLBACK');
    }
    db.sqlite.exec('BEGIN');
    db.sqlite.exec(`DELETE FROM ${table} WHERE ${row}`);
    assert.is.not(catalogDigest(db), whole, `a missing row of ${table}`);
    db.sqlite.exec('ROLLBACK');
  }
  assert.equal(without, ['sources.importer_version', 'sources.source', 'sources.imported_at']);
  assert.ok(changed > 100, String(changed));
  assert.is(catalogDigest(db), whole);
  db.close();
});

test('texts that would read alike in a row do not', () => {
  const db = emptyCatalog();
  const digests = [
    ['a', ''],
    ['', 'a'],
    ['a,', ''],
    ['"a"', ''],
    ['a\n', ''],
  ].map(([title, family]) => {
    db.sqlite.exec('DELETE FROM work_roles');
    db.sqlite.prepare("INSERT INTO work_roles VALUES ('1', 'n', ?, ?)").run(title, family);
    return catalogDigest(db);
  });
  assert.is(new Set(digests).size, digests.length);
  db.close();
});

test('every import leaves the digest stored, and none that stores nothing changes it', async () => {
  const db = emptyCatalog();
  const agree = (what: string) => {
    const stored = storedDigest(db.sqlite);
    assert.is(stored, catalogDigest(db), what);
    return stored;
  };
  assert.is(storedDigest(db.sqlite), null, 'nobody has made that of a new catalog');
  const [first, ...others] = files;
  await runImport(db, [first!]);
  const one = agree('a first import');
  await runImport(db, files, { dryRun: true });
  assert.is(agree('a dry run'), one);
  await runImport(db, [put(scratchFolder(), 'bad.xml', '<Benchmark'), ...others], { strict: true });
  assert.is(agree('a strict run with a bad source'), one);
  await runImport(db, [first!]);
  assert.is(agree('the same again'), one);
  await runImport(db, others);
  const all = agree('all others');
  assert.is.not(all, one);
  const overrides = (slug: string) => new Map([['Harbor_Linux_3_STIG', slug]]);
  await runImport(db, [first!], { overrides: overrides('harbor') });
  assert.is.not(agree('a slug of the operator'), all);
  await runImport(db, [first!], { overrides: new Map([['No_Such_STIG', 'nothing']]) });
  agree('a slug for a benchmark that is not there');
  await runImport(db, [first!], { overrides: new Map([...overrides(''), ['No_Such_STIG', '']]) });
  assert.is(agree('both taken back'), all);
  db.sqlite.exec('UPDATE catalog SET digest = NULL');
  await runImport(db, [first!]);
  assert.is(agree('an import that finds none'), all);
  db.close();
});

/** Registers a test that needs the publishers’ files. */
const onReal = testIf(referenceData, test);

onReal(
  'the real files: every way to give them gives one digest, and a catalog without a problem',
  async () => {
    const together = await everything();
    const digest = catalogDigest(together);
    together.close();
    // The other way round, in several runs.
    const paths = readdirSync(reference())
      .map((name) => reference(name))
      .reverse();
    const quarter = Math.ceil(paths.length / 4);
    const db = emptyCatalog();
    await runImport(db, [reference('zips'), shipped()]);
    for (let at = 0; at < paths.length; at += quarter) await runImport(db, paths.slice(at, at + quarter));
    assert.is(catalogDigest(db), digest);
    const { checks } = checkDatabase(db);
    assert.equal(
      checks.flatMap(({ problems }) => problems),
      [],
    );
    db.close();
  },
);

test.run();
