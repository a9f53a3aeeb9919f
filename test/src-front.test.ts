import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import * as assert from 'uvu/assert';
import { runImport } from '../importers/run.ts';
import { CommandError } from '../src/base/errors.ts';
import { createLog } from '../src/base/log.ts';
import { openCatalog } from '../src/db/database.ts';
import { loadCertificate } from '../src/http/certificate.ts';
import { createObserver } from '../src/http/observe/observer.ts';
import type { RequestRecord } from '../src/http/observe/record.ts';
import { startServer as listen, type RunningServer, type ServerOptions } from '../src/server.ts';
import { selfSigned } from './support/certificate.ts';
import { suite } from './support/harness.ts';
import { shipped } from './support/reference.ts';
import {
  ask,
  killAll,
  openRaw,
  type Running,
  readAnswer,
  runToEnd,
  startServer,
  until,
} from './support/running.ts';
import { put, scratchFolder } from './support/scratch.ts';

// What stands in front of the routes, over real connections.
const front = suite('The front of the server');

const sample = join(scratchFolder(), 'g.db');
const host = 'Host: local\r\n';
const hour = 3600_000;
const started: RunningServer[] = [];

front.before(async () => {
  const db = openCatalog(sample, { create: true });
  await runImport(db, [shipped('stigs')]);
  db.close();
});
front.after(async () => {
  killAll();
  await Promise.all(started.map((server) => server.stop()));
});

/** A server in this process, whose log is kept. */
async function local(
  fetch: (request: Request, record: RequestRecord) => Response | Promise<Response>,
  options: Partial<ServerOptions> = {},
) {
  const written: string[] = [];
  const log = createLog('info', (line) => written.push(line));
  const server = await listen(fetch, {
    host: '127.0.0.1',
    port: 0,
    log,
    observer: createObserver(log),
    ...options,
  });
  started.push(server);
  // biome-ignore lint/suspicious/noExplicitAny: log lines have fields of every kind
  return { server, port: server.port, lines: (): any[] => written.map((line) => JSON.parse(line)) };
}

function folderWithSample(): string {
  const folder = scratchFolder();
  copyFileSync(sample, join(folder, 'g.db'));
  return folder;
}

function serve(folder: string, env: Record<string, string> = {}): Promise<Running> {
  return startServer(folder, ['serve', '--port', '0', '--db', 'g.db'], env);
}

const logOf = (running: Running) =>
  running
    .stdout()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

front('of the requests that one packet brings, few begin in one turn of the event loop', async () => {
  const begun: number[] = [];
  let turn = 0;
  let ended = false;
  const count = () => {
    turn++;
    if (!ended) setImmediate(count);
  };
  const { port, server } = await local(() => {
    begun.push(turn);
    return new Response('ok');
  });
  count();
  const connection = await openRaw(port, `GET / HTTP/1.1\r\n${host}\r\n`.repeat(100));
  await until('all of them', () => begun.length === 100);
  ended = true;
  const most = Math.max(...[...Map.groupBy(begun, (each) => each).values()].map((each) => each.length));
  assert.ok(most <= 2, `${most} in one turn`);
  connection.socket.destroy();
  await until('all are over', () => server.load().requests === 0);
});

front('of requests that arrive together on several connections one begins before the turn ends', async () => {
  const begun: number[] = [];
  let turn = 0;
  const { port } = await local(() => {
    begun.push(turn);
    return new Response('ok');
  });
  const connections = await Promise.all(Array.from({ length: 20 }, () => openRaw(port, '')));
  // The server reads all of them after this.
  for (const { socket } of connections) socket.write(`GET / HTTP/1.1\r\n${host}\r\n`);
  const count = () => {
    turn++;
    if (begun.length < 20) setImmediate(count);
  };
  setImmediate(count);
  await until('all of them', () => begun.length === 20);
  assert.is(begun.filter((each) => each === begun[0]).length, 1);
  for (const { socket } of connections) socket.destroy();
});

front('past the connection limit a client is told so, and gets in when another is gone', async () => {
  let refused = 0;
  const { port, server, lines } = await local(() => new Response('ok'), {
    maxConnections: 3,
    rejected: () => refused++,
  });
  const held = await Promise.all([1, 2, 3].map(() => openRaw(port, '')));
  await until('three connections', () => server.load().connections === 3);
  const answer = await ask(port, `GET / HTTP/1.1\r\n${host}X-Request-Id: over\r\n\r\n`);
  assert.is(answer.status, 503);
  assert.equal(JSON.parse(answer.body).error, {
    code: 'UNAVAILABLE',
    message: 'The service has too many connections. Try again',
    requestId: 'over',
  });
  assert.is(answer.headers.get('retry-after'), '5');
  assert.is(answer.headers.get('connection'), 'close');
  assert.is(answer.headers.get('x-content-type-options'), 'nosniff');
  assert.is(refused, 1);
  const silent = await openRaw(port, '');
  await silent.end;
  held[0]!.socket.destroy();
  await until('room', () => server.load().connections === 2);
  assert.is((await ask(port, `GET / HTTP/1.1\r\n${host}\r\n`)).status, 200);
  assert.equal(
    lines().map((line) => line.status),
    [503, 200],
  );
});

front('an answer that is not read is cut; who reads has it whole', async () => {
  const big = new Uint8Array(32 * 1024 * 1024).fill(65);
  // A busy machine reads this much in a fraction of the time.
  const readers = { graceMilliseconds: 500, slowestBytesPerSecond: big.length / 4 };
  const { port, lines, server } = await local(() => new Response(big), { readers });
  const stuck = await openRaw(port, `GET / HTTP/1.1\r\n${host}X-Request-Id: stuck\r\n\r\n`);
  stuck.socket.pause();
  const reading = await openRaw(port, `GET / HTTP/1.1\r\n${host}X-Request-Id: reads\r\n\r\n`);
  await until('the whole answer', () => reading.socket.bytesRead > big.length);
  reading.socket.destroy();
  await until('the cut', () => lines().some((line) => line.requestId === 'stuck'));
  const [cut] = lines().filter((line) => line.requestId === 'stuck');
  assert.equal([cut.status, cut.aborted], [200, true]);
  const [whole] = lines().filter((line) => line.requestId === 'reads');
  assert.is(whole.aborted, undefined);
  assert.ok(whole.bytes > big.length, String(whole.bytes));
  assert.ok(lines().some((line) => line.level === 'warn' && line.connections === 1));
  stuck.socket.destroy();
  await until('no connection', () => server.load().connections === 0);
  assert.is(server.load().requests, 0);
});

front('a connection is closed after its thousandth request, none of them unanswered', async () => {
  const { port } = await local(() => new Response('ok'));
  const connection = await openRaw(port, `GET / HTTP/1.1\r\n${host}\r\n`.repeat(1200));
  const text = (await connection.end).toString('latin1');
  assert.is(text.split('HTTP/1.1 200 OK').length - 1, 1000);
  assert.is(text.split('HTTP/1.1').length - 1, 1000);
  assert.is(text.split('Connection: close').length - 1, 1);
});

front(
  'what never reaches a route is logged once, with its status, and has the headers of every answer',
  async () => {
    // By a promise, as the application.
    const { port, lines } = await local(async () => new Response('ok'));
    const texts: [text: string, status: number][] = [
      ['hello\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\n${host}X-Long: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
      ['GET / HTTP/1.1\r\nHost: a/b\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\n${host}${host}\r\n`, 400],
      [`GET / HTTP/1.1\r\n${host}Expect: magic\r\n\r\n`, 400],
      [`POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`, 400],
    ];
    for (const [index, [text, status]] of texts.entries()) {
      const answer = await ask(port, text);
      assert.is(answer.status, status, text.slice(0, 40));
      for (const name of 'x-content-type-options content-security-policy referrer-policy x-request-id'.split(
        ' ',
      ))
        assert.ok(answer.headers.has(name), `${text.slice(0, 40)}: no ${name}`);
      assert.not(answer.headers.has('server'));
      await until('a line', () => lines().length > index);
      const line = lines()[index];
      assert.equal([line.msg, line.status, line.route, line.remote], ['request', status, null, '127.0.0.1']);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.is(lines().length, texts.length);
  },
);

front('X-Forwarded-For is believed of trusted proxies alone, from its end', async () => {
  const seen: RequestRecord[] = [];
  const take = (_: Request, record: RequestRecord) => {
    seen.push(record);
    return new Response('ok');
  };
  const headers = (forwarded: string) =>
    `GET / HTTP/1.1\r\n${host}X-Forwarded-Proto: https\r\nX-Forwarded-For: ${forwarded}\r\n\r\n`;
  const plain = await local(take);
  await ask(plain.port, headers('203.0.113.9'));
  assert.equal([seen[0]!.remote, seen[0]!.secure], ['127.0.0.1', false]);
  const behind = await local(take, { trustedProxies: ['127.0.0.0/8', '10.1.0.0/16'] });
  const cases: [forwarded: string, remote: string][] = [
    ['203.0.113.9', '203.0.113.9'],
    ['1.1.1.1, 203.0.113.9', '203.0.113.9'],
    ['1.1.1.1, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
    ['203.0.113.9:4711, 10.1.2.3', '203.0.113.9'],
    ['[2001:db8::9]:4711', '2001:db8::9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['1.1.1.1, nonsense', '127.0.0.1'],
    ['1.1.1.1, , 10.1.2.3', '10.1.2.3'],
    [`${'9'.repeat(500)}, 10.1.2.3`, '10.1.2.3'],
  ];
  for (const [forwarded, remote] of cases) {
    await ask(behind.port, headers(forwarded));
    assert.equal([seen.at(-1)!.remote, seen.at(-1)!.secure], [remote, true], forwarded);
  }
});

front('no header is dropped: 100 are read to the last, which a proxy wrote, and more are 431', async () => {
  const seen: RequestRecord[] = [];
  const behind = await local(
    (_, record) => {
      seen.push(record);
      return new Response('ok');
    },
    { trustedProxies: ['127.0.0.0/8'] },
  );
  const request = (count: number) => {
    const others = Array.from({ length: count - 4 }, (_, index) => `X-Filler-${index}: 1\r\n`).join('');
    const forged = 'X-Forwarded-For: 192.0.2.66\r\n';
    return `GET / HTTP/1.1\r\n${host}${forged}${others}X-Request-Id: the-last\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n`;
  };
  for (const count of [4, 64, 99, 100]) {
    assert.is((await ask(behind.port, request(count))).status, 200, String(count));
    const { remote, requestId } = seen.at(-1)!;
    assert.equal([remote, requestId], ['203.0.113.9', 'the-last'], String(count));
  }
  const reached = seen.length;
  for (const count of [101, 128, 400]) {
    const { status, body, headers } = await ask(behind.port, request(count));
    assert.is(status, 431, String(count));
    const { code, message, requestId } = JSON.parse(body).error;
    assert.equal([code, message], ['HEADERS_TOO_LARGE', 'The request has too many headers']);
    assert.equal([requestId, headers.get('connection')], ['the-last', 'close']);
  }
  assert.is(seen.length, reached, 'none of them reaches the router');
  const told = behind.lines().filter(({ status }) => status === 431);
  assert.equal(
    told.map(({ remote }) => remote),
    Array(3).fill('203.0.113.9'),
    'nor does the log believe what was forged',
  );
});

front(
  'TLS: 1.2 or later, strict transport, secure cookies; plain HTTP gets nothing; SIGHUP reloads',
  async () => {
    const folder = folderWithSample();
    const now = Date.now();
    const first = selfSigned(new Date(now - hour), new Date(now + hour));
    put(folder, 'cert.pem', first.cert);
    put(folder, 'key.pem', first.key);
    chmodSync(join(folder, 'key.pem'), 0o600);
    const env = { GAPSTONE_TLS_CERT: 'cert.pem', GAPSTONE_TLS_KEY: 'key.pem' };
    const running = await serve(folder, env);
    assert.match(running.url, /^https:\/\/127\.0\.0\.1:\d+$/);
    const issued = await runToEnd(folder, ['token', 'issue', '--subject', 'ann', '--db', 'g.db']);
    const answer = await get(running.port, '/api/v1/session', first.cert, issued.stdout.trim());
    assert.is(answer.status, 204);
    assert.match(String(answer.headers['set-cookie']), /; Secure/);
    assert.is(answer.headers['strict-transport-security'], 'max-age=63072000');
    assert.is(await protocolOf(running.port, 'TLSv1.1'), null);
    assert.is(await protocolOf(running.port, 'TLSv1.2'), 'TLSv1.2');
    assert.is(await protocolOf(running.port, 'TLSv1.3'), 'TLSv1.3');
    const plain = await openRaw(running.port, `GET /healthz HTTP/1.1\r\n${host}\r\n`);
    assert.not.match((await plain.end).toString('latin1'), /HTTP/);

    const second = selfSigned(new Date(now - hour), new Date(now + 2 * hour));
    writeFileSync(join(folder, 'cert.pem'), second.cert);
    running.child.kill('SIGHUP');
    await until('a refusal', () => running.stdout().includes('certificate not reloaded'));
    assert.is((await get(running.port, '/healthz', first.cert)).status, 200, 'the old one serves on');
    const weak = selfSigned(new Date(now - hour), new Date(now + hour), rsaKey(1024));
    writeFileSync(join(folder, 'cert.pem'), weak.cert);
    writeFileSync(join(folder, 'key.pem'), weak.key);
    running.child.kill('SIGHUP');
    await until('a refusal for its length', () =>
      running.stdout().includes('an RSA key needs at least 2048'),
    );
    assert.is((await get(running.port, '/healthz', first.cert)).status, 200, 'the old one serves on');
    writeFileSync(join(folder, 'cert.pem'), second.cert);
    writeFileSync(join(folder, 'key.pem'), second.key);
    running.child.kill('SIGHUP');
    await until('the reload', () => running.stdout().includes('certificate reloaded'));
    assert.is((await get(running.port, '/healthz', second.cert)).status, 200);
    running.child.kill('SIGTERM');
    assert.equal(await running.ended, { code: 0, signal: null });
    for (const line of logOf(running)) assert.not.match(JSON.stringify(line), /PRIVATE|eyJ/);
  },
);

front('TLS: a handshake has no more time than the headers of a request', async () => {
  const folder = folderWithSample();
  const { cert, key } = selfSigned(new Date(Date.now() - hour), new Date(Date.now() + hour));
  put(folder, 'cert.pem', cert);
  put(folder, 'key.pem', key);
  chmodSync(join(folder, 'key.pem'), 0o600);
  const servers = new Map<number, Running>();
  for (const seconds of [5, 1]) {
    const env = { GAPSTONE_TLS_CERT: 'cert.pem', GAPSTONE_TLS_KEY: 'key.pem' };
    servers.set(seconds, await serve(folder, { ...env, GAPSTONE_REQUEST_TIMEOUT: String(seconds) }));
  }
  const ended: number[] = [];
  // The longer time begins first: if both were the same, it would end first, too.
  const silent = [...servers].map(async ([seconds, { port }]) => {
    const from = performance.now();
    // The head of a record, which never comes.
    await (await openRaw(port, '\u0016\u0003\u0001\u0002\u0000')).end;
    assert.ok(performance.now() - from > 900 * seconds, `${seconds} s`);
    ended.push(seconds);
  });
  await Promise.all(silent);
  assert.equal(ended, [1, 5]);
});

const rsaKey = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).privateKey;
const curveKey = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;

/** A request over TLS that trusts one certificate; a token makes it a POST. */
function get(port: number, path: string, ca: string, token?: string) {
  const method = token === undefined ? 'GET' : 'POST';
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, ca, method, headers, agent: false };
    httpsRequest(options, (response) => {
      response.resume();
      resolve({ status: response.statusCode!, headers: response.headers });
    })
      .on('error', reject)
      .end();
  });
}

/** The protocol that a client gets which knows no other; null when it gets none. */
function protocolOf(port: number, version: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): Promise<string | null> {
  const options = { host: '127.0.0.1', port, minVersion: version, maxVersion: version };
  return new Promise((resolve) => {
    const socket = tlsConnect(
      { ...options, rejectUnauthorized: false, ciphers: 'DEFAULT@SECLEVEL=0' },
      () => {
        resolve(socket.getProtocol());
        socket.destroy();
      },
    );
    socket.on('error', () => resolve(null));
  });
}

front('a certificate or key that cannot serve stops the start with one line', async () => {
  const folder = folderWithSample();
  const now = Date.now();
  const good = selfSigned(new Date(now - hour), new Date(now + hour));
  const other = selfSigned(new Date(now - hour), new Date(now + hour));
  const old = selfSigned(new Date(now - 2 * hour), new Date(now - hour));
  const early = selfSigned(new Date(now + hour), new Date(now + 2 * hour));
  const madeFor = (key: KeyObject) => selfSigned(new Date(now - hour), new Date(now + hour), key);
  const [shortRsa, almost] = [madeFor(rsaKey(1024)), madeFor(rsaKey(2047))];
  const [p192, p224] = [madeFor(curveKey('prime192v1')), madeFor(curveKey('secp224r1'))];
  const cases: [name: string, cert: string, key: string, mode: number, message: RegExp][] = [
    [
      'RSA 1024',
      shortRsa.cert,
      shortRsa.key,
      0o600,
      /key\.pem has 1024 bits: an RSA key needs at least 2048$/,
    ],
    ['RSA 2047', almost.cert, almost.key, 0o600, /key\.pem has 2047 bits: an RSA key needs at least 2048$/],
    ['P-192', p192.cert, p192.key, 0o600, /key\.pem is on the curve prime192v1: it needs at least 256 bits$/],
    ['P-224', p224.cert, p224.key, 0o600, /key\.pem is on the curve secp224r1: it needs at least 256 bits$/],
    [
      'mismatch',
      good.cert,
      other.key,
      0o600,
      /the TLS key \S*key\.pem does not belong to the first certificate of \S*cert\.pem$/,
    ],
    [
      'expired',
      old.cert,
      old.key,
      0o600,
      /the TLS certificate \S*cert\.pem is valid from .*Z to .*Z, not now/,
    ],
    ['not yet', early.cert, early.key, 0o600, /is valid from .*Z to .*Z, not now/],
    [
      'readable',
      good.cert,
      good.key,
      0o604,
      /key\.pem is readable by others \(mode 604\): run chmod 600 on it/,
    ],
    ['no certificate', 'hello', good.key, 0o600, /cert\.pem does not contain a certificate in PEM form$/],
    [
      'no key',
      good.cert,
      good.cert,
      0o600,
      /key\.pem does not contain a private key without a passphrase in PEM form$/,
    ],
  ];
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const write = (cert: string, key: string, mode: number) => {
    put(folder, 'cert.pem', cert);
    put(folder, 'key.pem', key);
    chmodSync(files.key, mode);
  };
  for (const [name, cert, key, mode, message] of cases) {
    write(cert, key, mode);
    try {
      loadCertificate(files, new Date());
      assert.unreachable(name);
    } catch (error) {
      assert.instance(error, CommandError, name);
      assert.match((error as Error).message, message);
      assert.not.match((error as Error).message, /PRIVATE|MI[GI]|\n/, name);
    }
  }
  for (const key of [rsaKey(2048), ...['P-256', 'P-384', 'P-521', 'brainpoolP256r1'].map(curveKey)]) {
    const strong = madeFor(key);
    write(strong.cert, strong.key, 0o600);
    loadCertificate(files, new Date());
  }
  write(good.cert, good.key, 0o640);
  assert.is(
    loadCertificate(files, new Date()).validTo.slice(0, 13),
    new Date(now + hour).toISOString().slice(0, 13),
  );
  const refusals: [cert: string, key: string, line: string][] = [
    [good.cert, other.key, 'the TLS key key.pem does not belong to the first certificate of cert.pem'],
    [shortRsa.cert, shortRsa.key, 'the TLS key key.pem has 1024 bits: an RSA key needs at least 2048'],
  ];
  for (const [cert, key, line] of refusals) {
    write(cert, key, 0o600);
    const ended = await runToEnd(folder, ['serve', '--port', '0', '--db', 'g.db'], {
      GAPSTONE_TLS_CERT: 'cert.pem',
      GAPSTONE_TLS_KEY: 'key.pem',
    });
    assert.equal([ended.code, ended.stderr], [1, `gapstone: ${line}\n`]);
  }
});

front('a limited server: 429 on a connection, counted, and health answers on', async () => {
  const running = await serve(folderWithSample(), { GAPSTONE_RATE_LIMIT: '10', GAPSTONE_METRICS: 'on' });
  const path = '/api/v1/controls/nist-800-53/AC-2';
  const statuses: number[] = [];
  for (let i = 0; i < 12; i++)
    statuses.push((await ask(running.port, `GET ${path} HTTP/1.1\r\n${host}\r\n`)).status);
  assert.equal(statuses, [...Array(10).fill(404), 429, 429]);
  assert.is((await ask(running.port, `GET /healthz HTTP/1.1\r\n${host}\r\n`)).status, 200);
  const text = await (await fetch(`${running.url}/metrics`)).text();
  assert.match(text, /^gapstone_rejected_total\{limit="rate"\} 2$/m);
  assert.match(text, /^gapstone_http_requests_in_flight 1$/m);
  for (const name of ['catalog', 'users'])
    assert.match(text, new RegExp(`^gapstone_database_bytes\\{file="${name}"\\} \\d{5,}$`, 'm'));
  running.child.kill('SIGTERM');
  assert.is((await running.ended).code, 0);
});

front('canaries: nothing of a token, cookie, e-mail address or search text is ever written', async () => {
  const folder = folderWithSample();
  const running = await serve(folder, { GAPSTONE_LOG_LEVEL: 'debug', GAPSTONE_CRON_SECRET: 'canary-secret' });
  const issue = ['token', 'issue', '--subject', 'canary-subject', '--email', 'canary@example.org'];
  const token = (await runToEnd(folder, [...issue, '--db', 'g.db'])).stdout.trim();
  const body = '{"name":"canary-name","description":"canary-text"}';
  const session = await ask(
    running.port,
    `POST /api/v1/session HTTP/1.1\r\n${host}Authorization: Bearer ${token}\r\n\r\n`,
  );
  const cookie = session.headers.get('set-cookie')!.split(';')[0]!;
  const secrets = [
    `Authorization: Bearer ${token}\r\n`,
    `Authorization: Bearer ${token.slice(0, -4)}AAAA\r\n`,
    'Authorization: Bearer canary-secret\r\n',
    `Cookie: ${cookie}\r\nUser-Agent: canary@example.org ${token}\r\nX-Request-Id: gsi_canary\r\n`,
  ];
  const requests = [
    'GET /api/v1/stigs?search=canary-search',
    'GET /api/v1/stigs/canary-slug',
    'GET /canary-path?canary=1',
    `POST /api/v1/lists`,
    `POST /api/v1/session`,
    'DELETE /api/v1/session',
    'GET /api/cron/purge-deleted-lists',
    'GET /api\\canary',
    'CANARY /api/v1/stigs',
  ];
  let sent = 0;
  for (const line of requests) {
    for (const headers of secrets) {
      const text = `${line} HTTP/1.1\r\n${host}${headers}Sec-Fetch-Site: same-origin\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      await ask(running.port, text);
      sent++;
    }
  }
  await until('all lines', () => running.stdout().split('"msg":"request"').length - 1 >= sent + 1);
  running.child.kill('SIGTERM');
  await running.ended;
  const all = running.stdout() + running.stderr();
  assert.not.match(all, /canary|eyJ|gsi_/i);
  assert.not(all.includes(cookie.split('=')[1]!), 'the cookie');
  const lines = logOf(running);
  const known = lines.filter((line) => line.tokenType === 'user');
  assert.ok(known.length > 0);
  for (const line of known) assert.match(line.subjectHash, /^[0-9a-f]{12}$/);
});

front('what is odd in the environment is one warning each at the start, never with a value', async () => {
  const env = { GAPSTONE_CRON_SECRET: 'canary-secret', GAPSTONE_PROT: 'canary', GAPSTONE_FAULTS: 'canary' };
  const running = await serve(folderWithSample(), env);
  running.child.kill('SIGTERM');
  assert.is((await running.ended).code, 0);
  const warnings = logOf(running).filter((line) => line.level === 'warn');
  assert.equal(
    warnings.map(({ msg, names }) => [msg, names]),
    [
      ['unknown environment variables', ['GAPSTONE_FAULTS', 'GAPSTONE_PROT']],
      ['GAPSTONE_CRON_SECRET has fewer than 16 characters', undefined],
    ],
  );
  assert.not.match(running.stdout() + running.stderr(), /canary/);
});

front('a fault that nobody caught is logged, and the process ends with 1', async () => {
  const faults = {
    uncaughtException: "throw new Error('boom-fault')",
    unhandledRejection: "Promise.reject(new Error('boom-fault'))",
  };
  for (const [origin, code] of Object.entries(faults)) {
    const hook = encodeURIComponent(`process.on('SIGUSR2', () => { ${code} })`);
    const running = await serve(folderWithSample(), {
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=data:text/javascript,${hook}`,
    });
    running.child.kill('SIGUSR2');
    assert.is((await running.ended).code, 1);
    const last = logOf(running).at(-1);
    assert.equal(
      [last.level, last.msg, last.origin],
      ['error', 'unexpected error: the process ends', origin],
    );
    assert.match(last.error, /boom-fault/);
  }
});

front('a log that nobody reads any more does not end the server', async () => {
  const running = await serve(folderWithSample());
  running.child.stdout.destroy();
  for (let i = 0; i < 20; i++) {
    const answer = await ask(running.port, `GET /signin HTTP/1.1\r\n${host}\r\n`);
    assert.is(answer.status, 200);
  }
  const text = await (await fetch(`${running.url}/metrics`)).text();
  assert.not.match(text, /^gapstone_log_lines_dropped_total 0$/m);
  running.child.kill('SIGTERM');
  assert.equal(await running.ended, { code: 0, signal: null });
});

front(
  'two hundred downloads at once by slow readers: all are answered, and others are served meanwhile',
  async () => {
    const folder = folderWithSample();
    const running = await serve(folder);
    const issued = await runToEnd(folder, ['token', 'issue', '--subject', 'ann', '--db', 'g.db']);
    const authorization = `Authorization: Bearer ${issued.stdout.trim()}\r\n`;
    const path = '/api/v1/stigs/harbor_linux_3/download?format=xml';
    const readers = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const reader = await openRaw(running.port, '');
        reader.socket.pause();
        reader.socket.write(`GET ${path} HTTP/1.1\r\n${host}${authorization}\r\n`);
        return reader;
      }),
    );
    assert.is(
      (await ask(running.port, `GET /api/v1/stigs HTTP/1.1\r\n${host}${authorization}\r\n`)).status,
      200,
    );
    for (const reader of readers) reader.socket.resume();
    await until('every answer', () => readers.every((reader) => reader.received().includes('</stig>')));
    for (const reader of readers) {
      assert.is(readAnswer(reader.received()).status, 200);
      reader.socket.destroy();
    }
    running.child.kill('SIGTERM');
    assert.is((await running.ended).code, 0);
  },
);

front('an error outside the router is answered, and the next request is served', async () => {
  const failure = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' });
  let failing: 'lookup' | 'begun' | 'router' | null = null;
  const { port, lines, server } = await local(
    () => {
      if (failing === 'router') throw failure;
      return new Response('ok');
    },
    {
      fastPath: (_, response) => {
        if (failing === 'begun') response.writeHead(200).write('half');
        if (failing === 'lookup' || failing === 'begun') throw failure;
        return false;
      },
    },
  );
  const get = `GET / HTTP/1.1\r\n${host}\r\n`;
  failing = 'lookup';
  assert.is((await ask(port, get)).status, 200, 'the router answers');
  const warned = lines().find(({ msg }) => msg === 'answer from the cache failed');
  assert.match(warned?.error, /disk I\/O error/);
  const two = await openRaw(port, get + get);
  two.socket.end();
  await two.end;
  assert.is(two.received().toString().split('200 OK').length, 3, 'also what waits behind another');
  failing = 'begun';
  const raw = await openRaw(port, get);
  await raw.end;
  assert.not.match(raw.received().toString(), /ok/);
  failing = 'router';
  assert.is((await ask(port, get)).status, 500);
  failing = null;
  assert.is((await ask(port, get)).body, 'ok');
  assert.ok(lines().some(({ level }) => level === 'error'));
  await until('all are over', () => server.load().requests === 0);
});

front.run();
