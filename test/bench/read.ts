import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { put, scratchFolder } from '../support/scratch.ts';
import { type Load, load } from './load.ts';
import { fill, middle, row, start, stayApart, tokenOf } from './site.ts';

// How fast the server reads, beside Node's own server that answers the same bytes from a constant buffer. The servers
// are pinned to one processor and the client to another; rounds of both follow each other, and the middle one counts.

const rounds = 5;
const bare = fileURLToPath(new URL('./bare.ts', import.meta.url));

/** A request of the benchmark: its name, and its path. */
type Question = [name: string, path: string];

/** Runs the benchmark of reading, and prints its tables. */
export async function benchReading(): Promise<void> {
  stayApart();
  for (const times of [1, 10]) {
    const cwd = scratchFolder();
    await fill(cwd, 100 * times);
    if (times === 1) await starts(cwd);
    await measure(cwd, times);
  }
}

/** How long a start takes until it listens, beside that of Node itself with nothing to do. */
async function starts(cwd: string): Promise<void> {
  const [ours, plain]: [number[], number[]] = [[], []];
  for (let round = 0; round < 2 * rounds; round++) {
    const server = await start(cwd);
    ours.push(server.ready);
    await server.stop();
    plain.push((await start(cwd, ['-e', 'console.log(1)'], /^(1)\n/)).ready);
  }
  row('ready, ms (aim under 500); Node alone', ...[ours, plain].map((each) => Math.round(middle(each))));
}

async function measure(cwd: string, times: number): Promise<void> {
  const token = await tokenOf(cwd);
  const server = await start(cwd);
  const ask = async (path: string, body?: unknown) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      headers: { Authorization: `Bearer ${token}`, 'Accept-Encoding': 'identity' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return Buffer.from(await response.arrayBuffer());
  };
  const questions = await prepare(ask);
  const files: string[] = [];
  for (const [name, path] of questions) files.push(put(cwd, `${name}.json`, await ask(path)));
  const other = await start(cwd, [bare, ...files], /^(\d+)\n/);
  const to = (port: number, path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`;

  row(`\nReading, catalog x${times}`, 'bytes', 'ours/s', 'p99 ms', 'bare/s', 'p99 ms', 'ratio');
  const ratios: number[] = [];
  for (const [index, [name, path]] of questions.entries()) {
    const asked = [server, other].map(
      ({ port }, at) => [port, to(port, at === 0 ? path : `/${index}`)] as const,
    );
    const [ours, theirs]: [Load[], Load[]] = [[], []];
    const seen = [ours, theirs];
    for (const [port, request] of asked) await load(port, request, { milliseconds: 300 });
    for (let round = 0; round < rounds; round++)
      for (const [at, [port, request]] of asked.entries()) seen[at]!.push(await load(port, request));
    const failures = seen.flat().reduce((sum, each) => sum + each.failures, 0);
    if (failures > 0) throw new Error(`${path}: ${failures} answers were no 200`);
    const ratio = middle(ours.map((each, at) => each.rate / theirs[at]!.rate));
    ratios.push(ratio);
    const figures = seen.flatMap((loads) => [
      Math.round(middle(loads.map((each) => each.rate))),
      middle(loads.map((each) => each.p99)).toFixed(2),
    ]);
    row(name, readFileSync(files[index]!).length, ...figures, ratio.toFixed(2));
  }
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  row('geometric mean (aim 0.80), least (aim 0.50)', mean.toFixed(2), Math.min(...ratios).toFixed(2));
  // A hundred thousand requests, question after question, and the memory after them.
  for (let sent = 0; sent < 100_000; )
    for (const [, path] of questions)
      sent += (await load(server.port, to(server.port, path), { milliseconds: 500 })).requests;
  row('resident after 100,000 requests, MB (aim under 200)', Math.round(server.megabytes()));
  for (const each of [server, other]) await each.stop();
}

/** The requests of the benchmark; makes the list that one of them asks for. */
async function prepare(ask: (path: string, body?: unknown) => Promise<Buffer>): Promise<Question[]> {
  const { stigs } = JSON.parse(String(await ask('/api/v1/stigs?limit=100'))) as {
    stigs: { slug: string; findingCount: number }[];
  };
  const largest = stigs.reduce((most, each) => (each.findingCount > most.findingCount ? each : most)).slug;
  const list = JSON.parse(String(await ask('/api/v1/lists', { name: 'Fifty' }))) as { id: string };
  await ask(`/api/v1/lists/${list.id}/stigs`, { slugs: stigs.slice(0, 50).map((each) => each.slug) });
  return [
    ['STIG list of 100', '/api/v1/stigs?limit=100'],
    ['controls page of 50', `/api/v1/stigs/${largest}/controls?limit=50`],
    ['cklb of the largest STIG', `/api/v1/stigs/${largest}/download?format=cklb`],
    ['one 800-53 control', '/api/v1/controls/nist-800-53/AC-2'],
    ['the whole 800-53 list', '/api/v1/controls/nist-800-53'],
    ['resolve AC-2 to 800-171', '/api/v1/crosswalk/resolve?from=nist-800-53:AC-2&to=nist-800-171'],
    ['STIG search', '/api/v1/stigs?search=product'],
    ['a list of 50 STIGs', `/api/v1/lists/${list.id}/stigs`],
  ];
}
