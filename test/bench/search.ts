import { runImport } from '../../importers/run.ts';
import { type Database, openCatalog } from '../../src/db/database.ts';
import { numbers, ownQuestions, srgQuestions } from '../support/questions.ts';
import { benchmarkFiles, benchmarkPaths } from '../support/real-files.ts';
import { hasReferenceData, shipped } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { loadEach } from './load.ts';
import { imported, row, start, tokenOf } from './site.ts';

// How long a search takes over HTTP with four callers, at 30 and at 1,000 releases, and what the server then has in memory:
// words of one sentence of a rule, relaxed searches, common words, ids. Those of a pasted text are asked by one caller too.

const callers = 4;
const asked = 400;
const many = 1000;

/** Runs the benchmark of searching, and prints its tables. */
export async function benchSearching(): Promise<void> {
  if (!hasReferenceData) return console.log('search: needs the publishers’ files');
  const db = openCatalog(':memory:', { create: true });
  await runImport(db, [...benchmarkPaths, shipped('search')]);
  const kinds = questionsOf(db);
  db.close();
  for (const releases of [null, many]) {
    const cwd = scratchFolder();
    const copies = releases === null ? [] : [await copiesOf(cwd, releases)];
    await imported(cwd, ...benchmarkPaths, shipped('search'), ...copies);
    await latency(cwd, kinds, releases === null ? 'the real releases' : `${releases} releases`);
  }
}

type Kind = [name: string, questions: string[]];

function questionsOf(db: Database): Kind[] {
  const lines = db.sqlite
    .prepare<[], string>('SELECT discussion FROM searchable_rules ORDER BY id')
    .pluck()
    .all()
    .flatMap((text) => text.split('\n').filter((line) => /\w \w+ \w+ \w/.test(line)));
  const ids = db.sqlite.prepare<[], string>('SELECT group_id FROM findings ORDER BY id').pluck().all();
  const short = ids.filter((id) => id.length < 9);
  const next = numbers(5);
  const pick = <T>(list: T[]): T => list[next(list.length)]!;
  const some = (make: () => string) => Array.from({ length: asked }, make);
  const words = (line: string, most: number) => line.match(/\w+/g)!.slice(0, most).join(' ');
  const titles = srgQuestions(db, 'red_hat_enterprise_linux_9', false).map(({ q }) => q);
  const own = ownQuestions().map(({ q }) => q);
  const common = ['the', 'system', 'audit', 'password', 'must be', 'security', 'configured'];
  return [
    ['four words of a sentence', some(() => words(pick(lines), 4))],
    ['a question', some(() => pick(own))],
    ['a question and the name of a STIG', some(() => `${pick(own)} rhel 9`)],
    ['the title of a requirement', some(() => pick(titles))],
    ['a common word', some(() => pick(common))],
    ['one id', some(() => pick(ids))],
    ['50 ids', some(() => Array.from({ length: 50 }, () => pick(short)).join(' '))],
  ];
}

/** Copies of the real benchmarks under other names, as many as are missing; gives their folder. */
async function copiesOf(cwd: string, releases: number): Promise<string> {
  const files = await benchmarkFiles();
  for (let index = 0; index < releases - files.length; index++) {
    const { text } = files[index % files.length]!;
    const copy = text
      .replace(/(<Benchmark\b[^>]*\bid=")([^"]*)/, `$1$2_${index}`)
      .replace(/<title>([^<]*)/, `<title>$1 ${index}`)
      .replace(/^(<\?xml[^>]*encoding=")[^"]*/, '$1utf-8');
    put(cwd, `in/${index}.xml`, copy);
  }
  return `${cwd}/in`;
}

async function latency(cwd: string, kinds: Kind[], name: string): Promise<void> {
  const token = await tokenOf(cwd);
  const server = await start(cwd);
  // A parameter that nobody knows keeps an answer from being one that is kept.
  const request = (q: string, at: number, callers: number) =>
    `GET /api/v1/search?q=${encodeURIComponent(q)}&round=${at}&callers=${callers} HTTP/1.1\r\n` +
    `Host: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  row(`\nsearch, ${callers} callers, ${name} (aim: p95 under 100 ms)`, 'p50', 'p95', 'p99');
  async function line(kind: string, questions: string[], callers: number) {
    const requests = questions.map((q, at) => request(q, at, callers));
    const own = Array.from({ length: callers }, (_, caller) =>
      requests.filter((_, at) => at % callers === caller),
    );
    const { p50, p95, p99, failures } = await loadEach(server.port, own);
    if (failures > 0) throw new Error(`${kind}: ${failures} failures`);
    row(kind, p50.toFixed(1), p95.toFixed(1), p99.toFixed(1));
  }
  await line('the first question after a start', ['log in'], 1);
  for (const [kind, questions] of kinds) await line(kind, questions, callers);
  const [ids, pasted] = kinds.at(-1)!;
  await line(`${ids}, one caller (aim: under 30)`, pasted, 1);
  row('in memory, in MB (aim: under 350)', server.megabytes().toFixed(0));
  await server.stop();
}
