import * as assert from 'uvu/assert';
import { gapstone } from '../support/child.ts';
import { suite, testIf } from '../support/harness.ts';
import { hasReferenceData, reference, shipped } from '../support/reference.ts';
import { killAll } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { before, releases } from './support/catalog.ts';
import { type Client, createClient, pause, percentile } from './support/load.ts';
import { residentMegabytes } from './support/process.ts';
import { longRun, say } from './support/profile.ts';
import { serveOver, stopServed } from './support/served.ts';

// Memory stays level while everything is asked at once for ten minutes: reads, downloads, crosswalk, writes, sessions,
// refusals, clients that hang up, and imports. GAPSTONE_FAULT_MINUTES sets another time.
const mixed = suite('A mixed load');
mixed.after(killAll);

const minutes = Number(process.env.GAPSTONE_FAULT_MINUTES ?? 10);
const clients = 20;
/** The second half may hold so much more than the end of the first, in megabytes. */
const allowed = 40;

type Headers = Record<string, string>;

/** The kinds of requests, each with the statuses that it may get. */
function requestsOf(slug: string, authorization: Headers) {
  const post = (path: string, body: unknown, headers: Headers = authorization) => ({
    method: 'POST',
    path,
    headers,
    body: JSON.stringify(body),
  });
  const get = (path: string, headers: Headers = authorization) => ({
    method: 'GET',
    path,
    headers,
    body: undefined,
  });
  const ccis = Array.from({ length: 50 }, (_, index) => `CCI-${String(index + 1).padStart(6, '0')}`);
  let turn = 0;
  return [
    () => get(`/api/v1/stigs?page=${(turn++ % 3) + 1}&limit=2`),
    () => get(`/api/v1/stigs/${slug}/controls?page=${(turn++ % 8) + 1}&limit=50`),
    () => get(`/api/v1/stigs/${slug}/controls?search=${encodeURIComponent(`audit ${turn++ % 1000}`)}`),
    () => get(`/api/v1/stigs/${slug}`),
    () => get(`/api/v1/stigs/harbor_linux_3/download?format=${['cklb', 'json', 'csv', 'xml'][turn++ % 4]}`),
    () => get(`/api/v1/stigs/${slug}/download?format=${['cklb', 'json', 'csv', 'xml'][turn++ % 4]}`),
    () => get('/api/v1/stigs/stats'),
    () => get(`/api/v1/controls/nist-800-53?search=${turn++ % 500}`, {}),
    () => get('/api/v1/controls/nist-800-53/AC-2', {}),
    () => get('/api/v1/crosswalk/resolve?from=nist-800-53:AC-2&to=cci&explain=true', {}),
    () =>
      get(`/api/v1/crosswalk/resolve?from=nist-800-53:AC-${(turn++ % 25) + 1}&to=nist-800-171&maxHops=6`, {}),
    () => post('/api/v1/crosswalk/resolve/batch', { ccis, maxHops: 2 + (turn++ % 4) }, {}),
    () => post('/api/v1/stigs/batch', { slugs: [slug, 'harbor_linux_3', `unknown-${turn++}`] }),
    () => get('/openapi.json', {}),
    () => get('/healthz', {}),
    () => get(`/api/v1/nowhere/${turn++}`),
    () => get('/api/v1/lists', { Authorization: `Bearer x${turn++}.y.z` }),
    () => post('/api/v1/stigs/batch', `{"slugs": ${turn++}`),
    () => post('/api/v1/session', ''),
  ];
}

/** Makes a list, fills it, reads it, and deletes it: the number of lists stays the same. */
async function useList(client: Client, authorization: Headers): Promise<number[]> {
  const made = await client.ask('POST', '/api/v1/lists', authorization, '{"name":"mixed"}');
  if (made.status !== 201) return [made.status];
  const path = `/api/v1/lists/${JSON.parse(made.body).id}`;
  const added = await client.ask('POST', `${path}/stigs`, authorization, '{"slugs":["harbor_linux_3"]}');
  const read = await client.ask('GET', `${path}/stigs?include=findings`, authorization);
  const gone = await client.ask('DELETE', path, authorization);
  return [made.status, added.status, read.status, gone.status];
}

testIf(longRun, mixed)(`memory is level over ${minutes} minutes of everything at once`, async () => {
  const imports = Math.max(2, Math.ceil(minutes * 2));
  const { slug, releases: all } = releases(Math.min(28, imports + 1));
  const folder = scratchFolder();
  const files = all.map(({ version, text }) => put(folder, `${version}.xml`, text));
  const real = hasReferenceData ? [reference('xccdf', 'U_RHEL_8_STIG_V1R12_Manual-xccdf.xml')] : [];
  const served = await serveOver([...before, shipped('mappings'), ...real, files[0]!]);
  const { port, child } = served.running;
  const end = performance.now() + minutes * 60_000;
  const statuses: Record<string, number> = {};
  const times: number[] = [];
  const count = (status: number) => {
    statuses[status] = (statuses[status] ?? 0) + 1;
    assert.ok(status < 500 || status === 503, String(status));
  };
  const requests = requestsOf(slug, served.authorization);

  const users = Array.from({ length: clients }, async (_, number) => {
    const client = createClient(port);
    for (let turn = number; performance.now() < end; turn++) {
      if (turn % 25 === 0) for (const status of await useList(client, served.authorization)) count(status);
      const { method, path, headers, body } = requests[turn % requests.length]!();
      const answer = await client.ask(method, path, headers, body);
      count(answer.status);
      times.push(answer.ms);
      // Some hang up and come back on another connection.
      if (turn % 200 === 0) client.close();
      await pause(100);
    }
    client.close();
  });

  const importing = (async () => {
    for (const file of files.slice(1)) {
      await pause((minutes * 60_000) / files.length);
      if (performance.now() > end) return;
      const { code, stderr } = await gapstone(['import', file, '--db', served.file]);
      assert.is(code, 0, stderr.slice(-300));
    }
  })();

  const samples: number[] = [];
  const sampling = (async () => {
    while (performance.now() < end) {
      await pause(Math.max(500, minutes * 500));
      samples.push(residentMegabytes(child.pid!));
    }
  })();
  await Promise.all([...users, importing, sampling]);

  const part = (from: number, to: number) =>
    percentile(samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to)), 0.5);
  const [middle, last] = [part(0.4, 0.6), part(0.8, 1)];
  const tenths = Array.from({ length: 10 }, (_, index) => Math.round(part(index / 10, (index + 1) / 10)));
  const perMinute = (last - middle) / (minutes * 0.4);
  say(
    `${times.length} answers (${JSON.stringify(statuses)}), p50 ${percentile(times, 0.5).toFixed(1)} ms, ` +
      `p99 ${percentile(times, 0.99).toFixed(1)} ms`,
  );
  say(
    `resident MB by tenths of the time: ${tenths.join(', ')}; ${perMinute.toFixed(2)} MB a minute in the second half`,
  );
  assert.ok(times.length > clients * minutes * 60, 'it was a load');
  assert.ok(last - middle < allowed, `${(last - middle).toFixed(1)} MB more at the end than in the middle`);
  await stopServed(served);
});

mixed.run();
