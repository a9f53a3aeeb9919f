import { createHash } from 'node:crypto';
import { request } from 'node:http';
import * as assert from 'uvu/assert';
import { gapstone } from '../support/child.ts';
import { suite } from '../support/harness.ts';
import { benchmarkPaths } from '../support/real-files.ts';
import { killAll, until } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { releases } from './support/catalog.ts';
import { createClient, pause, percentile } from './support/load.ts';
import { residentMegabytes } from './support/process.ts';
import { longRun, say, scaled } from './support/profile.ts';
import { type Served, serveOver, stopServed } from './support/served.ts';

// 500 hosts and 10 STIGs: the zip streams in bounded memory, and others read meanwhile (rule D28.2).
const checklists = suite('Checklists for 500 hosts');
checklists.after(killAll);

const hosts = Array.from({ length: scaled(500, 12) }, (_, number) => ({
  hostName: `web${number}`,
  ipAddress: `10.0.${Math.floor(number / 250)}.${number % 250}`,
}));
/** Of the whole server with its workers: a zip of 500 hosts is larger than this. */
const allowedMegabytes = 450;

/** Reads pages of the catalog one after the other until it is told to end; gives how long each took. */
async function readOn(served: Served, slugs: string[], isDone: () => boolean): Promise<number[]> {
  const client = createClient(served.running.port);
  const times: number[] = [];
  for (let turn = 0; !isDone(); turn++) {
    const page = `page=${(turn % 3) + 1}&limit=${(turn % 20) + 1}`;
    const paths = [`/api/v1/stigs?${page}`, `/api/v1/stigs/${slugs[turn % slugs.length]}/controls?${page}`];
    const { status, ms } = await client.ask('GET', paths[turn % 2]!, served.authorization);
    assert.is(status, 200);
    times.push(ms);
    await pause(20);
  }
  client.close();
  return times;
}

interface Download {
  bytes: number;
  sha256: string;
  status: number;
  /** The error of a connection that broke. */
  broken: boolean;
}

/** Asks for the zip and takes it as fast as it comes; `until` ends it after so many bytes. */
function take(
  served: Served,
  path: string,
  body: object,
  most = Number.POSITIVE_INFINITY,
): Promise<Download> {
  return new Promise((resolve) => {
    const { port } = served.running;
    const options = { host: '127.0.0.1', port, method: 'POST', path, headers: served.authorization };
    const sent = request(options, (response) => {
      const hash = createHash('sha256');
      let bytes = 0;
      const end = (broken: boolean) =>
        resolve({ bytes, sha256: hash.digest('hex'), status: response.statusCode!, broken });
      response.on('data', (part: Buffer) => {
        hash.update(part);
        bytes += part.length;
        if (bytes > most) sent.destroy();
      });
      response.on('end', () => end(false));
      response.on('error', () => end(true));
    });
    sent.on('error', () => undefined);
    sent.end(JSON.stringify(body));
  });
}

/** The ten largest STIGs of the catalog in a list. */
async function largestTen(served: Served): Promise<{ path: string; slugs: string[] }> {
  const client = createClient(served.running.port);
  const ask = async (method: string, path: string, body?: object) =>
    JSON.parse((await client.ask(method, path, served.authorization, body && JSON.stringify(body))).body);
  const { stigs } = (await ask('GET', '/api/v1/stigs?limit=150')) as {
    stigs: { slug: string; findingCount: number }[];
  };
  const slugs = stigs
    .sort((a, b) => b.findingCount - a.findingCount)
    .slice(0, 10)
    .map(({ slug }) => slug);
  const { id } = await ask('POST', '/api/v1/lists', { name: 'ten' });
  await ask('POST', `/api/v1/lists/${id}/stigs`, { slugs });
  client.close();
  return { path: `/api/v1/lists/${id}/checklists`, slugs };
}

let served: Served;
checklists.before(async () => {
  served = await serveOver(benchmarkPaths.filter((path) => !path.endsWith('malformed')));
});

checklists('the zip is sent in bounded memory while others read', async () => {
  const { child } = served.running;
  const { path, slugs } = await largestTen(served);
  const hashes = new Map<string, string>();
  for (const [format, layout] of [
    ['cklb', 'stig'],
    ['ckl', 'host'],
    ['cklb', 'stig'],
  ] as const) {
    let peak = 0;
    let isDone = false;
    const reading = readOn(served, slugs, () => isDone);
    const sampling = setInterval(() => {
      peak = Math.max(peak, residentMegabytes(child.pid!));
    }, 20);
    const { bytes, sha256, status, broken } = await take(served, path, { hosts, format, layout });
    isDone = true;
    clearInterval(sampling);
    const times = await reading;
    assert.equal([status, broken], [200, false]);
    const p99 = percentile(times, 0.99);
    say(
      `${hosts.length} hosts, ${slugs.length} STIGs, ${format} by ${layout}: ${(bytes / 1e6).toFixed(0)} MB; ` +
        `at most ${peak.toFixed(0)} MB resident; ${times.length} reads beside it, p50 ${percentile(times, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
    );
    assert.ok(peak < allowedMegabytes, `${peak} MB resident`);
    assert.ok(times.length > 2, 'others are answered while it is sent');
    const key = `${format} ${layout}`;
    assert.is(hashes.get(key) ?? sha256, sha256, 'same request, same bytes');
    hashes.set(key, sha256);
  }
});

checklists('who hangs up frees what was held, and who reads slowly holds little', async () => {
  const { path } = await largestTen(served);
  const resident = () => residentMegabytes(served.running.child.pid!);
  const rounds = scaled(24, 4);
  let before = 0;
  for (let round = 0; round < rounds; round++) {
    if (round === rounds / 2) before = resident();
    const broken = await Promise.all(
      Array.from({ length: 4 }, () => take(served, path, { hosts, format: 'cklb' }, 5_000_000)),
    );
    for (const each of broken) assert.ok(each.broken && each.status === 200);
  }
  // The expensive of this caller would wait if one of them still counted.
  const whole = await take(served, path, { hosts: hosts.slice(0, 2), format: 'cklb' });
  assert.equal([whole.status, whole.broken], [200, false]);
  const after = resident();
  say(
    `${before.toFixed(0)} MB resident after ${2 * rounds} that hung up, ${after.toFixed(0)} MB after ${4 * rounds}`,
  );
  // A few rounds alone show how V8 sizes its heap, not what is kept.
  if (longRun.here) assert.ok(after - before < 60, `${after - before} MB more`);
  await stopServed(served);
});

checklists('a catalog that is imported into while a zip is sent changes nothing of it', async () => {
  const { slug, releases: all } = releases(3);
  const served = await serveOver([put(scratchFolder(), 'first.xml', all[0]!.text)]);
  const client = createClient(served.running.port);
  const { body } = await client.ask('POST', '/api/v1/lists', served.authorization, '{"name":"one"}');
  const path = `/api/v1/lists/${JSON.parse(body).id}`;
  await client.ask('POST', `${path}/stigs`, served.authorization, JSON.stringify({ slugs: [slug] }));
  const wanted = { hosts, format: 'cklb' };
  const first = await take(served, `${path}/checklists`, wanted);
  const file = put(served.folder, 'next.xml', all[1]!.text);
  const [during, imported] = await Promise.all([
    take(served, `${path}/checklists`, wanted),
    gapstone(['import', file, '--db', served.file]),
  ]);
  assert.is(imported.code, 0, imported.stderr.slice(-300));
  let last = during;
  await until('the new release is served', async () => {
    last = await take(served, `${path}/checklists`, wanted);
    return last.sha256 !== first.sha256;
  });
  assert.ok([first.sha256, last.sha256].includes(during.sha256), 'of the one catalog or of the other');
  client.close();
  await stopServed(served);
});

checklists.run();
