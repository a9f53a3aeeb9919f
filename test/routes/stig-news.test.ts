import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { openCatalog, openDatabase } from '../../src/db/database.ts';
import { testApp } from '../support/app.ts';
import { writeBenchmarks } from '../support/benchmarks.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { scratchFolder } from '../support/scratch.ts';
import { loggedApp } from '../support/service.ts';
import { filesOf } from '../support/site.ts';
import { rowsOf } from '../support/tables.ts';

const news = suite('STIG statistics and changelog');

const shippedStats = {
  catalog: { totalBenchmarks: 2, totalFindings: 25, totalProfiles: 18 },
  severity: { high: 7, medium: 14, low: 4 },
  latestRelease: {
    slug: 'lantern_web_server_2',
    title: 'Lantern Web Server 2 Security Technical Implementation Guide',
    releaseDate: '2026-07-01',
  },
};

const release = (id: string, version: number, number: number, date: string | null, more = {}) => ({
  ...{
    id: `${id}_STIG`,
    title: `${id} STIG`,
    version,
    release: number,
    date,
    rules: 2,
    stem: id.toUpperCase(),
  },
  first: { Alpha: 1000, Beta: 2000, Gamma: 3000, Delta: 4000 }[id]!,
  ...more,
});

// Written in no order at all; what the changelog must make of it stands below.
const releases = [
  release('Alpha', 2, 10, '01 Mar 2024'),
  release('Beta', 1, 1, '01 Mar 2024'),
  release('Alpha', 1, 1, '05 Jan 2020'),
  release('Gamma', 1, 1, null, { statusDate: null }),
  release('Alpha', 2, 9, '30 Nov 2023', { title: 'Alpha old name STIG' }),
  release('Delta', 1, 2, '07 Jul 2022'),
  release('Delta', 1, 1, '07 Jul 2022'),
  release('Delta', 0, 3, null, { statusDate: '2019-02-28' }),
];
const changelog = rowsOf(`
  alpha | Alpha STIG | V2R10 | V2R9 | 2024-03-01
  beta | Beta STIG | V1R1 | | 2024-03-01
  alpha | Alpha old name STIG | V2R9 | V1R1 | 2023-11-30
  delta | Delta STIG | V1R2 | V1R1 | 2022-07-07
  delta | Delta STIG | V1R1 | V0R3 | 2022-07-07
  alpha | Alpha STIG | V1R1 | | 2020-01-05
  delta | Delta STIG | V0R3 | | 2019-02-28
  gamma | Gamma STIG | V1R1 | |
`).map((row) => {
  const [slug, title, newVersion, previousVersion, releaseDate] = row.map((cell) => cell || null);
  return { slug, title, newVersion, previousVersion, releaseDate };
});

const path = '/api/v1/stigs/changelog';

news(
  'stats count the current releases only; the latest is the first of the changelog, dated or not',
  async () => {
    const zero = {
      catalog: { totalBenchmarks: 0, totalFindings: 0, totalProfiles: 0 },
      severity: { high: 0, medium: 0, low: 0 },
      latestRelease: null,
    };
    const last = (slug: string, releaseDate: string | null) => ({
      slug,
      title: changelog.find((each) => each.slug === slug)!.title,
      releaseDate,
    });
    const gamma = writeBenchmarks([release('Gamma', 1, 1, null, { statusDate: null })]);
    for (const [paths, wanted] of [
      [[shipped('stigs')], shippedStats],
      [[], zero],
      [[writeBenchmarks(releases)], { latestRelease: last('alpha', '2024-03-01') }],
      [[gamma], { latestRelease: last('gamma', null) }],
    ] as const) {
      const t = await testApp([...paths]);
      const { json } = await t.get('/api/v1/stigs/stats');
      assert.equal({ ...json, ...wanted }, json);
      t.db.close();
    }
  },
);

news('stats are counted again at once when an import changes the catalog', async () => {
  const t = await testApp([shipped('stigs')]);
  assert.equal((await t.get('/api/v1/stigs/stats')).json, shippedStats);
  await runImport(t.db, [writeBenchmarks([release('Beta', 1, 1, '02 Aug 2026')])]);
  const { json } = await t.get('/api/v1/stigs/stats');
  assert.equal(json, {
    catalog: { totalBenchmarks: 3, totalFindings: 27, totalProfiles: 18 },
    severity: { high: 7, medium: 16, low: 4 },
    latestRelease: { slug: 'beta', title: 'Beta STIG', releaseDate: '2026-08-02' },
  });
  t.db.close();
});

news('stats, list and record follow an import of another process at once', async () => {
  const file = join(scratchFolder(), 'g.db');
  const writer = openCatalog(file, { create: true });
  const reader = openDatabase(filesOf(file));
  const { app } = loggedApp(reader);
  const get = async (url: string) => {
    const response = await app.request(url, { headers: { Authorization: 'Bearer x' } });
    return { status: response.status, json: JSON.parse(await response.text()) };
  };
  assert.is((await get('/api/v1/stigs/stats')).json.catalog.totalBenchmarks, 0);
  assert.is((await get('/api/v1/stigs/harbor_linux_3')).status, 404);
  await runImport(writer, [shipped('stigs')]);
  assert.equal((await get('/api/v1/stigs/stats')).json, shippedStats);
  assert.is((await get('/api/v1/stigs')).json.pagination.total, 2);
  assert.is((await get('/api/v1/stigs/harbor_linux_3')).status, 200);
  reader.close();
  writer.close();
});

news(
  'changelog: an entry a retained release, newest date first, previousVersion the next lower retained',
  async () => {
    const t = await testApp([writeBenchmarks(releases)]);
    const pagination = { page: 1, limit: 50, total: 8, totalPages: 1 };
    assert.equal((await t.get(path)).json, { changes: changelog, pagination });
    // Those without a date are never since a day.
    for (const [query, wanted] of [
      ['since=2022-07-07', changelog.slice(0, 5)],
      ['since=1900-01-01', changelog.slice(0, 7)],
      ['since=2022-07-07&slug=delta', changelog.slice(3, 5)],
    ] as const)
      assert.equal((await t.get(`${path}?${query}`)).json.changes, wanted, query);
    t.db.close();
  },
);

news.run();
