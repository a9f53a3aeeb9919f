import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../src/db/database.ts';
import { collections } from '../../src/db/user-tables.ts';
import { openRaw, type Running, startServer } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { silenceRequests } from './silence-requests.ts';
import { fill, imported, row, sample, tokenOf } from './site.ts';

// How long a server says nothing while it works on requests that want to stop it: the longest answer to `/healthz`, asked
// for every 50 ms, beside an idle server in the same run.

const pause = 50;
const idle = 3000;
const releases = 1000;
const inboxFiles = 20_000;
const sharing = { creators: 24, listsOfEach: 1000 };

const sleep = (milliseconds: number) =>
  new Promise<string[]>((done) => setTimeout(() => done([]), milliseconds));

/** Runs the benchmark of silence, and prints its table. */
export async function benchSilence(): Promise<void> {
  const cwd = scratchFolder();
  await fill(cwd, releases, 100);
  const token = await tokenOf(cwd);
  const server = await startServer(cwd, ['serve', '--port', '0']);
  row('silence: the longest in ms (aim 100)', 'status', 'silence', 'took');
  const ask = (name: string, request: string) => measure(server, name, () => send(server.port, request));
  const get = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`;

  await measure(server, 'idle server', () => sleep(idle));
  await ask('the first GET /api/v1/catalog after an import', get('/api/v1/catalog'));
  // The server takes up what another process has imported.
  await imported(cwd, put(cwd, 'another.xml', sample(releases, 100)));
  await ask('the first GET /content after an import', get('/content'));
  for (const [name, request] of await silenceRequests(server, token)) await ask(name, request());
  await shareLists(cwd);
  await ask('GET /api/v1/lists, 24,000 shared lists', get('/api/v1/lists'));
  await ask('the same with include=slugs', get('/api/v1/lists?include=slugs'));
  await end(server);
  await inbox();
}

/** As many shared lists as some creators of one organization may have, with the longest descriptions. */
async function shareLists(cwd: string): Promise<void> {
  using db = openDatabase({ db: join(cwd, 'gapstone.db'), usersDb: join(cwd, 'gapstone-users.db') });
  const insert = db.orm.insert(collections);
  const fields = { kind: 'list', description: 'a'.repeat(2000), color: '', icon: '' } as const;
  await db.write(() => {
    for (let index = 0; index < sharing.creators * sharing.listsOfEach; index++) {
      const time = new Date(index * 1000).toISOString();
      const own = { id: crypto.randomUUID(), name: `List ${index}`, createdById: `creator ${index % 24}` };
      const shared = { visibility: 'SHARED', organizationId: 'bench', revision: 1 } as const;
      insert
        .values({ ...fields, ...own, ...shared, tags: ['shared'], createdAt: time, updatedAt: time })
        .run();
    }
  });
}

/** A server whose inbox is full, while it looks at it and while it imports. */
async function inbox(): Promise<void> {
  const cwd = scratchFolder();
  await fill(cwd, 1);
  const folder = join(cwd, 'inbox');
  mkdirSync(folder);
  for (const files of [0, inboxFiles]) {
    for (let index = 0; index < files; index++) put(folder, `${index}.txt`, 'no catalog');
    const server = await startServer(cwd, ['serve', '--port', '0'], { GAPSTONE_INBOX: folder });
    await measure(server, `an inbox of ${files} files`, () => sleep(4 * idle));
    await end(server);
  }
}

async function end(server: Running): Promise<void> {
  server.child.kill('SIGTERM');
  await server.ended;
}

/** Sends a request whose answer ends the connection, and gives the status of each answer. */
async function send(port: number, request: string): Promise<string[]> {
  const answers = (await (await openRaw(port, request)).end).toString('latin1');
  return Array.from(answers.matchAll(/^HTTP\/1\.1 (\d{3}) /gm), (match) => match[1]!);
}

/** Does some work, asks `/healthz` meanwhile with a pause after each answer, and prints how long that took at most. */
async function measure(server: Running, name: string, work: () => Promise<string[]>): Promise<void> {
  let longest = 0;
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const sent = performance.now();
      await send(server.port, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      longest = Math.max(longest, performance.now() - sent);
      await sleep(pause);
    }
  })();
  const started = performance.now();
  const statuses = await work();
  const took = performance.now() - started;
  isOver = true;
  await asking;
  row(name, [...new Set(statuses)].join(' '), longest.toFixed(0), took.toFixed(0));
}
