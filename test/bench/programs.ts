import { setTimeout as wait } from 'node:timers/promises';
import { message, messageHeaders } from '../support/programs-client.ts';
import { scratchFolder } from '../support/scratch.ts';
import { loadEach } from './load.ts';
import { fill, row, start, tokenOf } from './site.ts';

// How fast programs are answered over `POST /mcp` at 1,000 releases, and the memory that they cost: that of a server
// which is asked the same by the API.

const releases = 1000;
const clients = 10;
const perClient = 100;
/** Until a server that is idle has settled. */
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
const questions: Question[] = [
  {
    ...{ tool: 'get_rule', target: '15 ms', args: (at) => ({ id: idOf(at) }) },
    path: (at) => `/api/v1/rules/${idOf(at)}`,
  },
  {
    ...{ tool: 'find', target: '60 ms', args: (at) => ({ q: wordsOf(at) }) },
    path: (at) => `/api/v1/search?limit=50&q=${encodeURIComponent(wordsOf(at))}`,
  },
];

/** Runs the benchmark of programs, and prints its tables. */
export async function benchPrograms(): Promise<void> {
  const cwd = scratchFolder();
  await fill(cwd, releases);
  const { call, get } = requestsOf(await tokenOf(cwd));
  const server = await start(cwd);
  row(`${releases} releases, ${clients} clients`, 'calls/s', 'p50 ms', 'p99 ms', 'target');
  for (const question of questions)
    for (const isNew of [true, false]) {
      // A thousand first, which meet code that V8 has not compiled yet.
      await ask(server.port, clients, question, call, isNew ? 1 : undefined);
      const { rate, p50, p99 } = await ask(server.port, clients, question, call, isNew ? 2 : undefined);
      const figures = [rate.toFixed(0), p50.toFixed(1), p99.toFixed(1)];
      row(`${question.tool}, ${isNew ? 'new' : 'again'}`, ...figures, question.target);
    }
  await server.stop();
  const [rest, programs] = [await memory(cwd, get), await memory(cwd, call)];
  row('\nmemory in MB, the same questions', 'before', 'after', 'idle');
  row('by the API', ...rest.map(Math.round));
  row('by programs', ...programs.map(Math.round));
  row('more (target: 60)', ...programs.map((each, index) => Math.round(each - rest[index]!)));
}

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

/** The resident memory of a new server before the first question, after the last, and when it is idle. */
async function memory(cwd: string, requestOf: RequestOf): Promise<number[]> {
  const server = await start(cwd);
  const seen = [server.megabytes()];
  for (const question of [...questions, ...questions]) await ask(server.port, clients, question, requestOf);
  await ask(server.port, 5 * clients, questions[0]!, requestOf);
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
