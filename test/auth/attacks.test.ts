import { createHmac, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import dns from 'node:dns';
import net from 'node:net';
import { createLocalJWKSet, exportJWK, exportSPKI } from 'jose';
import * as assert from 'uvu/assert';
import { createVerifyUserToken } from '../../src/auth/tokens.ts';
import { readConfig } from '../../src/base/config.ts';
import { type Answer, type TestApp, testApp } from '../support/app.ts';
import { suite } from '../support/harness.ts';
import { noToken } from '../support/words.ts';

// The classic attacks of RFC 8725 through the whole application: one 401 for all, and nobody is called.
const attacks = suite('Attacks on tokens');

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const evil = generateKeyPairSync('rsa', { modulusLength: 2048 });

let t: TestApp;
let connections: string[];
let restore: () => void;

attacks.before(async () => {
  const keys = createLocalJWKSet({
    keys: [
      { ...(await exportJWK(rsa.publicKey)), kid: 'rsa', alg: 'RS256' },
      { ...(await exportJWK(ec.publicKey)), kid: 'ec', alg: 'ES256' },
    ],
  });
  const verify = createVerifyUserToken(readConfig({}, {}), keys, () => new Date('2026-11-21T12:00:00Z'));
  t = await testApp([], { verify, cronSecret: 'the-cron-secret' });
  connections = [];
  const { connect } = net.Socket.prototype;
  const { lookup } = dns;
  const { fetch } = globalThis;
  net.Socket.prototype.connect = function (this: net.Socket, ...args: never[]) {
    connections.push(`connect ${JSON.stringify(args[0])}`);
    return Reflect.apply(connect, this, args);
  } as unknown as typeof connect;
  dns.lookup = ((name: string) => connections.push(`lookup ${name}`)) as unknown as typeof lookup;
  globalThis.fetch = (async (url: string) => {
    connections.push(`fetch ${url}`);
    throw new TypeError('fetch failed');
  }) as unknown as typeof fetch;
  restore = () => {
    net.Socket.prototype.connect = connect;
    dns.lookup = lookup;
    globalThis.fetch = fetch;
  };
  await fetch('http://127.0.0.1:59999/').catch(() => {});
  await globalThis.fetch('http://127.0.0.1:59999/').catch(() => {});
  assert.ok(connections.splice(0).length >= 2, 'a call would be seen, by name or by socket');
});

attacks.after(() => {
  restore();
  t.db.close();
});

const iat = Date.parse('2026-11-21T12:00:00Z') / 1000 - 10;
const good = { sub: 'alice', iss: 'gapstone', aud: 'gapstone', iat, exp: iat + 3600 };
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

function signed(header: Record<string, unknown>, payload: unknown, key: KeyObject = rsa.privateKey): string {
  const text = `${part(header)}.${typeof payload === 'string' ? payload : part(payload)}`;
  const isEc = key.asymmetricKeyType === 'ec';
  const signature = createSign('sha256')
    .update(text)
    .sign(isEc ? { key, dsaEncoding: 'ieee-p1363' } : key);
  return `${text}.${signature.toString('base64url')}`;
}

/** Signs texts as they are, for what no object can say. */
function signedText(payload: string, header = '{"alg":"RS256","kid":"rsa"}'): string {
  const text = [header, payload].map((each) => Buffer.from(each).toString('base64url')).join('.');
  return `${text}.${createSign('sha256').update(text).sign(rsa.privateKey).toString('base64url')}`;
}

const rs = (claims: Record<string, unknown>) =>
  signed(
    { alg: 'RS256', kid: 'rsa' },
    Object.fromEntries(Object.entries({ ...good, ...claims }).filter(([, value]) => value !== undefined)),
  );

function hmac(header: Record<string, unknown>, secret: string | Buffer): string {
  const text = `${part(header)}.${part(good)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

async function attackTokens(): Promise<Record<string, string>> {
  const pem = await exportSPKI(rsa.publicKey);
  const der = rsa.publicKey.export({ type: 'spki', format: 'der' });
  const jwk = await exportJWK(evil.publicKey);
  const valid = rs({});
  const [head, body, signature] = valid.split('.') as [string, string, string];
  const elsewhere = 'http://127.0.0.1:9/keys';
  const day = 24 * 3600;
  return {
    none: `${part({ alg: 'none' })}.${part(good)}.`,
    'none in odd case': `${part({ alg: 'NoNe' })}.${part(good)}.`,
    'none with the kid': `${part({ alg: 'none', kid: 'rsa' })}.${part(good)}.${signature}`,
    'signature cut off': `${head}.${body}.`,
    'two parts': `${head}.${body}`,
    'five parts': `${valid}.a.b`,
    'RS to HS with the PEM': hmac({ alg: 'HS256', kid: 'rsa' }, pem),
    'RS to HS with the DER': hmac({ alg: 'HS256', kid: 'rsa' }, der),
    'HS with an empty secret': hmac({ alg: 'HS256' }, ''),
    'embedded jwk': signed({ alg: 'RS256', jwk }, good, evil.privateKey),
    'embedded jwk with our kid': signed({ alg: 'RS256', kid: 'rsa', jwk }, good, evil.privateKey),
    jku: signed({ alg: 'RS256', kid: 'evil', jku: elsewhere }, good, evil.privateKey),
    'jku with our kid': signed({ alg: 'RS256', kid: 'rsa', jku: elsewhere }, good, evil.privateKey),
    x5u: signed({ alg: 'RS256', kid: 'evil', x5u: elsewhere }, good, evil.privateKey),
    x5c: signed({ alg: 'RS256', x5c: [der.toString('base64')] }, good, evil.privateKey),
    'kid that climbs': signed({ alg: 'RS256', kid: '../../../dev/null' }, good, evil.privateKey),
    'kid with SQL': signed({ alg: 'RS256', kid: "x' UNION SELECT 1--" }, good, evil.privateKey),
    'kid of the other key': signed({ alg: 'RS256', kid: 'ec' }, good),
    'ES256 over the RSA key': signed({ alg: 'ES256', kid: 'rsa' }, good, ec.privateKey),
    'unknown crit': signed({ alg: 'RS256', kid: 'rsa', crit: ['x'], x: 1 }, good),
    'a logout token': signed({ alg: 'RS256', kid: 'rsa', typ: 'logout+jwt' }, good),
    'an event token': signed({ alg: 'RS256', kid: 'rsa', typ: 'application/SecEvent+JWT' }, good),
    'a proof of possession': signed({ alg: 'RS256', kid: 'rsa', typ: 'dpop+jwt' }, good),
    'a kind that only ends as ours': signed({ alg: 'RS256', kid: 'rsa', typ: 'chat+jwt' }, good),
    'a type that is a number': signed({ alg: 'RS256', kid: 'rsa', typ: 1 }, good),
    RS384: signed({ alg: 'RS384', kid: 'rsa' }, good),
    'claims changed': `${head}.${part({ ...good, sub: 'admin' })}.${signature}`,
    'foreign issuer': rs({ iss: 'https://evil.example' }),
    'no issuer': rs({ iss: undefined }),
    'foreign audience': rs({ aud: 'other' }),
    'foreign audiences': rs({ aud: ['other', 'gapstone.evil'] }),
    'no audience': rs({ aud: undefined }),
    'no exp': rs({ exp: undefined }),
    'exp past 90 days': rs({ exp: iat + 90 * day + 1 }),
    'exp without end': rs({ exp: 1e308 }),
    'exp as a text': rs({ exp: String(iat + 3600) }),
    'exp with a fraction': rs({ exp: iat + 60.5 }),
    'exp before iat': rs({ exp: iat - 1 }),
    'no iat': rs({ iat: undefined }),
    'iat in the future': rs({ iat: iat + 3600, exp: iat + 7200 }),
    'nbf in the future': rs({ nbf: iat + 3600 }),
    expired: rs({ iat: iat - 7200, exp: iat - 3600 }),
    'sub as an object': rs({ sub: { toString: 'alice' } }),
    'sub as a list': rs({ sub: ['alice'] }),
    'sub as a number': rs({ sub: 1 }),
    'sub that is empty': rs({ sub: '' }),
    'sub of 256 characters': rs({ sub: 'a'.repeat(256) }),
    'sub with a control character': rs({ sub: 'alice\nadmin' }),
    'sub with a lone surrogate': rs({ sub: '\ud800' }),
    'no sub': rs({ sub: undefined }),
    'sub twice': signedText(`{"sub":"alice",${JSON.stringify({ ...good, sub: 'admin' }).slice(1)}`),
    'sub twice, once escaped': signedText(`{"s\\u0075b":"alice",${JSON.stringify(good).slice(1)}`),
    'a claim twice, deep inside': signedText(
      `{"x":[{"a":1,"b":{"c":1,"c":2}}],${JSON.stringify(good).slice(1)}`,
    ),
    'alg twice in the header': signedText(JSON.stringify(good), '{"alg":"none","alg":"RS256","kid":"rsa"}'),
    'payload that is a list': signed({ alg: 'RS256', kid: 'rsa' }, []),
    'payload that is no JSON': signed(
      { alg: 'RS256', kid: 'rsa' },
      Buffer.from('alice').toString('base64url'),
    ),
    'a token of 8 KB and more': rs({ filler: 'x'.repeat(8200) }),
    'a token of 100 KB': rs({ filler: 'x'.repeat(100_000) }),
    garbage: 'garbage',
    dots: '..',
    'gsi_ and a token': `gsi_${valid}`,
    'an unknown integration token': `gsi_${'x'.repeat(43)}`,
    'the cron secret': 'the-cron-secret',
  };
}

const headerAttacks = (valid: string): Record<string, string> => ({
  'no scheme': valid,
  'scheme Basic': `Basic ${valid}`,
  'scheme Token': `Token ${valid}`,
  'two tokens': `Bearer ${valid} ${valid}`,
  'two headers as one': `Bearer ${valid}, Bearer ${valid}`,
  'two headers, the second foreign': `Bearer ${valid}, Basic eDp5`,
  'nothing after the scheme': 'Bearer ',
  'a parameter': `Bearer token="${valid}"`,
  'a tab': `Bearer\t${valid}`,
  empty: '',
});

function checkRefusal(answer: Answer, where: string): void {
  assert.is(answer.status, 401, where);
  const requestId = answer.headers.get('X-Request-Id')!;
  assert.equal(answer.json, { error: { code: 'UNAUTHORIZED', message: noToken, requestId } }, where);
  assert.is(answer.headers.get('WWW-Authenticate'), 'Bearer', where);
}

attacks('a good token is taken, so that the others fail for their own reason', async () => {
  for (const token of [
    rs({}),
    rs({ exp: iat + 90 * 24 * 3600 }),
    rs({ aud: ['x', 'gapstone'] }),
    rs({ filler: 'x'.repeat(5000) }),
    rs({ a: { sub: 'x', b: [{ sub: 1 }, { sub: 2 }] }, text: '"sub":1,"sub":2', 'a"sub': 1 }),
    signed({ alg: 'ES256', kid: 'ec' }, good, ec.privateKey),
    ...['JWT', 'jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt', 'JOSE'].map((typ) =>
      signed({ alg: 'RS256', kid: 'rsa', typ }, good),
    ),
  ])
    assert.is((await t.get('/api/v1/lists', { token })).status, 200);
  const odd = await t.get('/api/v1/lists', { token: null, headers: { Authorization: `bEARER  ${rs({})}` } });
  assert.is(odd.status, 200);
});

attacks('every attack is the same 401, on reads and on writes, and calls nobody', async () => {
  const headers = new Map<string, string>();
  for (const [name, token] of Object.entries(await attackTokens())) headers.set(name, `Bearer ${token}`);
  for (const [name, header] of Object.entries(headerAttacks(rs({})))) headers.set(name, header);
  for (const [name, Authorization] of headers) {
    const init = { token: null, headers: { Authorization } };
    checkRefusal(await t.get('/api/v1/lists', init), `${name}: GET`);
    checkRefusal(await t.get('/api/v1/stigs', init), `${name}: GET stigs`);
    checkRefusal(await t.send('POST', '/api/v1/lists', { name: 'N' }, init), `${name}: POST`);
    checkRefusal(await t.get('/api/v1/session', { ...init, method: 'POST' }), `${name}: session`);
  }
  assert.equal(connections, []);
  assert.is(t.db.sqlite.prepare('SELECT count(*) FROM bundles').pluck().get(), 0);
});

attacks('two Authorization headers are refused, whichever is good', async () => {
  for (const [first, second] of [
    [`Bearer ${rs({})}`, `Bearer ${rs({})}`],
    [`Bearer ${rs({})}`, 'Bearer x'],
    ['Basic eDp5', `Bearer ${rs({})}`],
  ] as const) {
    const headers = new Headers({ Authorization: first });
    headers.append('Authorization', second);
    checkRefusal(await t.get('/api/v1/lists', { token: null, headers }), `${first.slice(0, 12)} and another`);
  }
});

attacks('a token in the URL is none', async () => {
  for (const name of ['access_token', 'token', 'authorization', 'jwt'])
    checkRefusal(await t.get(`/api/v1/lists?${name}=${rs({})}`, { token: null }), name);
});

attacks('public endpoints do not even look at the header', async () => {
  const headers = { Authorization: 'Bearer garbage' };
  const answer = await t.get('/api/v1/controls/nist-800-53', { token: null, headers });
  assert.is(answer.status, 200);
});

attacks.run();
