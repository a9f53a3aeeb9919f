import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runImport } from '../importers/run.ts';
import { openCatalog } from '../src/db/database.ts';
import { gapstone } from './support/child.ts';
import { suite } from './support/harness.ts';
import { shipped } from './support/reference.ts';
import {
  ask,
  killAll,
  openRaw,
  type RawAnswer,
  type Running,
  readAnswer,
  startServer,
  until,
} from './support/running.ts';
import { scratchFolder } from './support/scratch.ts';
import { linesOf } from './support/tables.ts';
import { noToken } from './support/words.ts';

// The server over raw connections: what no Request object can say.
const server = suite('HTTP server');

let running: Running;
let authorization: string;

server.before(async () => {
  const folder = scratchFolder();
  const file = join(folder, 'g.db');
  const db = openCatalog(file, { create: true });
  await runImport(db, [shipped('stigs')]);
  db.close();
  running = await startServer(folder, ['serve', '--port', '0', '--db', 'g.db'], {
    GAPSTONE_LOG_LEVEL: 'debug',
    GAPSTONE_CRON_SECRET: 'canary-secret',
  });
  const { stdout } = await gapstone([
    'token',
    'issue',
    '--subject',
    'canary-subject',
    '--email',
    'canary@example.org',
    '--db',
    file,
  ]);
  authorization = `Authorization: Bearer ${stdout.trim()}\r\n`;
});
server.after(killAll);

const host = 'Host: local\r\n';
const long = 'a'.repeat(20_000);

function assertProblem(answer: RawAnswer, status: number, code: string, message: string): void {
  assert.is(answer.status, status, answer.body);
  assert.is(
    answer.headers.get('content-type'),
    'application/json',
    `a ${status} without the documented body`,
  );
  const body = JSON.parse(answer.body);
  assert.equal(Object.keys(body), ['error']);
  assert.equal(Object.keys(body.error), ['code', 'message', 'requestId']);
  assert.equal([body.error.code, body.error.message], [code, message]);
  assert.match(body.error.requestId, /^[0-9a-f-]{36}$/);
}

server('headers too large are 431 on a connection that was used before, too', async () => {
  const connection = await openRaw(running.port, `GET /healthz HTTP/1.1\r\n${host}\r\n`);
  await until('the first answer', () => connection.received().includes('"ok"'));
  const first = connection.received().length;
  connection.socket.write(`GET /healthz HTTP/1.1\r\n${host}X-Long: ${long}\r\n\r\n`);
  const received = await connection.end;
  assert.ok(received.length > first, 'the connection was closed without an answer');
  assertProblem(
    readAnswer(received.subarray(first)),
    431,
    'HEADERS_TOO_LARGE',
    'The request headers are too large',
  );
});

server('what is no HTTP is 400', async () => {
  const texts = {
    'no request line': 'hello\r\n\r\n',
    TLS: '\u0016\u0003\u0001\u0000\u0005hello\r\n\r\n',
    'an unknown method': `FOO / HTTP/1.1\r\n${host}\r\n`,
    'a header without a colon': `GET /healthz HTTP/1.1\r\n${host}nonsense\r\n\r\n`,
    'a blank before the colon': `GET /healthz HTTP/1.1\r\n${host}X-Id : 1\r\n\r\n`,
    'a folded header': `GET /healthz HTTP/1.1\r\n${host}X-Id: 1\r\n 2\r\n\r\n`,
    'a NUL in a header': `GET /healthz HTTP/1.1\r\n${host}X-Id: a\u0000b\r\n\r\n`,
    'bare line feeds': 'GET /healthz HTTP/1.1\nHost: local\n\n',
    'length and chunks': `POST /api/v1/stigs/batch HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'two lengths': `POST /api/v1/stigs/batch HTTP/1.1\r\n${host}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`,
    'a negative length': `POST /api/v1/stigs/batch HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`,
    'a broken chunk': `POST /api/v1/stigs/batch HTTP/1.1\r\n${host}${authorization}Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n`,
    'an unknown version': `GET /healthz HTTP/7.1\r\n${host}\r\n`,
  };
  for (const [name, text] of Object.entries(texts)) {
    const answer = await ask(running.port, text).catch((error: Error) =>
      assert.unreachable(`${name}: ${error.message}`),
    );
    assertProblem(answer as RawAnswer, 400, 'BAD_REQUEST', 'The request is not valid HTTP');
  }
});

server('HTTP/1.0 needs no Host, as load balancers send it', async () => {
  for (const text of ['GET /healthz HTTP/1.0\r\n\r\n', `GET /healthz HTTP/1.0\r\n${host}\r\n`]) {
    const answer = await ask(running.port, text);
    assert.equal([answer.status, answer.body], [200, '{"status":"ok"}']);
  }
  const unknown = await ask(running.port, 'OPTIONS / HTTP/1.0\r\n\r\n');
  assertProblem(unknown, 405, 'METHOD_NOT_ALLOWED', 'OPTIONS is not allowed here');
});

server('TRACE is 405 with Allow, as every method that a path does not take', async () => {
  for (const method of ['TRACE', 'OPTIONS', 'DELETE', 'PROPFIND']) {
    const answer = await ask(running.port, `${method} /api/v1/stigs HTTP/1.1\r\n${host}${authorization}\r\n`);
    assertProblem(answer, 405, 'METHOD_NOT_ALLOWED', `${method} is not allowed here`);
    assert.is(answer.headers.get('allow'), 'GET, HEAD');
  }
});

server('two Authorization headers are 401, equal or not', async () => {
  const message = noToken;
  for (const second of [
    authorization,
    'Authorization: Bearer x\r\n',
    'Authorization: Basic eDp5\r\n',
    'authorization:\r\n',
  ]) {
    for (const headers of [`${authorization}${second}`, `${second}${authorization}`]) {
      const answer = await ask(running.port, `GET /api/v1/stigs HTTP/1.1\r\n${host}${headers}\r\n`);
      assertProblem(answer, 401, 'UNAUTHORIZED', message);
      assert.is(answer.headers.get('www-authenticate'), 'Bearer');
    }
  }
  const one = await ask(running.port, `GET /api/v1/stigs HTTP/1.1\r\n${host}${authorization}\r\n`);
  assert.is(one.status, 200);
});

server('HEAD has the headers of GET and no body; the connection can be used again', async () => {
  const path = '/api/v1/stigs/harbor_linux_3/download?format=csv';
  const get = await ask(
    running.port,
    `GET ${path} HTTP/1.1\r\n${host}${authorization}X-Request-Id: r\r\n\r\n`,
  );
  const twice = `HEAD ${path} HTTP/1.1\r\n${host}${authorization}X-Request-Id: r\r\n\r\nGET /healthz HTTP/1.1\r\n${host}\r\n`;
  const connection = await openRaw(running.port, twice);
  await until('both answers', () => connection.received().includes('"ok"'));
  connection.socket.destroy();
  const head = readAnswer(connection.received());
  assert.is(head.status, 200);
  const ignored = new Set(['content-length', 'date', 'keep-alive']);
  const kept = (answer: RawAnswer) => [...answer.headers].filter(([name]) => !ignored.has(name)).sort();
  assert.equal(kept(head), kept(get));
  const rest = connection.received().subarray(connection.received().indexOf('\r\n\r\n') + 4);
  assert.match(rest.toString('latin1'), /^HTTP\/1\.1 200 OK\r\n/, 'no byte of a body');
});

server('a body of more than 1 MiB is 413 and does not break what follows', async () => {
  const body = Buffer.alloc(3 * 1024 * 1024, 0x20).toString();
  const text = `POST /api/v1/stigs/batch HTTP/1.1\r\n${host}${authorization}Content-Length: ${body.length}\r\n\r\n${body}`;
  const message = 'The request body is larger than 1048576 bytes';
  assertProblem(await ask(running.port, text), 413, 'PAYLOAD_TOO_LARGE', message);
  const small = '{"slugs":["harbor_linux_3"]}';
  const after = await ask(
    running.port,
    `POST /api/v1/stigs/batch HTTP/1.1\r\n${host}${authorization}Content-Length: ${small.length}\r\n\r\n${small}`,
  );
  assert.is(after.status, 200);
});

server('a body that declares more than its limit is 413 before it comes', async () => {
  for (const [path, limit] of [
    ['/api/v1/stigs/batch', 1048576],
    ['/api/v1/checklists/upgrade', 33554432],
    ['/api/v1/checklists/from-results', 67108864],
  ]) {
    const head = `POST ${path} HTTP/1.1\r\n${host}${authorization}Content-Length: `;
    const message = `The request body is larger than ${limit} bytes`;
    for (const length of [Number(limit) + 1, '99999999999'])
      assertProblem(await ask(running.port, `${head}${length}\r\n\r\n`), 413, 'PAYLOAD_TOO_LARGE', message);
  }
  // Nothing of the body is taken for another request, however much of it still comes.
  const smuggled = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
  const connection = await openRaw(
    running.port,
    `POST /api/v1/stigs/batch HTTP/1.1\r\n${host}${authorization}Content-Length: 2000000\r\n\r\n${smuggled}`,
  );
  await until('the answer', () => connection.received().includes('PAYLOAD_TOO_LARGE'));
  connection.socket.write(smuggled.repeat(100));
  const received = (await connection.end).toString('latin1');
  assert.is(received.match(/HTTP\/1\.1 /g)!.length, 1);
  connection.socket.destroy();
});

server('a client that goes away in the middle of its body is no failure of ours', async () => {
  const id = 'goes-away';
  const connection = await openRaw(
    running.port,
    `POST /api/v1/stigs/batch HTTP/1.1\r\n${host}${authorization}X-Request-Id: ${id}\r\nContent-Length: 200\r\n\r\n{"slugs"`,
  );
  // The other one is the question itself.
  await until('it has begun', async () =>
    /_in_flight 2\n/.test((await ask(running.port, `GET /metrics HTTP/1.1\r\n${host}\r\n`)).body),
  );
  connection.socket.destroy();
  await until('the request is logged', () => running.stdout().includes(id));
  const logged = running
    .stdout()
    .split('\n')
    .filter((line) => line.includes(id));
  for (const line of logged) assert.is.not(JSON.parse(line).level, 'error', line);
});

server('every log line is JSON, without token, cookie, e-mail address, subject or query text', async () => {
  const session = await ask(running.port, `POST /api/v1/session HTTP/1.1\r\n${host}${authorization}\r\n`);
  const cookie = session.headers.get('set-cookie')!.split(';')[0]!;
  const [, , token] = authorization.trim().split(' ');
  const secrets = [
    authorization,
    authorization.replace(/.{6}\r\n$/, 'AAAA\r\n'),
    'Authorization: Bearer canary-secret\r\n',
    `Cookie: ${cookie}\r\nUser-Agent: canary@example.org ${token}\r\nX-Request-Id: gsi_canary\r\n`,
  ];
  const requests = linesOf(`
    GET /api/v1/stigs?search=canary-search
    GET /api/v1/stigs/canary-slug
    GET /canary-path?canary=1
    POST /api/v1/lists
    POST /api/v1/session
    DELETE /api/v1/session
    GET /api/cron/purge-deleted-lists
    GET /api\\canary
    CANARY /api/v1/stigs
  `);
  const body = '{"name":"canary-name","description":"canary-text"}';
  const rest = `Sec-Fetch-Site: same-origin\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  for (const line of requests)
    for (const headers of secrets) await ask(running.port, `${line} HTTP/1.1\r\n${host}${headers}${rest}`);
  await ask(running.port, `GET /healthz HTTP/1.1\r\n${host}X-Request-Id: last\r\n\r\n`);
  await until('the last line', () => running.stdout().includes('"requestId":"last"'));
  const lines = running.stdout().split('\n').slice(0, -1);
  assert.ok(lines.filter((line) => line.includes('"request"')).length > requests.length * secrets.length);
  for (const line of lines) {
    const { time, level, msg, tokenType, subjectHash } = JSON.parse(line);
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(['debug', 'info', 'warn', 'error'].includes(level) && typeof msg === 'string', line);
    assert.not.match(line, /canary|eyJ|Bearer|gsi_/i);
    assert.not.ok(line.includes(cookie.split('=')[1]!), 'the cookie');
    if (tokenType === 'user') assert.match(subjectHash, /^[0-9a-f]{12}$/);
  }
  assert.is(running.stderr(), '');
});

server.run();
