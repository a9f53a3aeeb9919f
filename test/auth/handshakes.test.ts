import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { request } from 'node:https';
import { connect } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import * as assert from 'uvu/assert';
import { readCertificate } from '../../src/auth/certificate-facts.ts';
import { loadCertificates } from '../../src/auth/certificates.ts';
import { SignInRefused } from '../../src/auth/sign-in-refused.ts';
import { createLog, silentLog } from '../../src/base/log.ts';
import { limitHandshakes } from '../../src/http/handshakes.ts';
import { createObserver } from '../../src/http/record.ts';
import { startServer } from '../../src/server.ts';
import { suite } from '../support/harness.ts';
import * as pki from '../support/pki.ts';
import { until } from '../support/running.ts';
import { put, scratchFolder } from '../support/scratch.ts';

// Threat H6: certificates that cost more than who sends them may spend.
const handshakes = suite('Large handshakes and certificates');

const root = pki.authority('Root');
const own = pki.serverCertificate(root);
const ann = pki.issue(root);
/** A certificate of its own authority with an extension of so many bytes. */
const large = (bytes: number, issuer: pki.Issued | null = null) =>
  pki.issue(issuer, {
    extensions: [...pki.person('x@test.mil'), pki.extension('1.2.3.4', Buffer.alloc(bytes, 5))],
  });

const rejected: string[] = [];
const written: string[] = [];
const log = createLog('info', (line) => written.push(line));
const server = await startServer(async (sent) => new Response(`${(await sent.text()).length}`), {
  ...{ host: '127.0.0.1', port: 0, log, observer: createObserver(log) },
  tls: { cert: Buffer.from(own.cert), key: Buffer.from(own.keyPem), ca: root.cert },
  rejected: (why) => rejected.push(why),
});
handshakes.after(() => server.stop());

let hosts = 0;
const nextFrom = () => `127.3.0.${++hosts}`;

/** What the server answers to a body, or the code of the error. */
function ask(localAddress: string, cert: string, body = '', version?: 'TLSv1.2'): Promise<string> {
  const client = { cert, key: ann.keyPem, rejectUnauthorized: false, agent: false as const };
  const at = { host: '127.0.0.1', port: server.port, localAddress, method: 'POST', ...client };
  return new Promise((resolve) => {
    const sent = request({ ...at, ...(version && { maxVersion: version }) }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => resolve(text));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.end(body);
  });
}

const others = Array.from({ length: 12 }, () => large(3000).cert).join('');
const closed = (answer: string) => /^(?:ECONNRESET|EPIPE|ERR_SSL)/.test(answer);

/** A handshake of TLS 1.2 of which the server has the beginning; the client's certificates are sent on release. */
function heldHandshake(localAddress: string, cert: string) {
  const raw = connect({ host: '127.0.0.1', port: server.port, localAddress });
  const parts: Buffer[] = [];
  const held = Promise.withResolvers<void>();
  const socket = new Duplex({
    read() {},
    write(bytes: Buffer, _, done) {
      if (parts.push(bytes) === 1) raw.write(bytes);
      else held.resolve();
      done();
    },
  });
  raw.on('data', (bytes) => socket.push(bytes)).on('error', () => undefined);
  const client = { cert, key: ann.keyPem, rejectUnauthorized: false, maxVersion: 'TLSv1.2' } as const;
  const secured = connectTls({ socket, ...client }).on('error', () => undefined);
  const ended = new Promise<string>((resolve) => {
    raw.on('close', () => resolve('closed'));
    secured.on('secureConnect', () => resolve('secure'));
  });
  return { held: held.promise, ended, release: () => raw.write(Buffer.concat(parts.slice(1))) };
}

for (const version of [undefined, 'TLSv1.2'] as const)
  handshakes(`a chain of 40 KB closes the connection and refuses its address alone, ${version}`, async () => {
    const [bad, good] = [nextFrom(), nextFrom()];
    const before = rejected.length;
    // In TLS 1.3 a small request may come with the end of the handshake, and be answered.
    await ask(bad, ann.cert + others, '', version);
    await until('it is counted', () => rejected.length > before);
    assert.ok(closed(await ask(bad, ann.cert, '', version)), 'the next one of the address');
    assert.is(await ask(good, ann.cert, 'hello', version), '5');
    assert.equal(new Set(rejected), new Set(['handshakes']));
    assert.ok(written.some((line) => line.includes('TLS handshake too large') && line.includes(`"${bad}"`)));
  });

handshakes('a chain of 40 KB ends the other handshakes of its address, which began before it', async () => {
  const [bad, good] = [nextFrom(), nextFrom()];
  const before = rejected.length;
  const [first, ...later] = [bad, bad, good].map((from) => heldHandshake(from, ann.cert + others));
  await Promise.all([first!, ...later].map(({ held }) => held));
  first!.release();
  await until('it is counted', () => rejected.length > before);
  for (const each of later) each.release();
  assert.equal(await Promise.all(later.map(({ ended }) => ended)), ['closed', 'secure']);
});

handshakes('a chain of four and a large body at once are taken', async () => {
  const four = ann.cert + Array.from({ length: 3 }, () => large(1200).cert).join('');
  for (const version of [undefined, 'TLSv1.2'] as const)
    assert.is(
      await ask(nextFrom(), four, 'x'.repeat(500_000), version),
      '500000',
      `${version} ${written.at(-1)}`,
    );
});

handshakes('a handshake that never ends is closed once it is too large', async () => {
  const localAddress = nextFrom();
  const socket = connect({ host: '127.0.0.1', port: server.port, localAddress });
  // The beginning of a message of 100 KB, in records of 16 KB.
  const record = Buffer.alloc(5 + 16_000);
  record.set([22, 3, 1, 16_000 >> 8, 16_000 & 255, 1, 1, 0x86, 0xa0, 3, 3]);
  const ended = new Promise((resolve) => socket.on('close', resolve).on('error', () => undefined));
  socket.write(Buffer.concat([record, record]));
  await ended;
  await until('its address is refused', async () => closed(await ask(localAddress, ann.cert)));
});

handshakes('a client cannot have its certificates verified again by a new handshake', async () => {
  const client = {
    cert: ann.cert,
    key: ann.keyPem,
    rejectUnauthorized: false,
    maxVersion: 'TLSv1.2' as const,
  };
  const at = { host: '127.0.0.1', port: server.port, localAddress: nextFrom() };
  const socket = connectTls({ ...at, ...client } as ConnectionOptions);
  const failure = await new Promise<Error | null>((resolve) => {
    socket.on('secureConnect', () => socket.renegotiate({}, resolve));
    socket.on('error', resolve);
  });
  socket.destroy();
  assert.ok(failure instanceof Error);
});

handshakes('an address is refused for a minute, an IPv6 network as one address', async () => {
  const connections = new EventEmitter();
  limitHandshakes(connections as Server, silentLog, () => undefined);
  /** Whether a connection is refused; one that is not ends its handshake after so many bytes. */
  const isRefused = (remoteAddress: string, bytesRead = 0): boolean => {
    const socket = new Duplex();
    connections.emit('connection', Object.assign(socket, { remoteAddress, bytesRead }));
    const refused = socket.destroyed;
    socket.emit('close');
    return refused;
  };
  assert.not(isRefused('10.0.0.1', 24 * 1024));
  assert.not(isRefused('10.0.0.1', 24 * 1024 + 1));
  assert.not(isRefused('2001:db8::1', 99_000));
  const refused = () => ['10.0.0.1', '10.0.0.2', '2001:db8::2'].map((each) => isRefused(each));
  assert.equal(refused(), [true, false, true]);
  const clock = performance.now;
  const later = async (milliseconds: number) => {
    performance.now = () => clock.call(performance) + milliseconds;
    // The cache asks for the time once in a millisecond.
    await sleep(5);
  };
  try {
    await later(58_000);
    assert.equal(refused(), [true, false, true]);
    await later(60_000);
    assert.equal(refused(), [false, false, false]);
  } finally {
    performance.now = clock;
    connections.emit('close');
  }
});

handshakes('a large certificate, or one of an unknown issuer, is refused before it is read', async () => {
  const folder = scratchFolder();
  const settings = { tlsClientCa: put(folder, 'ca.pem', root.cert), tlsCrl: null, people: null };
  const ways = await loadCertificates({ ...settings, certSubject: 'upn' }, () => new Date(), silentLog);
  const reasonOf = (der: Uint8Array) => {
    try {
      ways.identify(der);
      return 'none';
    } catch (error) {
      assert.instance(error, SignInRefused);
      return (error as SignInRefused).reason;
    }
  };
  assert.is(reasonOf(pki.issue(root).der), 'none');
  assert.is(reasonOf(large(16_000, root).der), 'CERTIFICATE_MALFORMED');
  assert.throws(
    () => readCertificate(large(16_000).der),
    (error: unknown) => error instanceof SignInRefused,
  );
  // An extension that stands twice is found by reading all of them.
  const twice = [...pki.person('x@test.mil'), pki.keyUsage(0)];
  assert.is(reasonOf(pki.issue(root, { extensions: twice }).der), 'CERTIFICATE_MALFORMED');
  assert.is(reasonOf(pki.issue(null, { extensions: twice }).der), 'CERTIFICATE_NOT_TRUSTED');
  assert.is(
    reasonOf(pki.issue(pki.authority('Other'), { extensions: twice }).der),
    'CERTIFICATE_NOT_TRUSTED',
  );
});

handshakes.run();
