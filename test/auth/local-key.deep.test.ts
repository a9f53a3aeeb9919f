import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { issueUserToken } from '../../src/auth/tokens.ts';
import { readConfig } from '../../src/base/config.ts';
import { openCatalog } from '../../src/db/database.ts';
import { suite } from '../support/harness.ts';
import { killAll, type Running, runToEnd, startServer, until } from '../support/running.ts';
import { scratchFolder } from '../support/scratch.ts';

// The local key is followed as a pinned key set is (rule D34.4): for a site without an identity provider, to replace it
// is the way to revoke tokens.
const local = suite('The local key while a server runs');
local.after(killAll);

const request = { subject: 'ann', entitlements: [], lifetime: 600 };
let folder: string;
let keyFile: string;
let running: Running;

const status = async (token: string) =>
  (await fetch(`${running.url}/api/v1/lists`, { headers: { Authorization: `Bearer ${token}` } })).status;
const logged = (msg: string) => running.stdout().split(`"msg":"${msg}"`).length - 1;

/** A token of a key that is made in a folder of its own, and that key's file. */
async function another(): Promise<{ token: string; file: string }> {
  const config = readConfig({ db: join(scratchFolder(), 'g.db') }, {});
  return { token: await issueUserToken(config, request, new Date()), file: config.keyFile };
}

/** Begins a session with a token; the body of the request ends after `meanwhile`. Gives its cookie. */
async function session(token: string, meanwhile = async () => {}): Promise<string> {
  const headers = { Authorization: `Bearer ${token}`, Expect: '100-continue' };
  const request = httpRequest(`${running.url}/api/v1/session`, { method: 'POST', headers });
  const answered = once(request, 'response');
  request.flushHeaders();
  // By then the server has read the head.
  await once(request, 'continue');
  await meanwhile();
  request.end(' ');
  const [answer] = (await answered) as [IncomingMessage];
  answer.resume();
  assert.is(answer.statusCode, 204);
  return answer.headers['set-cookie']![0]!.split(';')[0]!;
}

const sessionStatus = async (Cookie: string) =>
  (await fetch(`${running.url}/api/v1/lists`, { headers: { Cookie } })).status;

/** Asks with a token until it is answered with a status. */
async function statusBecomes(token: string, wanted: number): Promise<void> {
  await until(`it becomes ${wanted}`, async () => (await status(token)) === wanted);
}

local.before(async () => {
  folder = scratchFolder();
  const db = join(folder, 'g.db');
  openCatalog(db, { create: true }).close();
  keyFile = join(folder, 'gapstone-key.json');
  running = await startServer(folder, ['serve', '--port', '0', '--db', 'g.db']);
});

local('a new key counts at once, tokens of the former one are refused from then on', async () => {
  const issued = await runToEnd(folder, ['token', 'issue', '--subject', 'ann', '--db', 'g.db']);
  const former = issued.stdout.trim();
  for (let count = 0; count < 3; count++) assert.is(await status(former), 200, 'and is remembered');
  const { token, file } = await another();
  assert.is(await status(token), 401);
  renameSync(file, keyFile);
  // The file is looked at five times a second (test/auth/key-watch.test.ts); a machine that is busy may take longer.
  await statusBecomes(token, 200);
  for (let count = 0; count < 3; count++) assert.is(await status(former), 401);
  assert.is(logged('key set reloaded'), 1);
  const events = readFileSync(join(folder, 'gapstone-audit.jsonl'), 'utf8').split('\n');
  assert.is(events.filter((line) => line.includes('"keys.reload"')).length, 1);
});

local(
  'one that is damaged, open to others, a folder or gone leaves the last good one, and none is made',
  async () => {
    const good = readFileSync(keyFile, 'utf8');
    const { token } = await tokenOf(keyFile);
    const other = await another();
    const bad: (() => void)[] = [
      () => {
        writeFileSync(keyFile, readFileSync(other.file));
        chmodSync(keyFile, 0o644);
      },
      () => rmSync(keyFile),
    ];
    for (const [index, change] of bad.entries()) {
      change();
      await until('it is told', () => {
        void status(token);
        return logged('key set not reloaded: the new file cannot be used') > index;
      });
      assert.equal([await status(token), await status(other.token)], [200, 401], String(index));
      assert.is(existsSync(keyFile), index === 0, 'none is made');
    }
    assert.not(running.stdout().includes(JSON.parse(good).d.slice(0, 8)), 'no part of a key is told');
    // What makes a new key is to ask for a token.
    const issued = await runToEnd(folder, ['token', 'issue', '--subject', 'ann', '--db', 'g.db']);
    await statusBecomes(issued.stdout.trim(), 200);
    assert.is(await status(token), 401);
  },
);

local('sessions end with the key that their tokens were signed with, after a restart too', async () => {
  const { token: former } = await tokenOf(keyFile);
  await statusBecomes(former, 200);
  const begun = await session(former);
  assert.is(await sessionStatus(begun), 200);
  const formerKey = readFileSync(keyFile);
  const next = await another();
  // One request is known by the former key, and its body comes when that is no more.
  const late = await session(former, async () => {
    // What was asked later is answered: the token of the earlier request is verified.
    for (let count = 0; count < 3; count++) assert.is(await status(former), 200);
    renameSync(next.file, keyFile);
    await statusBecomes(next.token, 200);
  });
  assert.equal([await sessionStatus(begun), await sessionStatus(late)], [401, 401]);
  const own = await session(next.token);
  assert.is(await sessionStatus(own), 200);
  running.child.kill('SIGTERM');
  await running.ended;
  writeFileSync(keyFile, formerKey);
  running = await startServer(folder, ['serve', '--port', '0', '--db', 'g.db']);
  assert.is(await sessionStatus(own), 401, 'replaced while no server ran');
});

/** A token of the key that is in a file. */
async function tokenOf(file: string): Promise<{ token: string }> {
  const config = readConfig({ db: join(folder, 'g.db') }, { GAPSTONE_KEY_FILE: file });
  return { token: await issueUserToken(config, request, new Date()) };
}

local.run();
