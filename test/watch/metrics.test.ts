import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { silentLog } from '../../src/base/log.ts';
import { addCatalogMetrics } from '../../src/catalog/catalog-metrics.ts';
import { fileStatus } from '../../src/catalog/loaded-status.ts';
import { openCatalog, openDatabase } from '../../src/db/database.ts';
import type { Kind } from '../../src/db/schema.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { createObserver } from '../../src/http/record.ts';
import { testApp } from '../support/app.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import { filesOf, scratchFolder } from '../support/scratch.ts';

const metrics = suite('Metrics');

interface Read {
  types: Map<string, string>;
  /** Values by name and labels, the labels in order as `a=x,b=y`. */
  values: Map<string, number>;
}

/** Reads the Prometheus text format 0.0.4 by its grammar, and fails on anything else. */
function read(text: string): Read {
  assert.ok(text.endsWith('\n'), 'the last line ends');
  const types = new Map<string, string>();
  const values = new Map<string, number>();
  let family = '';
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue;
    const help = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    if (help) {
      assert.not(types.has(help[1]!), `${help[1]} comes twice`);
      family = help[1]!;
      continue;
    }
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line);
    if (type) {
      assert.is(type[1], family);
      types.set(family, type[2]!);
      continue;
    }
    const sample =
      /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)+)\})? (\S+)$/.exec(line);
    assert.ok(sample, `no sample: ${line}`);
    const [, name, labels = '', value] = sample!;
    const suffixes = types.get(family) === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    assert.ok(
      suffixes.some((suffix) => name === family + suffix),
      `${name} stands under ${family}`,
    );
    const pairs = [...labels.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(([, l, v]) => `${l}=${v}`);
    const key = `${name}{${pairs.sort().join(',')}}`;
    assert.not(values.has(key), `${key} comes twice`);
    const number = value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value);
    assert.ok(!Number.isNaN(number), line);
    values.set(key, number);
  }
  return { types, values };
}

metrics('histograms: each request is in every bucket that it is not slower than', async () => {
  const made = createMetrics();
  for (const seconds of [0.0001, 0.0005, 0.00051, 0.3, 10, 11]) made.observe('/r', 'GET', 200, seconds);
  const { values } = read(await made.text());
  const bucket = (le: string) =>
    values.get(`gapstone_http_request_duration_seconds_bucket{le=${le},route=/r}`);
  assert.equal(['0.0005', '0.001', '0.25', '0.5', '10', '+Inf'].map(bucket), [2, 3, 3, 4, 5, 6]);
  assert.is(values.get('gapstone_http_request_duration_seconds_count{route=/r}'), 6);
  const sum = values.get('gapstone_http_request_duration_seconds_sum{route=/r}')!;
  assert.ok(Math.abs(sum - 21.30111) < 1e-9, String(sum));
});

metrics('requests are counted by template; hostile paths, methods and ids add nothing', async () => {
  const made = createMetrics();
  const observer = createObserver(silentLog, made);
  const t = await testApp([shipped('stigs')], { observer, metrics: made.text });
  await t.get('/api/v1/stigs/harbor_linux_3');
  await t.get('/api/v1/stigs/harbor_linux_3?version=V1R1');
  await t.get('/api/v1/stigs/canary_slug');
  for (let i = 0; i < 300; i++) {
    await t.app.request(`/canary-${i}/x`, { method: i % 2 ? 'GET' : 'PROPFIND' });
    await t.app.request(`/api/v1/controls/nist-800-53/canary-${i}`);
  }
  const answer = await t.get('/metrics', { token: null });
  assert.is(answer.headers.get('Content-Type'), 'text/plain; version=0.0.4; charset=utf-8');
  assert.not.match(answer.text, /canary|harbor|M\d|alice/);
  const { values, types } = read(answer.text);
  const total = (route: string, method: string, status: number) =>
    values.get(`gapstone_http_requests_total{method=${method},route=${route},status=${status}}`);
  assert.is(total('/api/v1/stigs/:slug', 'GET', 200), 2);
  assert.is(total('/api/v1/stigs/:slug', 'GET', 404), 1);
  assert.is(total('unmatched', 'GET', 404), 150);
  assert.is(total('unmatched', 'PROPFIND', 404), 150);
  assert.is(total('/api/v1/controls/nist-800-53/:controlId', 'GET', 404), 300);
  assert.is(types.get('gapstone_http_request_duration_seconds'), 'histogram');
  const sums = [...values].filter(([key]) => key.startsWith('gapstone_http_requests_total'));
  assert.is(
    sums.reduce((sum, [, value]) => sum + value, 0),
    603,
    'every request once, this one not yet',
  );
  t.db.close();
});

metrics('without /metrics its path is unknown', async () => {
  const t = await testApp([], { metrics: null });
  const off = await t.app.request('/metrics');
  const unknown = await t.app.request('/nowhere');
  assert.is(off.status, 404);
  const messageOf = async (response: Response) =>
    ((await response.json()) as { error: { message: string } }).error.message;
  assert.is(await messageOf(off), await messageOf(unknown));
  t.db.close();
});

metrics('the catalog, its imports and its file are told as they are', async () => {
  const file = join(scratchFolder(), 'g.db');
  const writer = openCatalog(file, { create: true });
  const db = openDatabase(filesOf(file));
  const made = createMetrics();
  addCatalogMetrics(made, db);
  const before = read(await made.text()).values;
  assert.is(before.get('gapstone_catalog_records{kind=stigs}'), 0);
  assert.is(before.get('gapstone_import_last_timestamp_seconds{}'), 0);
  await runImport(writer, [shipped('stigs')], { now: () => new Date('2026-11-21T12:00:00Z') });
  // An import empties the log.
  writer.sqlite.exec("UPDATE catalog SET shipped_data = 'x'");
  const { values } = read(await made.text());
  assert.is(values.get('gapstone_catalog_records{kind=stigs}'), 2);
  assert.is(values.get('gapstone_catalog_records{kind=stig_releases}'), 3);
  assert.is(values.get('gapstone_catalog_generation{}'), 1);
  assert.is(values.get('gapstone_import_runs_total{}'), 1);
  assert.is(values.get('gapstone_import_sources_total{outcome=imported}'), 3);
  assert.is(values.get('gapstone_import_last_timestamp_seconds{}'), 1795262400);
  for (const kind of ['catalog', 'users']) {
    assert.is(values.get(`gapstone_database_bytes{file=${kind}}`), fileStatus(db, kind as Kind).bytes);
    assert.ok(values.get(`gapstone_database_bytes{file=${kind}}`)! > 10_000, kind);
  }
  assert.ok(values.get('gapstone_database_wal_bytes{file=catalog}')! > 0);
  assert.is(values.get('gapstone_database_wal_bytes{file=users}'), 0);
  // A run that changes nothing is a run all the same.
  await runImport(writer, [shipped('stigs')], { now: () => new Date('2026-11-21T13:00:00Z') });
  const after = read(await made.text()).values;
  assert.is(after.get('gapstone_import_runs_total{}'), 2);
  assert.is(after.get('gapstone_import_sources_total{outcome=unchanged}'), 3);
  db.close();
});

metrics('the process is told in the names that dashboards know', async () => {
  const made = createMetrics();
  made.addProcess();
  await made.text();
  // Until its timer has fired, the mean delay is no number.
  await new Promise((resolve) => setTimeout(resolve, 100));
  const { values } = read(await made.text());
  assert.ok(values.get('process_resident_memory_bytes{}')! > 10_000_000);
  assert.ok(values.get('process_start_time_seconds{}')! > 1_600_000_000);
  assert.ok(values.get('nodejs_eventloop_lag_p99_seconds{}')! >= 0);
});

metrics.run();
