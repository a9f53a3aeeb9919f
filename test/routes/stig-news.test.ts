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
  id: `${id}_STIG`,
  title: `${id} STIG`,
  version,
  release: number,
  date,
  rules: 2,
  stem: id.toUpperCase(),
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

const change = (
  slug: string,
  newVersion: string,
  previousVersion: string | null,
  releaseDate: string | null,
) => ({
  slug: slug.toLowerCase(),
  title: `${slug} STIG`,
  newVersion,
  previousVersion,
  releaseDate,
});

const changelog = [
  change('Alpha', 'V2R10', 'V2R9', '2024-03-01'),
  change('Beta', 'V1R1', null, '2024-03-01'),
  { ...change('Alpha', 'V2R9', 'V1R1', '2023-11-30'), title: 'Alpha old name STIG' },
  change('Delta', 'V1R2', 'V1R1', '2022-07-07'),
  change('Delta', 'V1R1', 'V0R3', '2022-07-07'),
  change('Alpha', 'V1R1', null, '2020-01-05'),
  change('Delta', 'V0R3', null, '2019-02-28'),
  change('Gamma', 'V1R1', null, null),
];

const path = '/api/v1/stigs/changelog';

news('stats count the current releases only', async () => {
  const t = await testApp([shipped('stigs')]);
  const { status, json } = await t.get('/api/v1/stigs/stats');
  assert.is(status, 200);
  assert.equal(json, shippedStats);
  assert.equal(Object.keys(json), ['catalog', 'severity', 'latestRelease']);
  t.db.close();
});

news('stats of an empty catalog are zero, latestRelease null', async () => {
  const t = await testApp();
  assert.equal((await t.get('/api/v1/stigs/stats')).json, {
    catalog: { totalBenchmarks: 0, totalFindings: 0, totalProfiles: 0 },
    severity: { high: 0, medium: 0, low: 0 },
    latestRelease: null,
  });
  t.db.close();
});

news('stats: latestRelease is the first of the changelog, dated or not', async () => {
  const dated = await testApp([writeBenchmarks(releases)]);
  assert.equal((await dated.get('/api/v1/stigs/stats')).json.latestRelease, {
    slug: 'alpha',
    title: 'Alpha STIG',
    releaseDate: '2024-03-01',
  });
  dated.db.close();
  const dateless = await testApp([writeBenchmarks([release('Gamma', 1, 1, null, { statusDate: null })])]);
  assert.equal((await dateless.get('/api/v1/stigs/stats')).json.latestRelease, {
    slug: 'gamma',
    title: 'Gamma STIG',
    releaseDate: null,
  });
  dateless.db.close();
});

news('stats are kept for five minutes and then counted again, also when the clock is set back', async () => {
  const t = await testApp([shipped('stigs')]);
  const high = async () => {
    const { json } = await t.get('/api/v1/stigs/stats', { token: await t.token() });
    return json.severity.high;
  };
  const start = t.clock.now.getTime();
  // No import: the catalog's generation stays, so only time can tell that the count is stale.
  const change = () => t.db.sqlite.exec('UPDATE stig_printings SET high = high + 1');
  assert.is(await high(), 7);
  change();
  t.clock.now = new Date(start + 5 * 60_000 - 1);
  assert.is(await high(), 7, 'within five minutes');
  t.clock.now = new Date(start + 5 * 60_000);
  assert.is(await high(), 9, 'after five minutes');
  change();
  t.clock.now = new Date(start - 86_400_000);
  assert.is(await high(), 11, 'a day earlier');
  t.db.close();
});

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
    const { status, json } = await t.get(path);
    assert.is(status, 200);
    assert.equal(json, {
      changes: changelog,
      pagination: { page: 1, limit: 50, total: 8, totalPages: 1 },
    });
    assert.equal(
      Object.keys(json.changes[0]),
      'slug title newVersion previousVersion releaseDate'.split(' '),
    );
    t.db.close();
  },
);

news('changelog: since takes releases of that day and later, never those without a date', async () => {
  const t = await testApp([writeBenchmarks(releases)]);
  const versions = async (query: string) => {
    const { json } = await t.get(`${path}?${query}`);
    assert.is(json.pagination.total, json.changes.length);
    return json.changes;
  };
  assert.equal(await versions('since=2022-07-07'), changelog.slice(0, 5));
  assert.equal(await versions('since=2022-07-08'), changelog.slice(0, 3));
  assert.equal(await versions('since=1900-01-01'), changelog.slice(0, 7));
  // A time counts for its date, whatever zone it is of.
  for (const time of ['T00:00:00Z', 'T23:59', 'T23:59:59.999Z', 'T23:59:59-12:00', 'T00:00:00%2B14:00']) {
    assert.equal(await versions(`since=2022-07-07${time}`), changelog.slice(0, 5), time);
    assert.equal(await versions(`since=2022-07-08${time}`), changelog.slice(0, 3), time);
  }
  assert.equal(await versions('since=2024-03-02'), []);
  assert.equal(await versions('since=9999-12-31'), []);
  assert.equal(
    await versions('since=2022-07-07&slug=delta'),
    changelog.filter((each) => each.slug === 'delta').slice(0, 2),
  );
  t.db.close();
});

news('changelog: slug takes one STIG; an unknown one is an empty page', async () => {
  const t = await testApp([writeBenchmarks(releases)]);
  const { json } = await t.get(`${path}?slug=alpha`);
  assert.equal(
    json.changes,
    changelog.filter((each) => each.slug === 'alpha'),
  );
  assert.is(json.pagination.total, 3);
  for (const slug of ['nobody', 'alph', '%25', 'al_ha', '']) {
    const unknown = await t.get(`${path}?slug=${slug}`);
    assert.is(unknown.status, 200, slug);
    assert.equal(unknown.json, { changes: [], pagination: { page: 1, limit: 50, total: 0, totalPages: 0 } });
  }
  t.db.close();
});

news.run();
