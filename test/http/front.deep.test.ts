import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import { openCatalog } from '../../src/db/database.ts';
import { suite } from '../support/harness.ts';
import { shipped } from '../support/reference.ts';
import {
  ask,
  killAll,
  openRaw,
  type Running,
  readAnswer,
  runToEnd,
  startServer,
  until,
} from '../support/running.ts';
import { scratchFolder } from '../support/scratch.ts';

// What a server is asked for, by whom it is held, and what that costs: over real connections.
const front = suite('Requests that forge, stall or hoard');
front.after(killAll);

const mebibyte = 1024 * 1024;

async function serve(env: Record<string, string> = {}): Promise<{ running: Running; folder: string }> {
  const folder = scratchFolder();
  const db = openCatalog(join(folder, 'g.db'), { create: true });
  await runImport(db, [shipped('stigs'), shipped('controls')]);
  db.close();
  return { running: await startServer(folder, ['serve', '--port', '0', '--db', 'g.db'], env), folder };
}

async function tokenOf(folder: string, subject: string): Promise<string> {
  return (await runToEnd(folder, ['token', 'issue', '--subject', subject, '--db', 'g.db'])).stdout.trim();
}

const control = '/api/v1/controls/nist-800-53/AC-2';
/** What asks in the name of another address; test/http/request.test.ts has more of them. */
const forged = [
  ...['\xe9.\xe9.\xe9.\xe9.\xe9.\xe9.\xe9/api/v1/controls/nist-800-53?limit=1#aaaaa', 'a/../b', 'u:p@local'],
  ...['local/api/v1/controls/nist-800-53/AC-3?', 'local\\', '[::1', 'a\x01b', 'a\xadb', '', 'a b'],
]
  .flatMap((host) => [
    `${control} HTTP/1.1\r\nHost: ${host}`,
    `http://local${control} HTTP/1.1\r\nHost: ${host}`,
  ])
  .concat(
    [`${control}#x`, '/\\local/x', '*', 'local:80', `http://\xe9${control}`, 'http:///healthz', '/\xff'].map(
      (target) => `${target} HTTP/1.1\r\nHost: local`,
    ),
    [`${control} HTTP/1.1`, `${control} HTTP/1.1\r\nHost: local\r\nHost: local`, '/api/v1/stigs\\ HTTP/1.0'],
  );

// One for two tests.
const shared = await serve();

front('no Host and no target gets the answer of another address, or leaves one under it', async () => {
  const { running, folder } = shared;
  const { port } = running;
  const token = await tokenOf(folder, 'ann');
  const paths = [control, '/api/v1/stigs', '/readyz', '/api/v1/controls/nist-800-53?limit=1'];
  const authorization = `Authorization: Bearer ${token}\r\n`;
  const fair = async () => {
    const answers = [];
    for (const path of paths)
      for (const line of ['', authorization]) {
        const { status, body } = await ask(port, `GET ${path} HTTP/1.1\r\nHost: local\r\n${line}\r\n`);
        answers.push([path, status, status === 401 ? '' : body]);
      }
    return answers;
  };
  const before = await fair();
  assert.equal(
    before.map(([, status]) => status),
    [200, 200, 401, 200, 200, 200, 200, 200],
  );
  // Each alone, with and without a token, and between requests whose answers are kept on one connection.
  const first = `GET ${control} HTTP/1.1\r\nHost: local\r\n\r\n`;
  for (const [index, head] of forged.entries()) {
    const text = `GET ${head}\r\n${index % 3 === 0 ? authorization : ''}\r\n`;
    const connection = await openRaw(port, index % 2 === 0 ? first : '');
    if (index % 2 === 0) await until('the first answer', () => connection.received().includes('\r\n\r\n{'));
    connection.socket.write(Buffer.from(text, 'latin1'));
    const answers = (await connection.end).toString('latin1').split(/(?=HTTP\/1\.1 \d{3} )/);
    const refused = answers.pop()!;
    assert.match(refused, /^HTTP\/1\.1 400 Bad Request\r\n/, JSON.stringify(text));
    assert.match(refused, /"code":"BAD_REQUEST"/);
    assert.equal(
      answers.map((each) => readAnswer(Buffer.from(each, 'latin1')).body),
      index % 2 === 0 ? [before[0]![2]] : [],
    );
  }
  assert.equal(await fair(), before);
  // What is a host, and what asks for the same in other words, is answered as ever.
  const [, , body] = before[0]!;
  for (const text of [
    ...['LOCAL', 'a_b:1', '127.0.0.1', '[::1]:8080', 'x.'].map(
      (host) => `GET ${control} HTTP/1.1\r\nHost: ${host}\r\n`,
    ),
    `GET http://elsewhere.example${control} HTTP/1.1\r\nHost: local\r\n`,
    `GET /x/%2e%2e${control} HTTP/1.1\r\nHost: local\r\n`,
    `GET ${control} HTTP/1.0\r\n`,
  ])
    assert.equal([(await ask(port, `${text}\r\n`)).body, text], [body, text]);
  assert.equal(await fair(), before);
});

const batch = '/api/v1/crosswalk/resolve/batch';
const half = (path: string, length: number, sent: number, lines = '') =>
  `POST ${path} HTTP/1.1\r\nHost: local\r\n${lines}Content-Length: ${length}\r\n\r\n${' '.repeat(sent)}`;

front('half-sent requests on every connection are gone soon after the time limit', async () => {
  const { running } = await serve({ GAPSTONE_MAX_CONNECTIONS: '20', GAPSTONE_REQUEST_TIMEOUT: '2' });
  const held = await Promise.all(
    // Stubborn: they stay when the server ends them.
    Array.from({ length: 20 }, () => openRaw(running.port, half(batch, 1000, 10), true)),
  );
  await until('all are refused', () => held.every((each) => each.received().includes('HTTP/1.1 408 ')));
  const [first] = held.map((each) => readAnswer(each.received()));
  assert.equal([first!.status, first!.headers.get('connection')], [408, 'close']);
  assert.is(JSON.parse(first!.body).error.message, 'The request took too long to arrive');
  // Others get in: the service counts the connection that asks, and none of those that are held open on the other side.
  const open = /^gapstone_http_connections 1$/m;
  await until('one connection', () =>
    fetch(`${running.url}/metrics`).then(
      async (answer) => open.test(await answer.text()),
      () => false,
    ),
  );
});

front('bodies in chunks count as they arrive: several small ones of one caller are taken', async () => {
  const { running, folder } = shared;
  const token = await tokenOf(folder, 'chunks');
  const head = `POST /api/v1/checklists/inspect HTTP/1.1\r\nHost: local\r\nAuthorization: Bearer ${token}\r\n`;
  const chunks = `${head}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n`;
  const unfinished = await Promise.all([1, 2, 3].map(() => openRaw(running.port, chunks)));
  const { status } = await ask(running.port, `${chunks}0\r\n\r\n`);
  assert.is(status, 400);
  for (const { socket } of unfinished) socket.destroy();
});

front('unfinished bodies of one caller are bounded, and keep no other waiting', async () => {
  const { running, folder } = shared;
  const text = half(batch, mebibyte, mebibyte - 1);
  const bodies = await Promise.all(Array.from({ length: 40 }, () => openRaw(running.port, text)));
  const refused = () => bodies.filter((each) => each.received().includes(' 503 '));
  await until('most are refused', () => refused().length >= 20);
  assert.ok(
    bodies.some((each) => each.received().length === 0),
    'some still arrive',
  );
  const { body } = readAnswer(refused()[0]!.received());
  assert.is(JSON.parse(body).error.message, 'Too many request bodies are being received. Try again');
  const [ann, bob] = [await tokenOf(folder, 'ann'), await tokenOf(folder, 'bob')];
  const path = '/api/v1/checklists/upgrade';
  const cklb = await (
    await fetch(`${running.url}/api/v1/stigs/harbor_linux_3/download?version=V1R1`, {
      headers: { Authorization: `Bearer ${bob}` },
    })
  ).json();
  const line = `Authorization: Bearer ${ann}\r\n`;
  const held = await Promise.all(
    Array.from({ length: 6 }, () => openRaw(running.port, half(path, 30 * mebibyte, 29 * mebibyte, line))),
  );
  await until('hers are bounded', () => held.filter((each) => each.received().includes(' 503 ')).length >= 3);
  const response = await fetch(`${running.url}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${bob}` },
    body: JSON.stringify({ checklist: cklb, slug: 'harbor_linux_3' }),
  });
  assert.is(response.status, 200);
  assert.is(held.filter((each) => each.received().length === 0).length, 3, 'three of hers still arrive');
  for (const { socket } of [...held, ...bodies]) socket.destroy();
});

front.run();
