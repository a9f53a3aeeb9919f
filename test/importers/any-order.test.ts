import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { isSlug, reservedSlugs, slugOf } from '../../importers/stigs/slug.ts';
import { sha256 } from '../../src/base/ids.ts';
import { databaseChecks } from '../../src/catalog/checks.ts';
import type { Database } from '../../src/db/database.ts';
import { catalogDigest, storedDigest } from '../../src/db/digest.ts';
import { assertAnyOrder, feed, readReal, unserved } from '../support/any-order.ts';
import { dumpCatalog } from '../support/catalog-dump.ts';
import { dumpControls } from '../support/control-dump.ts';
import { suite, suiteIf } from '../support/harness.ts';
import { putRelease, sampleRelease } from '../support/onet.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { referenceData, shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { type SampleBenchmark, sampleRules, writeXccdf } from '../support/xccdf-writer.ts';
import { controlSamples, partSamples, scapSamples } from './samples.ts';

// Any order, any split into runs, and twice is once: one property over sources of every kind.
const test = suite('sources in any order and any runs');

const folder = scratchFolder();
const filesOf = (samples: Record<string, string>) =>
  Object.entries(samples).map(([name, text]) => put(folder, name, text));

// Releases that meet each other in every way that identity knows: ids that share a title, titles that share
// rules, one version under two ids, two printings of one version, STIG and SRG.
const anySample: fc.Arbitrary<SampleBenchmark> = fc
  .record({
    id: fc.constantFrom(
      ...'Alpha_STIG U_Alpha ALPHA_Server Server_MS_STIG Server_DC_STIG Beta_STIG Gamma_SRG Stats'.split(' '),
    ),
    title: fc.constantFrom(
      'Alpha Server STIG',
      'Vendor Alpha Server STIG',
      'Alpha Server SRG',
      'Beta',
      'Stats STIG',
    ),
    version: fc.integer({ min: 1, max: 2 }),
    release: fc.constantFrom(1, 2, 10),
    date: fc.constantFrom('01 Jan 2024', '15 Feb 2024', null),
    statusDate: fc.constantFrom('2023-12-01', null),
    stem: fc.constantFrom('ONE', 'TWO'),
    first: fc.constantFrom(1000, 1001, 5000),
    size: fc.constantFrom(4, 5, 20),
  })
  .map(({ size, stem, first, ...sample }) => ({ ...sample, rules: sampleRules(size, stem, first) }));

/** Documents of a few ids, publishers and dates, some in one source, some with one text. */
function documents(): Record<string, string> {
  const sample = JSON.parse(readFileSync(shipped('regulatory', 'harbor-basic-directive.json'), 'utf8'));
  const of = (documentId: string, published: string, publisher: string, title: string) => ({
    ...sample,
    document: { ...sample.document, documentId, published, publisher, title },
  });
  const single = ['usability', 'introduction', 'usability-1'].flatMap((id) =>
    ['2020-01-01 NIST', '2020-01-01 Harbor', '2021-01-01 NIST', '2021-01-01 Harbor'].flatMap((stated) => {
      const [date, publisher] = stated.split(' ') as [string, string];
      return ['one', 'two'].map((title) => [of(id, date, publisher, title)]);
    }),
  );
  const several = single
    .slice(0, 4)
    .map(([first], index) => [first, of('appendix', `202${index % 2}-01-01`, 'Harbor', 'three')]);
  return Object.fromEntries(
    [...single, ...several].map((each, at) => [`document${at}.json`, JSON.stringify(each)]),
  );
}

const titled: [title: string, id: string, release: number, year: number][] = [
  ['Thing STIG', 'Thing', 1, 2024],
  ['Thing for Kubernetes STIG', 'Thing', 2, 2025],
  ['Thing for Linux STIG', 'Thing', 3, 2026],
  ['Thing on PostgreSQL STIG', 'Other_Thing', 4, 2027],
  ['Apache Server 2.4 STIG', 'Server', 1, 2024],
  ['Apache Server 2.4 STIG', 'Server', 2, 2025],
];

const roleColumns =
  'stigSlug,occupationCode,confidenceScore,roleResponsibilityLevel,niceWorkRoleId,mappingReason';
const roles = {
  ...Object.fromEntries(
    titled.map(([title, id, release, year]) => {
      const rules = sampleRules(5, id === 'Server' ? 'SERVER' : 'THING-1');
      return [`${id}${release}.xml`, writeXccdf({ title, id, release, date: `12 Jan ${year}`, rules })];
    }),
  ),
  'curated.csv': `${roleColumns}\nthing,15-1244.00,0.95,Primary,,They.\nthing_for_linux,15-1252.00,0.60,Related,,No.\n`,
  'more.csv': `${roleColumns}\napache_server_2_4,15-1251.00,0,Related,,Not here.\n`,
};

const head = (title: string) =>
  `"metadata": {"title": "${title}", "version": "1", "last-modified": "2026-01-01T00:00:00Z"}`;
const harborControl = (id: string) =>
  `{"id": "${id}", "title": "${id}", "parts": [{"name": "statement", "prose": "Moor."}]}`;
const frameworks = {
  'rev5.json': controlSamples['rev5.json']!,
  'harbor.json': `{"catalog": {${head('Harbor Rules')},
    "groups": [{"title": "Piers", "controls": [${harborControl('hb-1')}, ${harborControl('hb-2')}]}]}}`,
  'small.json': `{"profile": {${head('Small Harbor')},
    "imports": [{"href": "harbor.json", "include-controls": [{"with-ids": ["hb-1"]}]}]}}`,
  'map.json': `{"mapping-collection": {${head('Harbor Rules')}, "mappings": [{
    "source-resource": {"type": "catalog", "href": "harbor.json"},
    "target-resource": {"type": "catalog", "href": "sp800-53r5.json"},
    "maps": [{"relationship": "subset-of", "sources": [{"type": "control", "id-ref": "hb-1"}],
      "targets": [{"type": "control", "id-ref": "ac-1"}]}]}]}}`,
};

function releases(): string[] {
  const next = sampleRelease();
  next['Occupation Data.txt']![1]![1] = 'Renamed';
  next['Job Zones.txt']![1]![2] = '02/2026';
  return [putRelease(folder, 'onet', sampleRelease()), putRelease(folder, 'newer', next)];
}

const synonyms = ['one;two,', 'two;three,\nfour;five,', 'four;six,'].map((rows) => `words,reason\n${rows}\n`);

/** Sources that have to do with each other; the first ones of some are in every choice. */
const scenes: { paths: string[]; always?: number }[] = [
  { paths: filesOf(controlSamples) },
  { paths: filesOf(partSamples).slice(0, 4), always: 1 },
  { paths: filesOf(frameworks) },
  { paths: filesOf(scapSamples) },
  { paths: filesOf(documents()) },
  { paths: [shipped('roles'), ...filesOf(roles)] },
  { paths: [...releases(), shipped('stigs'), shipped('regulatory')] },
  {
    paths: [
      ...filesOf(Object.fromEntries(synonyms.map((text, index) => [`words${index}.csv`, text]))),
      shipped('search'),
    ],
  },
];

const scenario = fc
  .record({ scene: fc.constantFrom(...scenes), samples: fc.array(anySample, { maxLength: 5 }) })
  .chain(({ scene: { paths, always = 0 }, samples }) =>
    fc.record({
      picked: fc
        .subarray(paths.slice(always), { maxLength: Math.min(9, paths.length - always) })
        .map((some) => [
          ...paths.slice(0, always),
          ...some,
          ...samples.map((each) => put(folder, `${sha256(JSON.stringify(each))}.xml`, writeXccdf(each))),
        ])
        .chain((all) => fc.shuffledSubarray(all, { minLength: all.length })),
      sizes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 14, maxLength: 14 }),
      given: fc.constantFrom(null, 'alpha_server', 'own_name'),
      runOfGiven: fc.nat(6),
    }),
  );

/** What the catalog is, and what must hold of any. */
function stateOf(db: Database): unknown {
  const { strays, ...dump } = dumpCatalog(db);
  assert.is(strays, 0);
  assert.is(storedDigest(db.sqlite), catalogDigest(db));
  assert.equal(
    databaseChecks.flatMap((check) => [...check.run(db)]),
    [],
  );
  assert.equal(unserved(db), []);
  // Every title and id that a STIG had leads to one STIG, whose slug can be asked for.
  const slugs = new Set(dump.stigs.map(({ slug }) => slug));
  const aliases = new Set(dump.aliases.map(({ alias }) => alias));
  for (const slug of slugs) assert.ok(isSlug(slug) && !reservedSlugs.has(slug) && !aliases.has(slug), slug);
  for (const { title, benchmark_id: id } of dump.releases)
    for (const name of [slugOf(String(title)), id.toLowerCase()])
      assert.ok(slugs.has(name) || aliases.has(name) || reservedSlugs.has(name), `${name} leads nowhere`);
  const rows = (sql: string) => db.sqlite.prepare(sql).raw().all();
  return {
    dump,
    digest: catalogDigest(db),
    controls: dumpControls(db),
    mappings: rows('SELECT * FROM role_mappings ORDER BY id'),
    products: rows('SELECT * FROM mapping_products ORDER BY name'),
    candidates: rows('SELECT * FROM mapping_candidates ORDER BY occupation_code'),
  };
}

test('give what all of them at once give, and so does giving them again, or deriving all anew', async () => {
  const nothing = put(folder, 'nothing.txt', 'of no kind');
  await fc.assert(
    fc.asyncProperty(scenario, async ({ picked, sizes, given, runOfGiven }) => {
      fc.pre(picked.length > 1);
      const overrides = new Map(given === null ? [] : [['Beta_STIG', given]]);
      using once = emptyCatalog();
      using split = emptyCatalog();
      let time = Date.UTC(2026, 0, 1);
      const now = () => {
        time += 1000;
        return new Date(time);
      };
      const take = (db: Database, paths: string[], options: object = {}) =>
        runImport(db, paths, { now, ...options }).then(
          () => true,
          // What one run of all takes may be refused for a part of them, and is given again then.
          (error) => (/cannot share the slug/.test(error.message) ? false : Promise.reject(error)),
        );
      fc.pre(await take(once, [...picked].sort(), { overrides }));
      const rest = [...picked];
      let isGiven = false;
      for (const [index, size] of sizes.entries()) {
        if (rest.length === 0) break;
        const run = rest.splice(0, size);
        const isTime = !isGiven && index >= runOfGiven;
        if (isTime) isGiven = await take(split, run, { overrides });
        if (!isTime || !isGiven) await take(split, run);
      }
      if (!isGiven) fc.pre(await take(split, [nothing], { overrides }));
      const state = stateOf(once);
      assert.equal(stateOf(split), state);
      const generation = split.catalogVersion();
      const again = await runImport(split, picked, { now });
      assert.equal([again.summary.imported, split.catalogVersion()], [0, generation]);
      assert.equal(stateOf(split), state);
      // Rows of another version of the rule make the next run map everything anew.
      split.sqlite.exec("UPDATE role_mappings SET rule = 'another'");
      await take(split, [nothing]);
      assert.equal(stateOf(split), state);
    }),
    { numRuns: 15 },
  );
});

test('releases are ordered by number, not by text or date', async () => {
  const order = ['V1R0.1', 'V1R1.9', 'V1R1.17', 'V1R2', 'V1R9', 'V1R10', 'V2R1', 'V2R1.1', 'V10R1'];
  const paths = order.map((name, index) => {
    const [, version, release] = /^V(\d+)R(.+)$/.exec(name)!;
    return put(
      folder,
      `${name}.xml`,
      writeXccdf({ version: version!, release: release!, date: `0${9 - index} Jan 2024` }),
    );
  });
  using db = emptyCatalog();
  await runImport(db, [...paths].sort());
  assert.equal(
    db.sqlite.prepare('SELECT version FROM stig_releases ORDER BY release_order').pluck().all(),
    order,
  );
  assert.is(dumpCatalog(db).stigs[0]!.current, 'V10R1');
});

test('of two printings of one release the larger is kept, of equal ones the newer', async () => {
  const printings: [name: string, before: SampleBenchmark, after: SampleBenchmark][] = [
    ['benchmark date', { date: '27 Jan 2024' }, { date: '28 Jul 2024' }],
    ['status date', { statusDate: '2023-06-16' }, { statusDate: '2023-07-28' }],
    ['a date where there was none', { date: null }, { date: '28 Jul 2024' }],
  ];
  for (const [name, before, after] of printings)
    for (const [older, newer] of [
      [8, 7],
      [7, 7],
      [7, 8],
    ] as const) {
      const both = [
        put(folder, 'before.xml', writeXccdf({ release: 5, rules: older, ...before })),
        put(folder, 'after.xml', writeXccdf({ release: 5, rules: newer, ...after, description: 'Newer.' })),
      ];
      const kept = older > newer ? 0 : 1;
      for (const order of [both, [...both].reverse()]) {
        using db = emptyCatalog();
        const lines = [];
        for (const path of order) lines.push(...(await runImport(db, [path])).lines);
        const { releases: served, superseded } = dumpCatalog(db);
        assert.equal([served.length, superseded.length], [1, 1], name);
        assert.is(served[0]!.description === 'Newer.', kept === 1, name);
        const few = Math.min(older, newer);
        assert.is(superseded[0]![3], few, 'its rules are there still');
        if (order[0] !== both[kept]) continue;
        assert.equal([lines[1]!.outcome, lines[1]!.target], ['superseded', 'sample_product']);
        assert.match(lines[1]!.reason!, new RegExp(`it has ${few} of the ${few} rules of this one$`));
      }
    }
});

test.run();

const real = suiteIf(referenceData, 'the real benchmarks, in any order and any runs');
if (real) {
  const all = await readReal();

  real('random sets, orders and splits; more of them with --deep', () => assertAnyOrder(all, 6));

  real('all of them: at once, and newest first', async () => {
    const date = ({ release }: (typeof all)[number]) => release.benchmarkDate ?? release.statusDate ?? '';
    const newestFirst = [...all].sort((a, b) => (date(a) < date(b) ? 1 : -1)).map((each) => [each]);
    const dumpOf = async (runs: (typeof all)[]) => {
      using db = emptyCatalog();
      await feed(db, runs);
      assert.equal(unserved(db), []);
      return dumpCatalog(db);
    };
    const [once, other] = [await dumpOf([all]), await dumpOf(newestFirst)];
    assert.equal(other, once);
    const versions = (slug: string) =>
      once.releases.flatMap((release) =>
        release.slug === slug ? `${release.benchmark_id} ${release.version} ${release.finding_count}` : [],
      );
    for (const [slug, ...expected] of [
      ['microsoft_windows_server_2025', 'MS_Windows_Server_2025_STIG V1R1 284'],
      ['ms_windows_server_2025_ms', 'MS_Windows_Server_2025_MS_STIG V1R1 239'],
      ['red_hat_enterprise_linux_8', 'RHEL_8 V1R11 375', 'RHEL_8_STIG V1R12 375'],
      ['microsoft_windows_11', 'Windows_11_STIG V1R1 248', 'Microsoft_Windows_11_STIG V2R2 258'],
    ])
      assert.equal(versions(slug!), expected);
    assert.is(versions('mozilla_firefox').length, 5);
  });

  real.run();
}
