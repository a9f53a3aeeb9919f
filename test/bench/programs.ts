import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cli, gapstone } from '../support/child.ts';
import { message, messageHeaders } from '../support/programs-client.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';

// How fast programs are answered over `POST /mcp` at 1,000 releases, and the memory that they cost.

const releases = 1000;
const perClient = 100;
const listening = /"url":"(http:\/\/[^"]+)"/;

type Arguments = (at: number) => object;

const tools: [name: string, args: Arguments, target: string][] = [
  ['get_rule', (at) => ({ id: `V-${2_000_000 + 100 * (at % releases)}` }), '15 ms'],
  ['find', (at) => ({ q: ['audit', 'password', `product ${at % releases}`][at % 3] }), '60 ms'],
  ['get_control', (at) => ({ id: ['AC-2', 'AU-12', 'CM-6'][at % 3] }), ''],
  ['rules_for_control', () => ({ control: 'CM-6' }), ''],
];

const quantile = (times: number[], of: number) => times.sort((a, b) => a - b)[Math.floor(times.length * of)]!;
const megabytes = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

/** Runs the benchmark of programs, and prints its table. */
export async function benchPrograms(): Promise<void> {
  const cwd = scratchFolder();
  for (let index = 0; index < releases; index++) put(cwd, `in/${index}.xml`, sample(index));
  const imported = await gapstone(['import', shipped(), join(cwd, 'in')], { cwd });
  if (imported.code !== 0 && imported.code !== 3) throw new Error(imported.stderr);
  const token = (await gapstone(['token', 'issue', '--subject', 'bench'], { cwd })).stdout.trim();
  const child = spawn(process.execPath, [cli, 'serve', '--port', '0'], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout.on('data', (chunk) => (text += chunk));
  child.stderr.on('data', (chunk) => (text += chunk));
  while (!listening.test(text)) await new Promise((resolve) => setTimeout(resolve, 20));
  const url = listening.exec(text)![1]!;

  async function post(name: string, args: object): Promise<void> {
    const headers = { ...messageHeaders('tools/call', name), Authorization: `Bearer ${token}` };
    const body = JSON.stringify(message('tools/call', { name, arguments: args }));
    const response = await fetch(`${url}/mcp`, { method: 'POST', headers, body });
    const { result } = (await response.json()) as { result?: { isError?: boolean } };
    if (result === undefined || result.isError) throw new Error(`${name}: ${response.status}`);
  }

  async function measure(clients: number, name: string, args: Arguments) {
    const times: number[] = [];
    const started = performance.now();
    const one = async (client: number) => {
      for (let at = 0; at < perClient; at++) {
        const begun = performance.now();
        await post(name, args(client * perClient + at));
        times.push(performance.now() - begun);
      }
    };
    await Promise.all(Array.from({ length: clients }, (_, client) => one(client)));
    return {
      perSecond: (1000 * times.length) / (performance.now() - started),
      p50: quantile(times, 0.5),
      p99: quantile(times, 0.99),
    };
  }

  const search = (at: number) => `${url}/api/v1/search?q=${['audit', 'password'][at % 2]}`;
  for (let at = 0; at < 300; at++)
    await (await fetch(search(at), { headers: { Authorization: `Bearer ${token}` } })).text();
  const before = megabytes(child.pid!);
  process.stdout.write(`\n${releases} releases, 10 clients: calls a second, p50, p99 (target)\n`);
  for (const [name, args, target] of tools) {
    await measure(10, name, args);
    const { perSecond, p50, p99 } = await measure(10, name, args);
    process.stdout.write(
      `  ${name.padEnd(18)} ${perSecond.toFixed(0).padStart(6)} ${p50.toFixed(1).padStart(7)} ms ${p99.toFixed(1).padStart(7)} ms  ${target}\n`,
    );
  }
  await measure(50, 'get_rule', tools[0]![1]);
  const after = megabytes(child.pid!);
  process.stdout.write(
    `  memory ${before.toFixed(0)} MB before the first call, ${after.toFixed(0)} MB after 50 clients (target: 60 MB more)\n`,
  );
  child.kill('SIGTERM');
  await once(child, 'close');
}

function sample(index: number): string {
  const title = `Sample Product ${index} Security Technical Implementation Guide`;
  return writeXccdf({
    id: `Sample_${index}`,
    title,
    rules: 20,
    stem: `OWN-${index}`,
    first: 2_000_000 + 100 * index,
  });
}
