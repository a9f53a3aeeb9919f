import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import type { Database } from '../../src/db/database.ts';
import { dumpCatalog } from '../support/catalog-dump.ts';
import { suite } from '../support/harness.ts';
import { emptyCatalog } from '../support/prepared.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

const folder = scratchFolder();
let files = 0;
const file = (text: string) => put(folder, `${++files}`, text);

/** Releases that change their title, follow or precede each other, share a version, or come under another id. */
const benchmarks = [
  { id: 'Thing', title: 'Thing STIG', release: 1, date: '12 Jan 2024', stem: 'THING-1' },
  { id: 'Thing', title: 'Thing for Kubernetes STIG', release: 2, date: '12 Jan 2025', stem: 'THING-1' },
  { id: 'Thing', title: 'Thing for Linux STIG', release: 3, date: '12 Jan 2026', stem: 'THING-1' },
  { id: 'Thing', title: 'Thing for Windows 10 STIG', release: 3, date: '13 Jan 2026', stem: 'THING-1' },
  { id: 'Other_Thing', title: 'Thing on PostgreSQL STIG', release: 4, date: '12 Feb 2026', stem: 'THING-1' },
  { id: 'Server', title: 'Apache Server 2.4 STIG', release: 1, date: '12 Jan 2024', stem: 'SERVER' },
  { id: 'Server', title: 'Apache Server 2.4 STIG', release: 2, date: '12 Jan 2025', stem: 'SERVER' },
  { id: 'Chrome', title: 'Google Chrome STIG', release: 1, date: '12 Jan 2024', stem: 'CHROME' },
].map(({ stem, ...benchmark }) => file(writeXccdf({ ...benchmark, rules: sampleRules(5, stem) })));

const curated = [
  'thing,15-1244.00,0.95,Primary,,They run it.\nthing_for_linux,15-1252.00,0.60,Related,,Sometimes.',
  'apache_server_2_4,15-1251.00,0,Related,,Not here.\nthing,15-1244.00,0.55,Related,,Not any more.',
].map((rows) =>
  file(
    `stigSlug,occupationCode,confidenceScore,roleResponsibilityLevel,niceWorkRoleId,mappingReason\n${rows}\n`,
  ),
);

const sources = [...benchmarks, ...curated, shipped('roles')];

/** What is derived from STIGs and roles, whole. */
function derived(db: Database) {
  const rows = (sql: string) => db.sqlite.prepare(sql).raw().all();
  return {
    mappings: rows('SELECT * FROM role_mappings ORDER BY id'),
    products: rows('SELECT * FROM mapping_products ORDER BY name'),
    candidates: rows('SELECT * FROM mapping_candidates ORDER BY occupation_code'),
    occupations: rows('SELECT * FROM occupations ORDER BY occupation_code'),
    ...dumpCatalog(db),
  };
}

const test = suite('what runs update is what rebuilding gives');

test('in any order, in any number of runs', async () => {
  const nothing = file('of no kind');
  let mapped = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(sources, { minLength: 2 }),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: sources.length, maxLength: sources.length }),
      async (order, sizes) => {
        const db = emptyCatalog();
        const rest = [...order];
        // Each run is later than the one before it: a curated row counts as the last import states it.
        let time = Date.UTC(2026, 0, 1);
        const now = () => {
          time += 1000;
          return new Date(time);
        };
        for (const size of sizes) if (rest.length > 0) await runImport(db, rest.splice(0, size), { now });
        const updated = derived(db);
        // Rows of another version of the rule make the next run build everything anew.
        db.sqlite.exec("UPDATE role_mappings SET rule = 'another'");
        await runImport(db, [nothing], { now });
        assert.equal(derived(db), updated);
        mapped += updated.mappings.length;
        db.close();
      },
    ),
    { numRuns: 40 },
  );
  assert.ok(mapped > 40, `${mapped} rows were compared`);
});

test('a run that brings one STIG maps no other', async () => {
  const db = emptyCatalog();
  await runImport(db, [shipped('roles'), shipped('stigs'), benchmarks[7]!]);
  const others = "SELECT count(*) FROM role_mappings WHERE mapping_reason = 'untouched'";
  db.sqlite.exec("UPDATE role_mappings SET mapping_reason = 'untouched'");
  const before = db.sqlite.prepare(others).pluck().get() as number;
  await runImport(db, [benchmarks[6]!]);
  assert.ok(before > 0);
  assert.is(db.sqlite.prepare(others).pluck().get(), before);
  db.close();
});

test.run();
