import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { nodeOptions } from '../../src/runtime.ts';
import { cli, gapstone } from '../support/child.ts';
import { message, messageHeaders } from '../support/programs-client.ts';
import { shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';
import { loadEach } from './load.ts';

// How fast programs are answered over `POST /mcp` at 1,000 releases, and the memory that they cost: that of a server
// which is asked the same by the API.

const releases = 1000;
const clients = 10;
const manyClients = 50;
const perClient = 100;
const listening = /"url":"http:\/\/[^"]+:(\d+)"/;
/** Until a server that is idle has given memory back (rule S2.10). */
const idleMilliseconds = 20_000;

interface Question {
  tool: string;
  target: string;
  args(at: number): Record<string, string>;
  /** The same question to the API. */
  path(at: number): string;
}

const idOf = (at: number) => `V-${2_000_000 + 100 * (at % releases)}`;
const wordsOf = (at: number) => ['audit', 'password', `product ${at % releases}`][at % 3]!;
const controlOf = (at: number) => ['AC-2', 'AU-12', 'CM-6'][at % 3]!;

const questions: Question[] = [
  {
    ...{ tool: 'get_rule', target: '15 ms', args: (at) => ({ id: idOf(at) }) },
    path: (at) => `/api/v1/rules/${idOf(at)}`,
  },
  {
    ...{ tool: 'find', target: '60 ms', args: (at) => ({ q: wordsOf(at) }) },
    path: (at) => `/api/v1/search?limit=50&q=${encodeURIComponent(wordsOf(at))}`,
  },
  {
    ...{ tool: 'get_control', target: '', args: (at) => ({ id: controlOf(at) }) },
    path: (at) => `/api/v1/controls/nist-800-53/${controlOf(at)}`,
  },
  {
    ...{ tool: 'rules_for_control', target: '', args: () => ({ control: 'CM-6' }) },
    path: () => '/api/v1/control-rules/nist-800-53/CM-6?limit=50',
  },
];

/** Runs the benchmark of programs, and prints its tables. */
export async function benchPrograms(): Promise<void> {
  const cwd = scratchFolder();
  for (let index = 0; index < releases; index++) put(cwd, `in/${index}.xml`, sample(index));
  const imported = await gapstone(['import', shipped(), join(cwd, 'in')], { cwd });
  if (imported.code !== 0 && imported.code !== 3) throw new Error(imported.stderr);
  const token = (await gapstone(['token', 'issue', '--subject', 'bench'], { cwd })).stdout.trim();
  const requests = requestsOf(token);
  await latency(cwd, requests.call, token);
  const [rest, programs] = [await memory(cwd, requests.get), await memory(cwd, requests.call)];
  print(`\nmemory in MB, the same questions     before    after     idle`);
  const row = (name: string, of: number[]) =>
    print(`  ${name.padEnd(30)}${of.map((each) => each.toFixed(0).padStart(9)).join('')}`);
  row('by the API', rest);
  row('by programs', programs);
  row(
    'more (target: 60)',
    programs.map((each, index) => each - rest[index]!),
  );
}

const print = (line: string) => process.stdout.write(`${line}\n`);

/** With a round, the question is new in each. */
type RequestOf = (question: Question, at: number, round?: number) => string;

/** The requests as bytes on the wire. */
function requestsOf(token: string): { call: RequestOf; get: RequestOf } {
  const common = `Host: localhost\r\nAuthorization: Bearer ${token}\r\n`;
  return {
    get: (question, at) => `GET ${question.path(at)} HTTP/1.1\r\n${common}\r\n`,
    call({ tool, args }, at, round) {
      const [[name, value]] = Object.entries(args(at)) as [[string, string]];
      // White space at the end keeps an answer from being one that is kept.
      const number = round === undefined ? '' : (round * clients * perClient + at).toString(2);
      const end = number.replaceAll('0', ' ').replaceAll('1', '\t');
      const body = JSON.stringify(message('tools/call', { name: tool, arguments: { [name]: value + end } }));
      const headers = { ...messageHeaders('tools/call', tool), 'Content-Length': Buffer.byteLength(body) };
      const lines = Object.entries(headers).map(([key, each]) => `${key}: ${each}\r\n`);
      return `POST /mcp HTTP/1.1\r\n${common}${lines.join('')}\r\n${body}`;
    },
  };
}

async function latency(cwd: string, requestOf: RequestOf, token: string): Promise<void> {
  const server = await start(cwd);
  for (const question of questions) await requireAnswer(server.port, question, token);
  print(`\n${releases} releases, ${clients} clients     calls/s      p50      p99  (target)`);
  for (const question of questions)
    for (const isNew of [true, false]) {
      // A thousand first, which meet code that V8 has not compiled yet.
      await ask(server.port, clients, question, requestOf, isNew ? 1 : undefined);
      const { rate, p50, p99 } = await ask(server.port, clients, question, requestOf, isNew ? 2 : undefined);
      const times = [p50, p99].map((each) => `${each.toFixed(1).padStart(7)} ms`).join('');
      const name = `${question.tool}, ${isNew ? 'new' : 'again'}`;
      print(`  ${name.padEnd(26)} ${rate.toFixed(0).padStart(6)} ${times}  ${question.target}`);
    }
  await server.stop();
}

/** Throws where a tool does not answer: a refusal is a 200 too. */
async function requireAnswer(port: number, { tool, args }: Question, token: string): Promise<void> {
  const body = JSON.stringify(message('tools/call', { name: tool, arguments: args(0) }));
  const headers = { ...messageHeaders('tools/call', tool), Authorization: `Bearer ${token}` };
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST', headers, body });
  const text = await response.text();
  if (!text.includes('"found":true')) throw new Error(`${tool}: ${response.status} ${text.slice(0, 200)}`);
}

/** The resident memory of a new server before the first question, after the last, and when it is idle. */
async function memory(cwd: string, requestOf: RequestOf): Promise<number[]> {
  const server = await start(cwd);
  const seen = [server.megabytes()];
  for (const question of [...questions, ...questions]) await ask(server.port, clients, question, requestOf);
  await ask(server.port, manyClients, questions[0]!, requestOf);
  seen.push(server.megabytes());
  await wait(idleMilliseconds);
  seen.push(server.megabytes());
  await server.stop();
  return seen;
}

async function ask(port: number, connections: number, question: Question, of: RequestOf, round?: number) {
  const own = (client: number) =>
    Array.from({ length: perClient }, (_, at) => of(question, client * perClient + at, round));
  const asked = await loadEach(
    port,
    Array.from({ length: connections }, (_, client) => own(client)),
  );
  if (asked.failures > 0) throw new Error(`${question.tool}: ${asked.failures} failures`);
  return asked;
}

async function start(cwd: string) {
  const child = spawn(process.execPath, [...nodeOptions, cli, 'serve', '--port', '0'], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stderr.on('data', (chunk) => (text += chunk));
  while (!listening.test(text)) text += (await once(child.stdout, 'data'))[0];
  child.stdout.resume();
  const status = () => readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return {
    port: Number(listening.exec(text)![1]),
    megabytes: () => Number(/VmRSS:\s+(\d+)/.exec(status())![1]) / 1024,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'close');
    },
  };
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
