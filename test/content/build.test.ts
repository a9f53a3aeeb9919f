import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
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
import { readBundle, type VerifiedBundle } from '../../src/content/read-bundle.ts';
import { openCatalog, openDatabase } from '../../src/db/database.ts';
import { catalogDigest, storedDigest } from '../../src/db/digest.ts';
import { build, membersOf, sampleCatalog, sampleKey, sampleTime } from '../support/bundles.ts';
import { dumpCatalog } from '../support/catalog-dump.ts';
import { rejects, suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { filesIn, put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';
import { makeZip } from '../support/zip.ts';

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
const now = sampleTime;

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

test('the same catalog, key and time give the same bytes, whatever the history was', async () => {
  const [built] = (await build(catalog, key)).files;
  const bytes = readFileSync(built!);
  assert.equal(readFileSync((await build(catalog, key)).files[0]!), bytes);
  // Another machine: elsewhere, in other runs, in another order, at another time.
  const elsewhere = join(scratchFolder(), 'other name');
  for (const path of files)
    cpSync(path, join(elsewhere, path.split('/').slice(-2).join('/')), { recursive: true });
  const folders = readdirSync(elsewhere).reverse();
  const other = await sampleCatalog(
    folders.map((name) => [join(elsewhere, name)]),
    { now: () => new Date('2001-01-01T00:00:00Z') },
  );
  assert.equal(readFileSync((await build(other, key)).files[0]!), bytes);
  // Of what came out of a bundle the same comes out again.
  assert.equal(readFileSync((await build(unpacked(built!), key)).files[0]!), bytes);
  // The time and the key count.
  const later = await build(catalog, key, { time: new Date('2026-10-02T00:00:00Z') });
  assert.not.equal(readFileSync(later.files[0]!), bytes);
  assert.not.equal(readFileSync((await build(catalog, sampleKey('other'))).files[0]!), bytes);
});

test('that a STIG was searched before it was replaced, or had another number, leaves no trace', async () => {
  const folder = scratchFolder();
  const [one, two, three] = ['1', '2', '3'].map((release) =>
    put(
      folder,
      `sample-r${release}.xml`,
      writeXccdf({ version: 1, release, rules: 4, date: `0${release} Jan 2024` }),
    ),
  );
  const apart = await sampleCatalog([[three!], [one!], [two!]]);
  const together = await sampleCatalog([[one!, two!, three!]]);
  const bundles = await Promise.all([apart, together].map((file) => build(file, key)));
  assert.equal(readFileSync(bundles[0]!.files[0]!), readFileSync(bundles[1]!.files[0]!));
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

test('pieces put together are the bundle, and are read as one', async () => {
  const whole = (await build(catalog, key)).files[0]!;
  const size = 64 * 1024;
  const { files: pieces, bytes } = await build(catalog, key, { split: size });
  assert.is(pieces.length, Math.ceil(bytes / size));
  assert.match(pieces[0]!, /bundle\.001$/);
  assert.equal(Buffer.concat(pieces.map((piece) => readFileSync(piece))), readFileSync(whole));
  for (const piece of pieces.slice(0, -1)) assert.is(statSync(piece).size, size);
  for (const name of [pieces[0]!, pieces[0]!.slice(0, -4)])
    assert.is((await readBundle(name, [key], { now })).bytes, bytes);
  await rejects(build(catalog, key, { split: 100 }), /more than 999 pieces/);
});

test('a difference has what the other catalog lacks, in any archive or folder, and nothing else', async () => {
  const folder = scratchFolder();
  const added = writeXccdf({
    title: 'Added Later Security Technical Implementation Guide',
    id: 'Added',
    rules: 5,
  });
  put(
    folder,
    'library.zip',
    makeZip([{ name: 'inner.zip', data: makeZip([{ name: 'a b.xml', data: added }]) }]),
  );
  const base = await build(catalog, key, { sequence: 7 });
  const newer = await sampleCatalog([files, [folder]]);
  const { manifest, files: built } = await build(newer, key, {
    sequence: 8,
    since: { bundle: base.files[0]!, sources: [shipped('stigs'), folder] },
  });
  const whole = await build(newer, key);
  assert.equal(manifest.before, {
    digest: base.manifest.digest,
    bundle: base.id,
    channel: base.manifest.channel,
    sequence: base.manifest.sequence,
  });
  assert.is(manifest.digest, whole.manifest.digest);
  assert.equal(manifest.sources, whole.manifest.sources);
  assert.equal(
    manifest.parts.map((part) => part.kind === 'source' && part.file),
    ['a b.xml'],
  );
  const unpackTo = scratchFolder();
  const read = await readBundle(built[0]!, [key], { now, unpackTo });
  assert.is(readFileSync(read.unpacked[0]!, 'utf8'), added);
  assert.is(statSync(read.unpacked[0]!).mode & 0o777, 0o600);
  // The way back: what is unpacked is imported to the same catalog.
  using db = openCatalog(catalog);
  const before = catalogDigest(db);
  assert.is(before, base.manifest.digest);
  const copy = await sampleCatalog([files, [unpackTo]]);
  using applied = openCatalog(copy);
  assert.is(catalogDigest(applied), manifest.digest);
  assert.is(storedDigest(applied.sqlite), manifest.digest);
});

test('a catalog that states another digest of itself than it has is refused', async () => {
  const file = join(scratchFolder(), 'c.db');
  const digest = writeCanonical(await sampleCatalog([files]), file, now.toISOString());
  const sqlite = new Sqlite(file);
  const manifest = {
    schema: sqlite.pragma('user_version', { simple: true }),
    digest,
    parts: [{ kind: 'catalog' }],
  };
  const made = () =>
    makeCatalog(
      { file: 'b.zip', manifest, unpacked: [file] } as unknown as VerifiedBundle,
      null,
      scratchFolder(),
    );
  assert.is(await made(), file);
  sqlite.prepare('UPDATE catalog SET digest = ?').run('f'.repeat(64));
  sqlite.close();
  await rejects(
    made(),
    /^b.zip holds a catalog with the stored digest ffff.+, and its digest is .+: nothing was/,
  );
});

test('a source of several files travels whole, with the files that no importer reads', async () => {
  const folder = join(scratchFolder(), 'guide');
  mkdirSync(folder);
  const parts = { 'cover.md': '# Guide\n', 'sec1.md': '# One\n\nText.\n' };
  cpSync(shipped('roles'), join(folder, '..', 'roles'), { recursive: true });
  const tables = readdirSync(join(folder, '..', 'roles'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.txt'))
    .map((entry) => entry.parentPath);
  const onet = tables[0]!;
  writeFileSync(join(onet, 'Unread Table.txt'), 'O*NET-SOC Code\tTitle\n11-1011.00\tnothing of ours\n');
  for (const [name, text] of Object.entries(parts)) put(folder, name, text);
  const base = await build(catalog, key);
  const newer = await sampleCatalog([[shipped('stigs')], [onet]]);
  const { manifest, files: built } = await build(newer, key, {
    since: { bundle: base.files[0]!, sources: [onet] },
  });
  const names = manifest.parts.map((part) => (part.kind === 'source' ? part.file : ''));
  assert.equal(names, readdirSync(onet).sort());
  const unpackTo = scratchFolder();
  const { unpacked: out } = await readBundle(built[0]!, [key], { now, unpackTo });
  for (const file of out) assert.equal(readFileSync(file), readFileSync(join(onet, file.split('/').at(-1)!)));
  using db = openCatalog(newer);
  const { lines } = await runImport(db, [unpackTo]);
  assert.equal([...new Set(lines.map(({ outcome }) => outcome))], ['unchanged']);
});

test('a difference to itself, or without one of its sources, is refused, and nothing is left behind', async () => {
  const base = await build(catalog, key);
  await rejects(
    build(catalog, key, { since: { bundle: base.files[0]!, sources: files } }),
    /has this very catalog: there is no difference/,
  );
  const folder = scratchFolder();
  const path = put(folder, 'added.xml', writeXccdf({ title: 'Added Later' }));
  const newer = await sampleCatalog([files, [path]]);
  await rejects(
    build(newer, key, { since: { bundle: base.files[0]!, sources: files } }),
    /--sources lacks 1 of 1 sources: added_later \(SHA-256 [0-9a-f]{64}\)$/,
  );
});

test('a name that is taken is left alone, and what is refused leaves nothing', async () => {
  const { files: built } = await build(catalog, key);
  const folder = join(built[0]!, '..');
  const options = {
    channel: 'main',
    sequence: 1,
    time: now,
    expires: null,
    key: null,
    split: null,
    since: null,
  };
  await rejects(buildBundle(catalog, built[0]!, options), /bundle already exists/);
  put(folder, 'other.017', 'a piece of something else');
  await rejects(buildBundle(catalog, join(folder, 'other'), options), /other\.017 already exists/);
  await rejects(
    buildBundle(catalog, join(folder, 'no', 'bundle'), options),
    /the folder of .* does not exist/,
  );
  const broken = put(folder, 'broken.db', 'no catalog');
  await rejects(buildBundle(broken, join(folder, 'new'), options), /is not a database/);
  assert.equal(filesIn(folder), ['broken.db', 'bundle', 'other.017']);
});

test('a canonical copy is one file that stands alone', () => {
  const folder = scratchFolder();
  const file = join(folder, 'copy.db');
  writeCanonical(catalog, file, sampleTime.toISOString());
  assert.equal(filesIn(folder), ['copy.db']);
  assert.equal([...readFileSync(file).subarray(18, 20)], [1, 1]);
});

test.run();
