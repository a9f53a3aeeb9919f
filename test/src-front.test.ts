import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import * as assert from 'uvu/assert';
import { runImport } from '../importers/run.ts';
import { CommandError } from '../src/base/errors.ts';
import { createLog } from '../src/base/log.ts';
import { openCatalog } from '../src/db/database.ts';
import { loadCertificate } from '../src/http/certificate.ts';
import type { RequestRecord } from '../src/http/record.ts';
import { createObserver } from '../src/http/record.ts';
import { startServer as listen, type RunningServer, type ServerOptions } from '../src/server.ts';
import { suite } from './support/harness.ts';
import { selfSigned } from './support/pki.ts';
import { shipped } from './support/reference.ts';
import { ask, killAll, openRaw, type Running, startServer, until } from './support/running.ts';
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

front('past the connection limit a client is closed, and gets in when another is gone', async () => {
  let refused = 0;
  const answer = async (request: Request) => new Response(await request.text());
  const options = { maxConnections: 3, requestTimeout: 3600, rejected: () => refused++ };
  const { port, server } = await local(answer, options);
  // Their bodies never come.
  const text = `POST / HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\n`;
  const held = await Promise.all([1, 2, 3].map(() => openRaw(port, text)));
  await until('three connections', () => server.load().connections === 3);
  const over = await openRaw(port, '');
  assert.is((await over.end).length, 0);
  assert.is(refused, 1);
  held[0]!.socket.destroy();
  await until('room', () => server.load().connections < 3);
  assert.is((await ask(port, `GET / HTTP/1.1\r\n${host}\r\n`)).status, 200);
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
    await ask(port, `GET /last HTTP/1.1\r\n${host}\r\n`);
    await until('the last line', () => lines().length > texts.length);
    assert.is(lines().length, texts.length + 1);
  },
);

front('a request that is refused before the router waits for the answers before it', async () => {
  const { port, lines } = await local(async (request) => new Response(await request.text()));
  const posted = `POST / HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\nfirst`;
  const connection = await openRaw(port, `${posted}GET /a#b HTTP/1.1\r\n${host}\r\n`);
  const text = (await connection.end).toString('latin1');
  assert.match(text, /^HTTP\/1\.1 200 OK.*first.*HTTP\/1\.1 400 Bad Request/s);
  await until('two lines', () => lines().length === 2);
  assert.equal(
    lines().map(({ status }) => status),
    [200, 400],
  );
});

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

front('no header is dropped: all are read to the last, which a proxy wrote', async () => {
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
  for (const count of [4, 64, 400]) {
    assert.is((await ask(behind.port, request(count))).status, 200, String(count));
    const { remote, requestId } = seen.at(-1)!;
    assert.equal([remote, requestId], ['203.0.113.9', 'the-last'], String(count));
  }
});

front('TLS: 1.2 or later; plain HTTP gets nothing; who never ends its handshake is cut', async () => {
  const now = Date.now();
  const { cert, key } = selfSigned(new Date(now - hour), new Date(now + hour));
  const tls = { cert: Buffer.from(cert), key: Buffer.from(key) };
  const secure: boolean[] = [];
  const { port } = await local(
    (_, record) => {
      secure.push(record.secure);
      return new Response('ok');
    },
    { tls, requestTimeout: 1 },
  );
  for (const [version, spoken] of [
    ['TLSv1.1', null],
    ['TLSv1.2', 'TLSv1.2'],
    ['TLSv1.3', 'TLSv1.3'],
  ] as const)
    assert.is(await protocolOf(port, version), spoken, version);
  assert.equal(secure, [true, true]);
  const plain = await openRaw(port, `GET /healthz HTTP/1.1\r\n${host}\r\n`);
  assert.not.match((await plain.end).toString('latin1'), /HTTP/);
  // The head of a record, which never comes, has no more time than the headers of a request. The longer time begins first:
  // if both were the same, it would end first, too.
  const longer = await local(() => new Response('ok'), { tls, requestTimeout: 5 });
  const ended: number[] = [];
  const silent = [longer.port, port].map(async (each) => {
    await (await openRaw(each, '\u0016\u0003\u0001\u0002\u0000')).end;
    ended.push(each);
  });
  await Promise.all(silent);
  assert.equal(ended, [port, longer.port]);
});

const rsaKey = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).privateKey;
const curveKey = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;

/** The protocol in which a client that knows no other is answered; null when it is not. */
function protocolOf(port: number, version: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): Promise<string | null> {
  const options = { host: '127.0.0.1', port, minVersion: version, maxVersion: version };
  return new Promise((resolve) => {
    const socket = tlsConnect({ ...options, rejectUnauthorized: false, ciphers: 'DEFAULT@SECLEVEL=0' });
    socket.write(`GET / HTTP/1.1\r\n${host}\r\n`);
    socket.once('data', () => {
      resolve(socket.getProtocol());
      socket.destroy();
    });
    socket.on('error', () => resolve(null));
  });
}

front('TLS: a connection that never began its handshake does not hold up a stop', async () => {
  const now = Date.now();
  const { cert, key } = selfSigned(new Date(now - hour), new Date(now + hour));
  const tls = { cert: Buffer.from(cert), key: Buffer.from(key) };
  const { port, server, lines } = await local(() => new Response('ok'), { tls });
  const silent = await openRaw(port, '');
  await server.stop();
  await silent.end;
  const timedOut = lines().filter(({ reason }) => reason === 'ERR_TLS_HANDSHAKE_TIMEOUT');
  assert.equal(timedOut, [], 'it is closed, not waited for');
});

front('a certificate or key that cannot serve is refused in one line', async () => {
  const folder = scratchFolder();
  const now = Date.parse('2026-11-21T12:00:00Z');
  const good = selfSigned(new Date(now - hour), new Date(now + hour));
  const other = selfSigned(new Date(now - hour), new Date(now + hour));
  const old = selfSigned(new Date(now - 2 * hour), new Date(now - hour));
  const early = selfSigned(new Date(now + hour), new Date(now + 2 * hour));
  const madeFor = (key: KeyObject) => selfSigned(new Date(now - hour), new Date(now + hour), key);
  const cases: [message: RegExp, of: { cert: string; key: string }, mode?: number][] = [
    [/key\.pem has 1024 bits: an RSA key needs at least 2048$/, madeFor(rsaKey(1024))],
    [/key\.pem has 2047 bits: an RSA key needs at least 2048$/, madeFor(rsaKey(2047))],
    [/is on the curve prime192v1: it needs at least 256 bits$/, madeFor(curveKey('prime192v1'))],
    [/is on the curve secp224r1: it needs at least 256 bits$/, madeFor(curveKey('secp224r1'))],
    [/key\.pem does not belong to the first certificate of \S*cert\.pem$/, { ...good, key: other.key }],
    [/cert\.pem is valid from .*Z to .*Z, not now/, old],
    [/cert\.pem is valid from .*Z to .*Z, not now/, early],
    [/key\.pem is readable by others \(mode 604\): run chmod 600 on it/, good, 0o604],
    [/cert\.pem does not contain a certificate in PEM form$/, { ...good, cert: 'hello' }],
    [/does not contain a private key without a passphrase in PEM form$/, { ...good, key: good.cert }],
  ];
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const write = (cert: string, key: string, mode: number) => {
    put(folder, 'cert.pem', cert);
    put(folder, 'key.pem', key);
    chmodSync(files.key, mode);
  };
  for (const [message, { cert, key }, mode = 0o600] of cases) {
    write(cert, key, mode);
    try {
      loadCertificate(files, new Date(now));
      assert.unreachable(String(message));
    } catch (error) {
      assert.instance(error, CommandError);
      assert.match((error as Error).message, message);
      assert.not.match((error as Error).message, /PRIVATE|MI[GI]|\n/);
    }
  }
  for (const key of [rsaKey(2048), ...['P-256', 'P-384', 'P-521', 'brainpoolP256r1'].map(curveKey)]) {
    const strong = madeFor(key);
    write(strong.cert, strong.key, 0o600);
    loadCertificate(files, new Date(now));
  }
  write(good.cert, good.key, 0o640);
  assert.is(
    loadCertificate(files, new Date(now)).validTo.slice(0, 13),
    new Date(now + hour).toISOString().slice(0, 13),
  );
});

front('a fault that nobody caught is logged, and the process ends with 1', async () => {
  const fault = "Promise.reject(new Error('boom-fault'))";
  const hook = encodeURIComponent(`process.on('SIGUSR2', () => { ${fault} })`);
  const running = await serve(folderWithSample(), {
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=data:text/javascript,${hook}`,
  });
  running.child.kill('SIGUSR2');
  assert.is((await running.ended).code, 1);
  const last = JSON.parse(running.stdout().trimEnd().split('\n').at(-1)!);
  assert.equal([last.level, last.msg], ['error', 'unexpected error: the process ends']);
  assert.match(last.error, /boom-fault/);
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

front('an error outside the router is answered, and the next request is served', async () => {
  const failure = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' });
  let failing: 'lookup' | 'router' | null = 'lookup';
  const { port, lines, server } = await local(
    () => {
      if (failing === 'router') throw failure;
      return new Response('ok');
    },
    {
      shortcut: () => {
        if (failing === 'lookup') throw failure;
        return false;
      },
    },
  );
  const get = `GET / HTTP/1.1\r\n${host}\r\n`;
  assert.is((await ask(port, get)).status, 200, 'the router answers');
  const warned = lines().find(({ msg }) => msg === 'answer from the cache failed');
  assert.match(warned?.error, /disk I\/O error/);
  failing = 'router';
  assert.is((await ask(port, get)).status, 500);
  failing = null;
  assert.is((await ask(port, get)).body, 'ok');
  await until('all are over', () => server.load().requests === 0);
});

front.run();
