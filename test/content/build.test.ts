import { copyFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import * as assert from 'uvu/assert';
import yauzl from 'yauzl';
import { runImport } from '../../importers/run.ts';
import { packageRoot } from '../../src/base/root.ts';
import { databaseChecks } from '../../src/catalog/checks.ts';
import { buildBundle } from '../../src/content/bundle.ts';
import { readBundle, requireCatalog } from '../../src/content/read-bundle.ts';
import { readPrivateKey, readPublicKey } from '../../src/content/signing-keys.ts';
import { openCatalog, openDatabase } from '../../src/db/database.ts';
import { catalogDigest } from '../../src/db/digest.ts';
import { build, membersOf, sampleCatalog, sampleKey, sampleTime, writeMembers } from '../support/bundles.ts';
import { dumpCatalog } from '../support/catalog-dump.ts';
import { applyTo, makeSite, withSite } from '../support/content-site.ts';
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
async function unpacked(bundle: string): Promise<string> {
  const unpackTo = join(scratchFolder(), 'catalog.db');
  requireCatalog(await readBundle(bundle, [key], { now: sampleTime, unpackTo }), unpackTo);
  return unpackTo;
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
  const { manifest, file: built, bytes } = await build(catalog, key);
  assert.is(statSync(built).size, bytes);
  const file = await unpacked(built);
  assert.is(statSync(file).size, manifest.parts[0]!.unpacked);
  assert.equal(dump(file), dump(catalog));
  assert.is(dump(file).digest, manifest.digest);
  assert.equal(problemsOf(file), []);
});

test('no folder of the machine and nothing of users is in it', async () => {
  const file = await unpacked((await build(catalog, key)).file);
  using db = openCatalog(file);
  const { sqlite } = db;
  const rows = (query: string) => sqlite.prepare(query).pluck().all() as string[];
  for (const source of [...rows('SELECT source FROM sources'), ...rows('SELECT source FROM import_ledger')])
    assert.not.match(source, /\//);
  assert.equal(rows('SELECT count(*) FROM import_runs'), [1]);
  assert.equal(rows("SELECT reason FROM import_ledger WHERE reason IS NOT NULL OR warnings <> '[]'"), []);
  assert.equal(
    rows('SELECT sha256 FROM import_ledger ORDER BY 1'),
    rows('SELECT sha256 FROM sources ORDER BY 1'),
  );
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
    using db = openCatalog(await unpacked(built.file));
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
  const { file } = await build(catalog, key);
  const zip = await yauzl.openPromise(file, { strictFileNames: true });
  const names: string[] = [];
  for await (const entry of zip.eachEntry()) names.push(`${entry.fileName} ${entry.compressionMethod}`);
  assert.equal(names, ['manifest.json 0', 'manifest.sig 0', 'catalog.db.zst 0']);
});

test('a catalog that states another digest of itself than it has is refused', async () => {
  const bundle = await readBundle((await build(catalog, key)).file, [key], { now: sampleTime });
  const file = join(scratchFolder(), 'catalog.db');
  copyFileSync(catalog, file);
  requireCatalog(bundle, file);
  const sqlite = new Sqlite(file);
  sqlite.prepare('UPDATE catalog SET digest = ?').run('f'.repeat(64));
  sqlite.close();
  const why = /holds a catalog with the stored digest ffff.+, and its digest is .+: nothing was/;
  assert.throws(() => requireCatalog(bundle, file), why);
});

test('a name that is taken is left alone, and what is refused leaves nothing', async () => {
  const { file } = await build(catalog, key);
  const folder = join(file, '..');
  const options = { channel: 'main', sequence: 1, now: sampleTime, key: readPrivateKey(key.file) };
  await rejects(buildBundle(catalog, file, options), /bundle already exists/);
  await rejects(buildBundle(catalog, join(folder, 'no', 'b'), options), /the folder of .* does not exist/);
  const broken = put(folder, 'broken.db', 'no catalog');
  await rejects(buildBundle(broken, join(folder, 'new'), options), /is not a database/);
  assert.equal(filesIn(folder), ['broken.db', 'bundle']);
});

/** What the version before 1.0 wrote, of invented guides, with a key of its own. */
const former = (name: string) => join(packageRoot, 'test', 'fixtures', name);

test('a whole bundle of a former version is verified and applied; a difference, a piece and an unsigned one are refused', async () => {
  const signer = { name: 'former', channel: null, ...readPublicKey(former('whole-1.pub')) };
  const files = await makeSite();
  await applyTo(files, former('whole-1.bundle'), signer);
  const titles = await withSite(files, (db) => db.sqlite.prepare('SELECT title FROM stigs').pluck().all());
  assert.equal(titles, ['Harbor Linux 3 Security Technical Implementation Guide']);
  const refused = (file: string, why: RegExp) =>
    rejects(readBundle(file, [signer], { now: sampleTime }), why);
  await refused(former('difference-1.bundle'), /is refused: it is a difference to another bundle/);
  const bytes = readFileSync(former('whole-1.bundle'));
  const folder = scratchFolder();
  for (const [index, part] of [bytes.subarray(0, 20_000), bytes.subarray(20_000)].entries())
    put(folder, `b.00${index + 1}`, part);
  for (const name of ['b', 'b.001', 'b.002'])
    await refused(join(folder, name), /is refused: it is a piece of a split bundle/);
  const [manifest, , part] = membersOf(former('whole-1.bundle'));
  const unsigned = writeMembers([manifest!, { name: 'manifest.sig', content: Buffer.alloc(0) }, part!]);
  await refused(unsigned, /is refused: it is not signed/);
});

test.run();
