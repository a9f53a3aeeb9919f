import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import type { Database } from '../../src/db/database.ts';
import { catalogDigests } from '../../src/db/digest.ts';
import { dumpCatalog, importTexts, tableDigests } from '../support/catalog-dump.ts';
import { suite } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { hasReferenceData, reference, shipped } from '../support/reference.ts';
import { type SampleBenchmark, sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

async function dumpAfter(...runs: (string | Uint8Array)[][]) {
  const db = emptyCatalog();
  for (const texts of runs) await importTexts(db, texts);
  const dump = dumpCatalog(db);
  assert.is(dump.strays, 0);
  assertCurrentIsNewest(db);
  db.close();
  return dump;
}

/** The served release of every STIG is the one that the order of rule F2.1 puts last. */
function assertCurrentIsNewest(db: Database): void {
  const rows = db.sqlite
    .prepare(
      `SELECT s.slug, s.title, c.title AS currentTitle, c.release_order AS current,
              (SELECT max(release_order) FROM stig_releases WHERE stig_id = s.id) AS newest
         FROM stigs AS s LEFT JOIN stig_releases AS c ON c.id = s.current_release_id`,
    )
    .all() as Record<string, string>[];
  for (const row of rows) {
    assert.is(row.current, row.newest, row.slug);
    assert.is(row.title, row.currentTitle, row.slug);
  }
  const current = db.sqlite.prepare(
    'SELECT current_release_id FROM stigs WHERE current_release_id IS NOT NULL ORDER BY 1',
  );
  const searched = db.sqlite.prepare('SELECT release_id FROM searched_releases ORDER BY 1');
  assert.equal(searched.pluck().all(), current.pluck().all(), 'what is searched is what is current');
}

function countsOf({ summary }: Awaited<ReturnType<typeof importTexts>>) {
  const { imported, unchanged, superseded, skipped, rejected } = summary;
  return { imported, unchanged, superseded, skipped, rejected };
}

// Releases that meet each other in every way that identity knows: ids that share a title, titles that share
// Rules, one version under two ids, two printings of one version, STIG and SRG.
const anySample: fc.Arbitrary<SampleBenchmark> = fc
  .record({
    id: fc.constantFrom('Alpha_STIG', 'ALPHA_Server', 'Beta_STIG', 'U_Beta', 'Gamma_SRG', 'Delta_STIG'),
    title: fc.constantFrom(
      'Alpha Server Security Technical Implementation Guide',
      'Vendor Alpha Server STIG',
      'Alpha Server Security Requirements Guide',
      'Beta',
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

const synthetic = suite('order of the files in one run: synthetic benchmarks');

synthetic('the catalog does not depend on it', async () => {
  const scenario = fc
    .array(anySample, { minLength: 2, maxLength: 7 })
    .chain((samples) => fc.tuple(fc.constant(samples), shuffled(samples), shuffled(samples)));
  await fc.assert(
    fc.asyncProperty(scenario, async ([samples, second, third]) => {
      const text = (list: SampleBenchmark[]) => list.map((sample) => writeXccdf(sample));
      const dump = await dumpAfter(text(samples));
      assert.equal(await dumpAfter(text(second)), dump);
      assert.equal(await dumpAfter(text(third)), dump);
    }),
    { numRuns: 150 },
  );
});

synthetic(
  'nor on how they are split into runs, nor does the digest; overrides mean the same at any time',
  async () => {
    const scenario = fc.array(anySample, { minLength: 2, maxLength: 7 }).chain((samples) =>
      fc.record({
        order: shuffled(samples),
        sizes: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 7, maxLength: 7 }),
        given: fc.constantFrom(null, 'alpha_server', 'own_name'),
        runOfGiven: fc.nat(6),
      }),
    );
    await fc.assert(
      fc.asyncProperty(scenario, async ({ order, sizes, given, runOfGiven }) => {
        const texts = order.map((sample) => writeXccdf(sample));
        const options = given === null ? {} : { overrides: new Map([['Beta_STIG', given]]) };
        const once = emptyCatalog();
        const split = emptyCatalog();
        const refused = await importTexts(once, texts, options).then(
          () => false,
          (error) => /cannot share the slug/.test(error.message) || Promise.reject(error),
        );
        if (refused) return;
        const rest = [...texts];
        let failed = false;
        for (const [index, size] of sizes.entries()) {
          const run = rest.splice(0, size);
          // What one run of all takes may be refused for a part of them, and is given again then.
          const isTime = index >= runOfGiven || rest.length === 0;
          if (run.length === 0 && !isTime) break;
          const work = importTexts(split, run, isTime ? options : {});
          failed = await work.then(
            () => false,
            (error) => /cannot share the slug/.test(error.message) || Promise.reject(error),
          );
          if (failed) await importTexts(split, run);
        }
        if (failed) return;
        assert.equal(dumpCatalog(split), dumpCatalog(once));
        assert.equal(catalogDigests(split), catalogDigests(once));
        once.close();
        split.close();
      }),
      { numRuns: 80 },
    );
  },
);

synthetic('importing twice is importing once, whatever is in the files', async () => {
  const some = fc.array(anySample, { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(some, async (samples) => {
      const texts = samples.map((sample) => writeXccdf(sample));
      const db = emptyCatalog();
      await importTexts(db, texts);
      const before = { dump: dumpCatalog(db), generation: db.generation() };
      const again = await importTexts(db, texts);
      assert.equal({ dump: dumpCatalog(db), generation: db.generation() }, before);
      assert.is(again.summary.imported, 0);
      db.close();
    }),
    { numRuns: 80 },
  );
});

synthetic('a file that occurs twice in one run counts once', async () => {
  const text = writeXccdf();
  const db = emptyCatalog();
  const result = await importTexts(db, [text, text, text]);
  assert.equal(
    result.lines.map((line) => [line.outcome, line.target]),
    [
      ['imported', 'sample_product'],
      ['unchanged', 'sample_product'],
      ['unchanged', 'sample_product'],
    ],
  );
  assert.equal(dumpCatalog(db), await dumpAfter([text]));
});

synthetic(
  'an older release that comes later is kept and not served; served again it changes nothing',
  async () => {
    const newer = writeXccdf({ version: 2, release: 10, date: '01 Feb 2025', title: 'New Name STIG' });
    const older = writeXccdf({ version: 2, release: 9, date: '01 Mar 2025', title: 'Old Name STIG' });
    const db = emptyCatalog();
    await importTexts(db, [newer]);
    const result = await importTexts(db, [older]);
    assert.equal(
      result.lines.map((line) => [line.outcome, line.target]),
      [['imported', 'new_name']],
    );
    assert.equal(
      dumpCatalog(db).stigs.map(({ slug, title, current }) => [slug, title, current]),
      [['new_name', 'New Name STIG', 'V2R10']],
    );
    const before = tableDigests(db);
    const generation = db.generation();
    const again = await importTexts(db, [older]);
    assert.equal(
      again.lines.map((line) => [line.outcome, line.target]),
      [['unchanged', 'new_name']],
    );
    assert.equal(tableDigests(db), before);
    assert.is(db.generation(), generation);
  },
);

synthetic('releases are ordered by number, not by text or date', async () => {
  const versions = ['V1R2', 'V1R9', 'V1R10', 'V1R1.9', 'V1R1.17', 'V1R0.1', 'V10R1', 'V2R1', 'V2R1.1'];
  const texts = versions.map((name, index) => {
    const [, version, release] = /^V(\d+)R(.+)$/.exec(name)!;
    return writeXccdf({ version: version!, release: release!, date: `0${9 - index} Jan 2024` });
  });
  const db = emptyCatalog();
  const result = await importTexts(db, texts);
  assert.is(result.summary.imported, versions.length);
  const stored = db.sqlite.prepare('SELECT version FROM stig_releases ORDER BY release_order').pluck().all();
  const order = ['V1R0.1', 'V1R1.9', 'V1R1.17', 'V1R2', 'V1R9', 'V1R10', 'V2R1', 'V2R1.1', 'V10R1'];
  assert.equal(stored, order);
  assert.is(dumpCatalog(db).stigs[0]!.current, 'V10R1');
});

const printings: [string, SampleBenchmark, SampleBenchmark][] = [
  ['benchmark date', { date: '27 Jan 2024' }, { date: '28 Jul 2024' }],
  ['status date', { statusDate: '2023-06-16' }, { statusDate: '2023-07-28' }],
  ['a date where there was none', { date: null }, { date: '28 Jul 2024' }],
];

for (const [name, before, after] of printings) {
  synthetic(
    `two printings of one version and release (${name}): the larger is kept, of equal ones the newer`,
    async () => {
      for (const [rulesOfOlder, rulesOfNewer] of [
        [8, 7],
        [7, 7],
        [7, 8],
      ] as const) {
        const older = writeXccdf({ version: 1, release: 5, rules: rulesOfOlder, ...before });
        const newer = writeXccdf({ version: 1, release: 5, rules: rulesOfNewer, ...after });
        const [kept, other] = rulesOfOlder > rulesOfNewer ? [older, newer] : [newer, older];
        const once = await dumpAfter([older, newer]);
        assert.equal([once.releases.length, once.superseded.length], [1, 1]);
        assert.match(once.releases[0]!.findings, new RegExp(`^${Math.max(rulesOfOlder, rulesOfNewer)} rows`));
        assert.is(once.superseded[0]![3], Math.min(rulesOfOlder, rulesOfNewer), 'its rules are there still');
        for (const runs of [
          [[newer, older]],
          [[older], [newer]],
          [[newer], [older]],
          [[newer], [older], [older, newer]],
        ])
          assert.equal(await dumpAfter(...runs), once);

        const db = emptyCatalog();
        await importTexts(db, [kept]);
        const late = await importTexts(db, [other]);
        assert.equal(countsOf(late), { imported: 0, unchanged: 0, superseded: 1, skipped: 0, rejected: 0 });
        const few = Math.min(rulesOfOlder, rulesOfNewer);
        assert.match(late.lines[0]!.reason!, new RegExp(`it has ${few} of the ${few} rules of this one$`));
        assert.is(late.lines[0]!.target, 'sample_product');
        db.close();
      }
    },
  );
}

synthetic('two printings that no date tells apart: the same one is kept whatever the order', async () => {
  const one = writeXccdf({ rules: 8, description: 'One.' });
  const two = writeXccdf({ rules: 8, description: 'Two.' });
  const dump = await dumpAfter([one, two]);
  assert.is(dump.releases.length, 1);
  assert.equal(await dumpAfter([two, one]), dump);
  assert.equal(await dumpAfter([two], [one]), dump);
  assert.equal(await dumpAfter([one], [two]), dump);
});

synthetic('a rejected and a skipped file between the others change nothing', async () => {
  const good = [writeXccdf({ release: 1 }), writeXccdf({ release: 2 })];
  const dump = await dumpAfter(good);
  assert.equal(await dumpAfter(['<broken', good[1]!, '<html></html>', good[0]!, 'text']), dump);
  assert.equal(await dumpAfter([good[0]!, writeXccdf({ release: 3 }).slice(0, -20), good[1]!]), dump);
});

synthetic.run();

const real = suite('order of the files in one run: real files');
const files = hasReferenceData
  ? [
      'disa-stig-firefox-v4r11-xccdf-manual.xml',
      'U_Mozilla_FireFox_STIG_V4R24_Manual-xccdf.xml',
      'U_Mozilla_FireFox_V4R27_Manual-xccdf.xml',
      'U_MOZ_Firefox_STIG_V6R6_Manual-xccdf.xml',
      'U_MOZ_Firefox_STIG_V6R7_Manual-xccdf.xml',
      'U_Google_Chrome_STIG_V1R12_Manual-xccdf.xml',
      'U_Google_Chrome_STIG_V2R11_Manual-xccdf.xml',
      'U_Kubernetes_STIG_V1R1_Manual-xccdf.xml',
      'U_Kubernetes_STIG_V1R2_Manual-xccdf.xml',
      'U_Citrix_XenDesktop_7-x_StoreFront_V1R1_STIG.xml',
    ].map((name) => reference('xccdf', name))
  : [
      'U_Harbor_Linux_3_STIG_V1R1_Manual-xccdf.xml',
      'U_Harbor_Linux_3_STIG_V1R2_Manual-xccdf.xml',
      'U_Lantern_Web_Server_2_STIG_V2R3_Manual-xccdf.xml',
    ].map((name) => shipped('stigs', name));

real('the catalog does not depend on it', async () => {
  const synthetics = [
    writeXccdf(),
    writeXccdf({
      id: 'Firefox_Copy',
      title: 'Mozilla Firefox STIG',
      version: 6,
      release: 8,
      date: '01 Feb 2026',
    }),
    writeXccdf({ id: 'Kubernetes_Policy', title: 'Kubernetes STIG', version: 1, release: 2 }),
  ].map((text) => Buffer.from(text));
  const all = [...files.map((file) => readFileSync(file)), ...synthetics];
  const dump = await dumpAfter(all);
  assert.is(dump.releases.length, all.length);
  await fc.assert(
    fc.asyncProperty(shuffled(all), async (order) => {
      assert.equal(await dumpAfter(order), dump);
    }),
    { numRuns: 12 },
  );
});

real('nor on the runs: one by one, oldest first and newest first', async () => {
  const all = files.map((file) => readFileSync(file));
  const dump = await dumpAfter(all);
  assert.equal(await dumpAfter(...all.map((file) => [file])), dump);
  assert.equal(await dumpAfter(...[...all].reverse().map((file) => [file])), dump);
});

real.run();

function shuffled<T>(list: T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length });
}
