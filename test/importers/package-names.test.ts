import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import type { Database } from '../../src/db/database.ts';
import { catalogDigest } from '../../src/db/digest.ts';
import { suite, testIf } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { reference, referenceData } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { type SampleBenchmark, writeXccdf } from '../support/xccdf-writer.ts';
import { makeZip, type ZipEntry } from '../support/zip.ts';

// What DISA calls its packages by now: a year and a month for several benchmarks, `_Products` for several packages.
const packages = suite('Names of packages');

interface Product extends SampleBenchmark {
  name: string;
}

const product = (name: string, version: number, release: number, first: number, date = '01 Jul 2026') => ({
  name,
  id: `${name}_STIG`,
  title: `${name.replaceAll('_', ' ')} Security Technical Implementation Guide`,
  version,
  release,
  date,
  first,
  stem: name.toUpperCase().slice(-9),
});

/** The members of a package for one product: its folder with style sheet, and papers beside it. */
function membersOf(sample: Product): ZipEntry[] {
  const { name, version, release } = sample;
  const folder = `U_${name}_V${version}R${release}_Manual_STIG/`;
  return [
    { name: folder },
    {
      name: `${folder}U_${name}_STIG_V${version}R${release}_Manual-xccdf.xml`,
      data: writeXccdf(sample),
    },
    { name: `${folder}STIG_unclass.xsl`, data: '<stylesheet/>' },
    { name: `U_${name}_Overview.pdf`, data: '%PDF-1.7' },
  ];
}

const packageOf = (...products: Product[]) =>
  makeZip([{ name: 'U_Readme_SRG_and_STIG.pdf', data: '%PDF-1.7' }, ...products.flatMap(membersOf)]);

const served = (db: Database) =>
  db.sqlite
    .prepare(
      `SELECT r.benchmark_id, r.version, r.finding_count FROM stigs AS s
         JOIN stig_releases AS r ON r.id = s.current_release_id ORDER BY 1`,
    )
    .raw()
    .all();

const router = [product('Keel_Router_NDM', 3, 7, 200_001), product('Keel_Router_RTR', 3, 4, 210_001)];
const phone = [product('Keel_Phone_17_COBO', 1, 2, 220_001), product('Keel_Phone_17_COPE', 1, 2, 230_001)];
const expected = [...router, ...phone]
  .map(({ id, version, release }) => [id, `V${version}R${release}`, 3])
  .sort();

packages('a year and a month name the package, never a version: each benchmark says its own', async () => {
  const db = emptyCatalog();
  const folder = scratchFolder();
  const { summary, lines } = await runImport(db, [
    put(folder, 'U_Keel_Phone_17_Y26M07_STIG.zip', packageOf(...phone)),
    put(folder, 'U_Keel_Router_Y26M07_Products.zip', packageOf(...router)),
  ]);
  assert.equal(served(db), expected);
  assert.is(summary.rejected, 0);
  assert.is(lines.filter(({ kind, outcome }) => kind === 'xccdf' && outcome === 'imported').length, 4);
  assert.not.match(
    JSON.stringify(db.sqlite.prepare('SELECT slug, title FROM stigs').all()),
    /Y26M07|Products/i,
  );
  db.close();
});

packages(
  'packages in a package of products in the library give the same, and come twice without harm',
  async () => {
    const digests = [];
    for (const nested of [false, true]) {
      const db = emptyCatalog();
      const products = nested
        ? makeZip(
            router.map((each) => ({
              name: `U_${each.name}_V${each.version}R${each.release}_STIG.zip`,
              data: packageOf(each),
            })),
          )
        : packageOf(...router);
      const library = makeZip([
        { name: 'U_SRG-STIG_Library_Readme.txt', data: 'July 2026' },
        { name: 'U_Keel_Router_Y26M07_Products.zip', data: products },
        { name: 'U_Keel_Phone_17_Y26M07_STIG.zip', data: packageOf(...phone) },
        { name: 'U_Keel_Router_NDM_V3R7_STIG.zip', data: packageOf(router[0]!) },
      ]);
      const { summary, lines } = await runImport(db, [
        put(scratchFolder(), 'U_SRG-STIG_Library_July_2026.zip', library),
      ]);
      assert.equal(served(db), expected, `nested ${nested}`);
      assert.equal([summary.rejected, lines.filter(({ kind }) => kind === 'xccdf').length], [0, 5]);
      assert.is(lines.filter(({ kind, outcome }) => kind === 'xccdf' && outcome === 'unchanged').length, 1);
      digests.push(catalogDigest(db));
      db.close();
    }
    assert.is(digests[0], digests[1]);
  },
);

packages(
  'a package named by a later month does not outdo a release that is newer by its own words',
  async () => {
    const [former, current] = [
      product('Keel_Console', 1, 5, 240_001, '20 Jan 2015'),
      product('Keel_Console', 2, 1, 240_001, '24 Jul 2024'),
    ];
    const files = { 'U_Keel_Console_Y27M01_STIG.zip': former, 'U_Keel_Console_V2R1_STIG.zip': current };
    for (const names of [Object.keys(files), Object.keys(files).reverse()] as (keyof typeof files)[][]) {
      const db = emptyCatalog();
      const folder = scratchFolder();
      for (const name of names) await runImport(db, [put(folder, name, packageOf(files[name]))]);
      assert.equal(served(db), [['Keel_Console_STIG', 'V2R1', 3]]);
      db.close();
    }
  },
);

packages('one broken benchmark of a package is named, the others are taken', async () => {
  const db = emptyCatalog();
  const members = router.flatMap(membersOf);
  const broken = members.find(({ name }) => /NDM.+xccdf\.xml$/.test(String(name)))!;
  broken.data = String(broken.data).slice(0, -30);
  const zip = put(scratchFolder(), 'U_Keel_Router_Y26M07_Products.zip', makeZip(members));
  const { lines } = await runImport(db, [zip]);
  assert.equal(served(db), [['Keel_Router_RTR_STIG', 'V3R4', 3]]);
  const rejected = lines.filter(({ outcome }) => outcome === 'rejected');
  assert.is(rejected.length, 1);
  assert.match(rejected[0]!.source, /Products\.zip!\/U_Keel_Router_NDM_V3R7_Manual_STIG\/.+xccdf\.xml$/);
  db.close();
});

/** Registers a test that needs the publishers’ files. */
const onReal = testIf(referenceData, packages);

onReal('all real benchmarks in one package of products are those of the folder', async () => {
  const names = readdirSync(reference('xccdf')).filter((name) => name.endsWith('.xml'));
  assert.ok(names.length > 30);
  const folder = emptyCatalog();
  await runImport(folder, [reference('xccdf')]);
  const zip = makeZip(
    names.map((name) => ({
      name: `${basename(name, '.xml')}/${name}`,
      data: readFileSync(reference('xccdf', name)),
    })),
  );
  const packed = emptyCatalog();
  await runImport(packed, [put(scratchFolder(), 'U_Everything_Y26M07_Products.zip', zip)]);
  assert.equal(served(packed), served(folder));
  assert.is(catalogDigest(packed), catalogDigest(folder));
  folder.close();
  packed.close();
});

packages.run();
