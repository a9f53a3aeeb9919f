import { join } from 'node:path';
import { type TestApp, testApp } from '../support/app.ts';
import { ask, type Caller, sessionCaller, userCaller } from '../support/callers.ts';
import { attributesOf } from '../support/pages.ts';
import { hasReferenceData, reference, shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { sampleRules, writeXccdf } from '../support/xccdf-writer.ts';

// The pages that a reader comes to from the start page by links, at 1,000 releases: how many bytes each kind has, and
// how much processor time the program takes for it. Pages of one kind differ in what stands between slashes.

const stigs = 480;
const releases = 2;
const rulesPerStig = 60;
const mostOfKind = 25;
const rounds = 3;
const aims = { kilobytes: 300, milliseconds: 100 };

interface Kind {
  bytes: number[];
  milliseconds: number[];
  slowest: string;
  largest: string;
}

/** Runs the benchmark of pages, and prints a line for each kind, the slowest first. */
export async function benchPages(): Promise<void> {
  const t = await testApp(sources());
  const reader = await prepareReader(t);
  const kinds = await crawl(t, reader);
  const rows = [...kinds].map(([name, kind]) => ({ name, ...kind, p95: share(kind.milliseconds, 0.95) }));
  console.log('kind                                       pages  p50 ms  p95 ms  largest KB');
  for (const { name, bytes, milliseconds, p95 } of rows.sort((a, b) => b.p95 - a.p95))
    console.log(
      `${name.padEnd(42)}${String(bytes.length).padStart(6)}${share(milliseconds, 0.5).toFixed(1).padStart(8)}` +
        `${p95.toFixed(1).padStart(8)}${(Math.max(...bytes) / 1024).toFixed(0).padStart(12)}`,
    );
  for (const { name, bytes, p95, slowest, largest } of rows) {
    if (p95 > aims.milliseconds) console.log(`over ${aims.milliseconds} ms: ${name}, as ${slowest}`);
    if (Math.max(...bytes) > aims.kilobytes * 1024)
      console.log(`over ${aims.kilobytes} KB: ${name}, as ${largest}`);
  }
  const all = rows.flatMap(({ milliseconds }) => milliseconds);
  console.log(
    `${rows.reduce((sum, { bytes }) => sum + bytes.length, 0)} pages, p95 of all ${share(all, 0.95).toFixed(1)} ms (aim under ${aims.milliseconds})`,
  );
  t.db.close();
}

function sources(): string[] {
  const cwd = scratchFolder();
  for (let stig = 0; stig < stigs; stig++)
    for (let release = 1; release <= releases; release++)
      put(cwd, `in/${stig}-${release}.xml`, sample(stig, release));
  const real = 'xccdf oscal sp800-171 cci-2025-01-23 dod-8500 nice onet regulatory scap'.split(' ');
  return [shipped(), ...(hasReferenceData ? real.map((name) => reference(name)) : []), join(cwd, 'in')];
}

function sample(stig: number, release: number): string {
  const rules = sampleRules(rulesPerStig, `OWN-${stig}`, 2_000_000 + rulesPerStig * stig).map(
    (rule, index) => ({
      ...rule,
      severity: release === 2 && index % 20 === 0 ? 'high' : 'medium',
      ccis: [`CCI-${String(1 + ((7 * stig + 31 * index) % 2500)).padStart(6, '0')}`],
      checks: [
        `Look at ${index}${release === 2 && index % 5 === 0 ? ' twice' : ''}. ${'A text. '.repeat(100)}`,
      ],
    }),
  );
  const date = release === 1 ? '01 Jan 2025' : '01 Jul 2026';
  const title = `Sample Product ${stig} Security Technical Implementation Guide`;
  return writeXccdf({ id: `Sample_${stig}`, title, release, date, rules });
}

/** A session with two lists, a collection and favorites. */
async function prepareReader(t: TestApp): Promise<Caller> {
  const token = await userCaller(t, { entitlements: ['occ', 'regdoc'] });
  const own = Array.from({ length: 40 }, (_, index) => `sample_product_${7 * index}`);
  for (const [name, slugs] of [
    ['A boundary', ['harbor_linux_3', ...(hasReferenceData ? ['red_hat_enterprise_linux_9'] : []), ...own]],
    ['Another', ['lantern_web_server_2']],
  ] as const) {
    const { id } = (await ask(t, 'POST', '/api/v1/lists', token, { name })).json;
    const pins = name === 'Another' ? {} : { sample_product_0: 'V1R1' };
    await ask(t, 'POST', `/api/v1/lists/${id}/stigs`, token, { slugs, releases: pins });
  }
  await ask(t, 'POST', '/api/v1/control-collections', token, { name: 'Reviews' });
  await ask(t, 'POST', '/api/v1/my-stigs', token, { slugs: ['harbor_linux_3'] });
  return sessionCaller(t, token);
}

/** The kind of an address: names of things left out, and of the query the parameters alone. */
function kindOf(path: string): string {
  const { pathname, searchParams } = new URL(path, 'http://here.invalid');
  const named = /^\/(stigs|lists|controls|ccis|roles|documents|collections|rules|catalog\/imports|docs)\//;
  const kind = pathname
    .split('/')
    .map((part, index) => (index > 1 && named.test(pathname) && /[\d_%]|^nist|^dod/.test(part) ? '*' : part))
    .join('/');
  const names = [...new Set(searchParams.keys())].sort().join('&');
  return names === '' ? kind : `${kind}?${names}`.slice(0, 42);
}

async function crawl(t: TestApp, reader: Caller): Promise<Map<string, Kind>> {
  const kinds = new Map<string, Kind>();
  const seen = new Set(['/']);
  const queue = ['/', '/search?q=ssh', '/search?q=must+be+on', '/search?q=AC-2', '/search?control=CM-6'];
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    const name = kindOf(path);
    const kind = kinds.get(name) ?? { bytes: [], milliseconds: [], slowest: '', largest: '' };
    if (kind.bytes.length >= mostOfKind) continue;
    const times: number[] = [];
    let html = '';
    for (let round = 0; round < rounds; round++) {
      const before = process.cpuUsage();
      const answer = await t.app.request(path, { headers: reader });
      html = await answer.text();
      const { user, system } = process.cpuUsage(before);
      times.push((user + system) / 1000);
      if (!(answer.headers.get('Content-Type') ?? '').startsWith('text/html')) html = '';
    }
    if (html === '') continue;
    const time = share(times, 0.5);
    if (time > Math.max(0, ...kind.milliseconds)) kind.slowest = path;
    const bytes = Buffer.byteLength(html);
    if (bytes > Math.max(0, ...kind.bytes)) kind.largest = path;
    kind.milliseconds.push(time);
    kind.bytes.push(bytes);
    kinds.set(name, kind);
    for (const href of attributesOf(html, 'href')) {
      const url = new URL(href.replaceAll('&amp;', '&'), `http://here.invalid${path}`);
      const next = url.pathname + url.search;
      if (url.host !== 'here.invalid' || /^\/(api|assets|openapi)|\/file\b/.test(next) || seen.has(next))
        continue;
      seen.add(next);
      queue.push(next);
    }
  }
  return kinds;
}

function share(numbers: number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(part * (sorted.length - 1))] ?? 0;
}
