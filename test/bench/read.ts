import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cli, gapstone } from '../support/child.ts';
import { hasReferenceData, reference, shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';
import { load } from './load.ts';

// How fast the server reads, beside Node's own server that answers the same bytes from a constant buffer. The servers
// are pinned to one processor and the client to another; rounds of both follow each other, and the middle one counts.

const rounds = 5;
const bare = fileURLToPath(new URL('./bare.ts', import.meta.url));
const listening = /"url":"http:\/\/[^"]+:(\d+)"/;
const pinned = process.platform === 'linux' && availableParallelism() > 1;

/** A request of the benchmark: its name, and its path. */
type Question = [name: string, path: string];

interface Server {
  child: ChildProcessWithoutNullStreams;
  port: number;
  /** Milliseconds from its start until it listened. */
  ready: number;
}

/** Runs the benchmark of reading, and prints its tables. */
export async function benchReading(): Promise<void> {
  if (pinned) execFileSync('taskset', ['-pc', '1', String(process.pid)], { stdio: 'ignore' });
  for (const times of [1, 10]) {
    const cwd = scratchFolder();
    await fill(cwd, times);
    if (times === 1) await starts(cwd);
    await measure(cwd, times);
  }
}

/** A database with the real files where they are here, and with more STIGs of our own, `times` as many. */
async function fill(cwd: string, times: number): Promise<void> {
  for (let index = 0; index < 100 * times; index++) {
    put(cwd, `in/${index}.xml`, writeXccdf(sample(index)));
  }
  const real = hasReferenceData
    ? ['xccdf', 'oscal', 'sp800-171', 'cci', 'dod-8500', 'nice', 'onet', 'regulatory'].map((name) =>
        reference(name),
      )
    : [];
  const imported = await gapstone(['import', shipped(), ...real, join(cwd, 'in')], { cwd });
  if (imported.code !== 0 && imported.code !== 3) throw new Error(imported.stderr);
}

function sample(index: number) {
  const own = { rules: 20, stem: `OWN-${index}`, first: 2_000_000 + 100 * index };
  const title = `Sample Product ${index} Security Technical Implementation Guide`;
  return { id: `Sample_${index}`, title, ...own };
}

/** How long a start takes until it listens, beside that of Node itself with nothing to do. */
async function starts(cwd: string): Promise<void> {
  const ours: number[] = [];
  const plain: number[] = [];
  for (let round = 0; round < 2 * rounds; round++) {
    const server = await start(cwd, [cli, 'serve', '--port', '0'], listening);
    ours.push(server.ready);
    server.child.kill('SIGTERM');
    await once(server.child, 'close');
    plain.push((await start(cwd, ['-e', 'console.log(1)'], /^(1)\n/)).ready);
  }
  process.stdout.write(
    `\nready after ${Math.round(middle(ours))} ms, ${Math.round(Math.min(...ours))} at best (aim under 500); Node alone ${Math.round(middle(plain))} ms\n`,
  );
}

async function measure(cwd: string, times: number): Promise<void> {
  const issue = ['token', 'issue', '--subject', 'bench', '--org', 'bench'];
  const token = (await gapstone(issue, { cwd })).stdout.trim();
  const server = await start(cwd, [cli, 'serve', '--port', '0'], listening);
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

  process.stdout.write(`\nReading, catalog x${times}\n`);
  const widths = [30, 9, 9, 9, 9, 9, 7];
  const row = (cells: (string | number)[]) =>
    process.stdout.write(
      `${cells.map((cell, at) => (at === 0 ? String(cell).padEnd(widths[at]!) : String(cell).padStart(widths[at]!))).join('')}\n`,
    );
  row(['', 'bytes', 'ours/s', 'p99 ms', 'bare/s', 'p99 ms', 'ratio']);
  const ratios: number[] = [];
  for (const [index, [name, path]] of questions.entries()) {
    const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const plain = `GET /${index} HTTP/1.1\r\nHost: 127.0.0.1:${other.port}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const ours: Awaited<ReturnType<typeof load>>[] = [];
    const theirs: typeof ours = [];
    await load(server.port, request, { milliseconds: 300 });
    await load(other.port, plain, { milliseconds: 300 });
    for (let round = 0; round < rounds; round++) {
      ours.push(await load(server.port, request));
      theirs.push(await load(other.port, plain));
    }
    const failures = [...ours, ...theirs].reduce((sum, each) => sum + each.failures, 0);
    if (failures > 0) throw new Error(`${path}: ${failures} answers were no 200`);
    const ratio = middle(ours.map((each, at) => each.rate / theirs[at]!.rate));
    ratios.push(ratio);
    const figures = (loads: typeof ours) => [
      Math.round(middle(loads.map((each) => each.rate))),
      middle(loads.map((each) => each.p99)).toFixed(2),
    ];
    row([name, readFileSync(files[index]!).length, ...figures(ours), ...figures(theirs), ratio.toFixed(2)]);
  }
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  row(['geometric mean (aim 0.80)', '', '', '', '', '', mean.toFixed(2)]);
  row(['least (aim 0.50)', '', '', '', '', '', Math.min(...ratios).toFixed(2)]);
  await mixed(server, questions, token);
  for (const { child } of [server, other]) child.kill('SIGTERM');
}

/** A hundred thousand requests, question after question, and the memory after them. */
async function mixed(server: Server, questions: Question[], token: string): Promise<void> {
  let sent = 0;
  while (sent < 100_000) {
    for (const [, path] of questions) {
      const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;
      sent += (await load(server.port, request, { milliseconds: 500 })).requests;
    }
  }
  const status = readFileSync(`/proc/${server.child.pid}/status`, 'utf8');
  const resident = Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) / 1024;
  process.stdout.write(`resident after ${sent} requests: ${Math.round(resident)} MB (aim under 200)\n`);
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

function start(cwd: string, args: string[], says: RegExp): Promise<Server> {
  const started = performance.now();
  const command = [process.execPath, ...args];
  const [program, ...rest] = pinned ? ['taskset', '-c', '0', ...command] : command;
  const child = spawn(program!, rest, { cwd });
  child.stderr.pipe(process.stderr);
  return new Promise((resolve, reject) => {
    let said = '';
    let port = 0;
    child.on('error', reject);
    child.on('close', (code) => reject(new Error(`${args[0]} ended with ${code}`)));
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      // What follows is the log, which is read and thrown away.
      if (port > 0) return;
      said += part;
      port = Number(says.exec(said)?.[1] ?? 0);
      if (port > 0) resolve({ child, port, ready: performance.now() - started });
    });
  });
}

function middle(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
