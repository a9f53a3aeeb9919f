import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import yauzl from 'yauzl';
import { runImport } from '../../importers/run.ts';
import { databaseChecks } from '../../src/catalog/checks.ts';
import { buildBundle } from '../../src/content/bundle.ts';
import { writeCanonical } from '../../src/content/canonical.ts';
import { makeCatalog } from '../../src/content/incoming.ts';
import type { VerifiedBundle } from '../../src/content/read-bundle.ts';
import { openCatalog, openDatabase } from '../../src/db/database.ts';
import { catalogDigest } from '../../src/db/digest.ts';
import { build, membersOf, sampleCatalog, sampleKey, sampleTime } from '../support/bundles.ts';
import { dumpCatalog } from '../support/catalog-dump.ts';
import { rejects, suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { filesIn, put, scratchFolder } from '../support/scratch.ts';

const test = suite('Bundles that are built');

/** Files of every kind whose crosswalk is small. */
const files = [
  shipped('stigs'),
  shipped('regulatory'),
  shipped('roles'),
  shipped('controls', 'nist-800-171_rev2.csv'),
  shipped('controls', 'nist-800-53_rev5.csv'),
  shipped('mappings', 'nist-800-171_to_nist-800-53.csv'),
];
const key = sampleKey('depot');
const catalog = await sampleCatalog([files]);

/** The catalog of a bundle, unpacked. */
function unpacked(bundle: string): string {
  const [, , part] = membersOf(bundle);
  return put(scratchFolder(), 'catalog.db', zstdDecompressSync(part!.content));
}

/** What `gapstone check` says of a catalog. */
function problemsOf(file: string): string[] {
  using db = openDatabase({ db: file, usersDb: ':memory:' });
  return databaseChecks.flatMap((check) => [...check.run(db)].map((problem) => `${check.name}: ${problem}`));
}

function dump(file: string) {
  using db = openCatalog(file);
  const { sources: _, ...dumped } = dumpCatalog(db);
  return { ...dumped, digest: catalogDigest(db) };
}

test('the catalog of a bundle is the one that it was built from, whole and of one digest', async () => {
  const { manifest, files: built, bytes } = await build(catalog, key);
  assert.is(statSync(built[0]!).size, bytes);
  const file = unpacked(built[0]!);
  assert.is(statSync(file).size, manifest.parts[0]!.unpacked);
  assert.equal(dump(file), dump(catalog));
  assert.is(dump(file).digest, manifest.digest);
  assert.equal(problemsOf(file), []);
});

test('no folder of the machine, no time of an import and nothing of users is in it', async () => {
  const { files: built } = await build(catalog, key);
  const file = unpacked(built[0]!);
  using db = openCatalog(file);
  const { sqlite } = db;
  const rows = (query: string) => sqlite.prepare(query).pluck().all() as string[];
  for (const source of [...rows('SELECT source FROM sources'), ...rows('SELECT source FROM import_ledger')])
    assert.not.match(source, /\//);
  assert.equal(rows('SELECT DISTINCT imported_at FROM sources'), [sampleTime.toISOString()]);
  assert.equal(rows('SELECT changed_at FROM catalog'), [sampleTime.toISOString()]);
  assert.equal(rows('SELECT count(*) FROM import_runs'), [1]);
  const content = readFileSync(file);
  for (const word of [shipped(''), scratchFolder().slice(0, 9), process.env.HOME!])
    assert.is(content.indexOf(word), -1, word);
});

test('whose word counts about a mapping that two sources state is carried along', async () => {
  const folder = scratchFolder();
  const head = 'stigSlug,occupationCode,confidenceScore,roleResponsibilityLevel,niceWorkRoleId,mappingReason';
  const row = (code: string, reason: string) => `lantern_web_server_2,${code},0.9,Primary,,${reason}`;
  const csv = (name: string, ...rows: string[]) => put(folder, name, [head, ...rows, ''].join('\n'));
  // Both ways, so that in one of them the hash alone would choose the other.
  const rows = ['First.', 'Second.'].map((reason) => row('15-1244.00', reason));
  for (const [first, last] of [rows, [...rows].reverse()]) {
    const both = csv('both.csv', first!, row('15-1254.00', 'Other.'));
    const corrected = csv('corrected.csv', last!);
    const built = await build(await sampleCatalog([[...files, both], [corrected]]), key);
    using db = openCatalog(unpacked(built.files[0]!));
    // An import that touches mappings derives them anew.
    await runImport(db, [csv('third.csv', row('15-1252.00', 'Third.'))]);
    const reasons = db.sqlite
      .prepare("SELECT mapping_reason FROM role_mappings WHERE mapping_source = 'curated' ORDER BY 1")
      .pluck()
      .all();
    assert.equal(reasons, [last!.split(',').at(-1), 'Other.', 'Third.'].sort());
  }
});

test('any tool for zips opens a bundle', async () => {
  const { files: built } = await build(catalog, key);
  const zip = await yauzl.openPromise(built[0]!, { strictFileNames: true });
  const names: string[] = [];
  for await (const entry of zip.eachEntry()) names.push(`${entry.fileName} ${entry.compressionMethod}`);
  assert.equal(names, ['manifest.json 0', 'manifest.sig 0', 'catalog.db.zst 0']);
});

test('a catalog that states another digest of itself than it has is refused', async () => {
  const file = join(scratchFolder(), 'c.db');
  const digest = writeCanonical(await sampleCatalog([files]), file, sampleTime.toISOString());
  const sqlite = new Sqlite(file);
  const schema = sqlite.pragma('user_version', { simple: true });
  const manifest = { schema, digest, parts: [{ kind: 'catalog' }] };
  const bundle = { file: 'b.zip', manifest, unpacked: [file] } as unknown as VerifiedBundle;
  const made = () => makeCatalog(bundle, null, scratchFolder());
  assert.is(await made(), file);
  sqlite.prepare('UPDATE catalog SET digest = ?').run('f'.repeat(64));
  sqlite.close();
  const why = /^b.zip holds a catalog with the stored digest ffff.+, and its digest is .+: nothing was/;
  await rejects(made(), why);
});

test('a name that is taken is left alone, and what is refused leaves nothing', async () => {
  const { files: built } = await build(catalog, key);
  const folder = join(built[0]!, '..');
  const none = { expires: null, key: null, split: null, since: null };
  const options = { channel: 'main', sequence: 1, time: sampleTime, ...none };
  await rejects(buildBundle(catalog, built[0]!, options), /bundle already exists/);
  put(folder, 'other.017', 'a piece of something else');
  await rejects(buildBundle(catalog, join(folder, 'other'), options), /other\.017 already exists/);
  await rejects(buildBundle(catalog, join(folder, 'no', 'b'), options), /the folder of .* does not exist/);
  const broken = put(folder, 'broken.db', 'no catalog');
  await rejects(buildBundle(broken, join(folder, 'new'), options), /is not a database/);
  assert.equal(filesIn(folder), ['broken.db', 'bundle', 'other.017']);
});

test.run();
