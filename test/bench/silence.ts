import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../src/db/database.ts';
import { collections } from '../../src/db/user-tables.ts';
import { gapstone } from '../support/child.ts';
import { hasReferenceData, reference, shipped } from '../support/reference.ts';
import { type Running, startServer } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { writeXccdf } from '../support/xccdf-writer.ts';
import { silenceRequests } from './silence-requests.ts';
import { send, sleep, watched } from './waits.ts';

// How long a server says nothing while it works on requests that want to stop it: the longest answer to `/healthz`, asked
// for every 50 ms on a connection of its own, beside an idle server in the same run. `own` is the most processor time that
// the main thread took during one of those waits: what else the machine does makes the silence longer, but not that.

const pause = 50;
const aim = 300;
const idle = 3000;
const releases = 1000;
const inboxFiles = 20_000;
const sharing = { creators: 24, listsOfEach: 1000 };

/** Runs the benchmark of silence, and prints its table. */
export async function benchSilence(): Promise<void> {
  const cwd = scratchFolder();
  await fill(cwd);
  const issue = ['token', 'issue', '--subject', 'bench', '--org', 'bench'];
  const token = (await gapstone(issue, { cwd })).stdout.trim();
  const server = await startServer(cwd, ['serve', '--port', '0']);
  console.log(`silence: the longest in milliseconds (aim ${aim}); ${releases} releases and what is shipped`);
  if (!hasReferenceData) console.log('without the reference data: few paths to search');
  print(['', 'status', 'silence', 'own', 'took']);
  const ask = async (name: string, ...parts: (string | Buffer)[]) =>
    measure(server, name, () => send(server.port, ...parts));
  const get = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`;

  await measure(server, 'idle server', () => quiet(idle));
  await ask('the first GET /api/v1/catalog after an import', get('/api/v1/catalog'));
  // The server takes up what another process has imported.
  await imported(cwd, put(cwd, 'another.xml', sample(releases)));
  await ask('the first GET /catalog after an import', get('/catalog'));
  for (const { name, parts } of await silenceRequests(server, token)) await ask(name, ...parts());
  await shareLists(cwd);
  await ask('GET /api/v1/lists, 24,000 shared lists', get('/api/v1/lists'));
  await ask('the same with include=slugs', get('/api/v1/lists?include=slugs'));
  await measure(server, 'idle server', () => quiet(idle));
  await end(server);
  await inbox();
}

/** A catalog of many releases, and of the real files where they are here. */
async function fill(cwd: string): Promise<void> {
  for (let index = 0; index < releases; index++) put(cwd, `in/${index}.xml`, sample(index));
  const real = ['xccdf', 'oscal', 'sp800-171', 'cci', 'dod-8500', 'nice', 'onet', 'regulatory'];
  await imported(
    cwd,
    shipped(),
    join(cwd, 'in'),
    ...(hasReferenceData ? real.map((name) => reference(name)) : []),
  );
}

/** As many shared lists as some creators of one organization may have, with the longest descriptions. */
async function shareLists(cwd: string): Promise<void> {
  using db = openDatabase({ db: join(cwd, 'gapstone.db'), usersDb: join(cwd, 'gapstone-users.db') });
  const insert = db.orm.insert(collections);
  await db.write(() => {
    for (let index = 0; index < sharing.creators * sharing.listsOfEach; index++) {
      const time = new Date(index * 1000).toISOString();
      insert
        .values({
          id: crypto.randomUUID(),
          kind: 'list',
          name: `List ${index}`,
          description: 'a'.repeat(2000),
          tags: ['shared'],
          color: '',
          icon: '',
          visibility: 'SHARED',
          createdById: `creator ${index % sharing.creators}`,
          organizationId: 'bench',
          createdAt: time,
          updatedAt: time,
          revision: 1,
        })
        .run();
    }
  });
}

async function imported(cwd: string, ...paths: string[]): Promise<void> {
  const { code, stderr } = await gapstone(['import', ...paths], { cwd });
  if (code !== 0 && code !== 3) throw new Error(stderr);
}

/** One release of 100 rules; two of each STIG. */
function sample(index: number): string {
  const stig = Math.floor(index / 2);
  const title = `Sample Product ${stig} Security Technical Implementation Guide`;
  const own = { rules: 100, stem: `OWN-${stig}`, first: 2_000_000 + 100 * stig };
  return writeXccdf({ id: `Sample_${stig}`, title, release: 1 + (index % 2), ...own });
}

/** A server whose inbox is full, while it looks at it and while it imports. */
async function inbox(): Promise<void> {
  const cwd = scratchFolder();
  await imported(cwd, shipped('stigs'));
  const folder = join(cwd, 'inbox');
  mkdirSync(folder);
  const idleServer = await startServer(cwd, ['serve', '--port', '0'], { GAPSTONE_INBOX: folder });
  await measure(idleServer, 'idle server, with an empty inbox', () => quiet(idle));
  await end(idleServer);
  for (let index = 0; index < inboxFiles; index++) put(folder, `${index}.txt`, 'no catalog');
  const server = await startServer(cwd, ['serve', '--port', '0'], { GAPSTONE_INBOX: folder });
  await measure(server, `an inbox of ${inboxFiles} files`, () => quiet(4 * idle));
  await end(server);
}

async function end(server: Running): Promise<void> {
  server.child.kill('SIGTERM');
  await server.ended;
}

async function quiet(milliseconds: number): Promise<undefined> {
  await sleep(milliseconds);
}

async function measure(
  server: Running,
  name: string,
  work: () => Promise<string[] | undefined>,
): Promise<void> {
  let statuses: string[] = [];
  const { longest, own, took } = await watched(server, pause, async () => {
    statuses = (await work()) ?? [];
  });
  const figures = [longest, own, took].map((each) => each.toFixed(0));
  print([name, [...new Set(statuses)].join(' '), ...figures]);
}

function print([name = '', ...cells]: string[]): void {
  console.log(`${name.padEnd(52)}${cells.map((cell) => cell.padStart(9)).join('')}`);
}
