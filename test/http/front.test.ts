import { connect } from 'node:net';
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
  type RawConnection,
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

/** Opens a connection from an address of this machine, and sends bytes that need not be text. */
function send(port: number, text: string, localAddress = '127.0.0.1'): Promise<RawConnection['socket']> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress }, () => {
      socket.write(Buffer.from(text, 'latin1'));
      resolve(socket);
    });
    socket.once('error', reject);
    socket.on('error', () => undefined);
    socket.resume();
  });
}

const hosts = [
  '\xe9.\xe9.\xe9.\xe9.\xe9.\xe9.\xe9/api/v1/controls/nist-800-53?limit=1#aaaaa',
  ...[
    '\xe9',
    '\xe9.\xe9/x#',
    'a/b',
    'a/../b',
    'a?b',
    'a#b',
    'a\\b',
    'a@b',
    'u:p@local',
    'a:b',
    'a:99999',
    'a:1:2',
  ],
  ...[
    'local/api/v1/controls/nist-800-53/AC-3?',
    'local#',
    'local?',
    'local\\',
    '[::1',
    '::1',
    '[g]',
    'a b',
    'a,b',
  ],
  ...['%6c', 'a\x01b', 'a\x7f', '', ' ', '/', '?', '#', '@', 'http://local', '-', '\xa0', 'a\xadb'],
];
const targets = [
  ...[
    '/api/v1/controls/nist-800-53/AC-2#x',
    '/api/v1/stigs\\',
    '/\\local/x',
    '/x?y#z',
    '*',
    'local',
    'local:80',
  ],
  ...[
    'http://\xe9/api/v1/controls/nist-800-53/AC-2',
    'http://u@local/api/v1/controls/nist-800-53/AC-2',
    'http://a b/',
  ],
  ...[
    'http://local#/healthz',
    'http://local\\/healthz',
    'http:///healthz',
    'http://local:99999/',
    'ftp://local/',
  ],
  ...['/api/v1/controls/nist-800-53/\xe9', '/\xff', '//local\\x'],
];

front('no Host and no target gets the answer of another address, or leaves one under it', async () => {
  const { running, folder } = await serve();
  const { port } = running;
  const token = await tokenOf(folder, 'ann');
  const control = '/api/v1/controls/nist-800-53/AC-2';
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
  const forged = [
    ...hosts.flatMap((host) => paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n`)),
    ...hosts.map((host) => `GET http://local${control} HTTP/1.1\r\nHost: ${host}\r\n`),
    ...targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: local\r\n`),
    ...targets.map((target) => `GET ${target} HTTP/1.0\r\n`),
    `GET ${control} HTTP/1.1\r\n`,
    `GET ${control} HTTP/1.1\r\nHost: local\r\nHost: local\r\n`,
  ];
  const first = `GET ${control} HTTP/1.1\r\nHost: local\r\n\r\n`;
  for (const [index, head] of forged.entries()) {
    const text = `${head}${index % 3 === 0 ? authorization : ''}\r\n`;
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

/** Megabytes that the process holds outside of the heap, where bodies are. */
async function external(running: Running): Promise<number> {
  return (await metric(running, 'nodejs_external_memory_bytes')) / mebibyte;
}

/** Asks over and over until it is so; a refusal is no answer. */
async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  let held = false;
  let asking = false;
  await until(what, () => {
    if (!asking) {
      asking = true;
      holds()
        .then((is) => {
          held = is;
        })
        .catch(() => undefined)
        .finally(() => {
          asking = false;
        });
    }
    return held;
  });
}

async function metric(running: Running, name: string): Promise<number> {
  const text = await (await fetch(`${running.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)![1]);
}

front(
  'half-sent requests on every connection are gone soon after the time limit, and others get in',
  async () => {
    const { running } = await serve({ GAPSTONE_MAX_CONNECTIONS: '20', GAPSTONE_REQUEST_TIMEOUT: '2' });
    const held = await Promise.all(
      // Stubborn: they stay when the server ends them.
      Array.from({ length: 20 }, () => openRaw(running.port, half(batch, 1000, 10), true)),
    );
    await until('all are refused', () => held.every((each) => each.received().includes('HTTP/1.1 408 ')));
    // The service counts the connection that asks, and none of those that are still held open on the other side.
    await eventually(
      'one connection',
      async () => (await metric(running, 'gapstone_http_connections')) === 1,
    );
    for (const each of held) assert.is(readAnswer(each.received()).status, 408);
  },
);

front('one address cannot keep another out, whatever its connections wait for', async () => {
  const { running } = await serve({ GAPSTONE_MAX_CONNECTIONS: '20' });
  const idle = await Promise.all(Array.from({ length: 10 }, () => send(running.port, '', '127.0.0.2')));
  const arriving = await Promise.all(
    Array.from({ length: 10 }, () => send(running.port, half(batch, 1000, 10), '127.0.0.2')),
  );
  for (let count = 0; count < 9; count++) {
    const socket = await send(running.port, half(batch, 1000, 10));
    assert.is(socket.destroyed, false);
  }
  const { status } = await ask(running.port, 'GET /healthz HTTP/1.1\r\nHost: local\r\n\r\n');
  assert.is(status, 200);
  await until('room', () => [...idle, ...arriving].filter((socket) => socket.destroyed).length >= 10);
});

front('unfinished bodies are bounded for one caller, and their memory comes back', async () => {
  const { running } = await serve({ GAPSTONE_REQUEST_TIMEOUT: '5' });
  const before = await external(running);
  const text = half(batch, mebibyte, mebibyte - 1);
  const held = await Promise.all(Array.from({ length: 150 }, () => openRaw(running.port, text)));
  await until(
    'most are refused',
    () => held.filter((each) => each.received().includes(' 503 ')).length >= 130,
  );
  // Sixteen bodies, what sockets buffer, and of those that were refused what the runtime has not collected yet: it may need a
  // few other requests to do so.
  let during = await external(running);
  for (let count = 0; count < 20 && during - before >= 90; count++) {
    await (await fetch(`${running.url}/openapi.json`)).text();
    during = await external(running);
  }
  assert.ok(during - before < 90, `${during - before} MB of 150`);
  assert.ok(held.filter((each) => each.received().length === 0).length > 0, 'some still arrive');
  const { body } = readAnswer(held.find((each) => each.received().includes(' 503 '))!.received());
  assert.is(JSON.parse(body).error.message, 'Too many request bodies are being received. Try again');
  await until('all are cut', () => held.every((each) => each.closed()));
  // The runtime gives memory back when it needs some: a few other requests must be enough.
  await eventually('the memory', async () => {
    for (let count = 0; count < 20; count++) await (await fetch(`${running.url}/openapi.json`)).text();
    return (await external(running)) - before < 10;
  });
});

front('unfinished uploads of one user keep no other user waiting', async () => {
  const { running, folder } = await serve();
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
  for (const { socket } of held) socket.destroy();
});

front.run();
