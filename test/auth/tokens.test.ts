import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import dns from 'node:dns';
import net from 'node:net';
import { createLocalJWKSet, exportJWK } from 'jose';
import * as assert from 'uvu/assert';
import { createVerifyUserToken } from '../../src/auth/tokens.ts';
import { readConfig } from '../../src/base/config.ts';
import { type TestApp, testApp } from '../support/app.ts';
import { suite } from '../support/harness.ts';
import { assertError, assertSecurityHeaders } from '../support/service.ts';
import { noToken } from '../support/words.ts';

// User tokens and the attacks of RFC 8725, through the whole application: one 401 for all, and nobody is called.
const tokens = suite('User tokens');

const now = new Date('2026-11-21T12:00:00.500Z');
const iat = Math.floor(now.getTime() / 1000);
const day = 86_400;
const env = { GAPSTONE_ISSUER: 'https://idp.example', GAPSTONE_AUDIENCE: 'catalog' };
const good = { sub: 'alice', iss: 'https://idp.example', aud: 'catalog', iat, exp: iat + 3600 };

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const [ec, evil] = [1, 2].map(() => generateKeyPairSync('ec', { namedCurve: 'P-256' })) as [Pair, Pair];
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const ed = generateKeyPairSync('ed25519');
type Pair = { publicKey: KeyObject; privateKey: KeyObject };

// P-384 and Ed25519 are not allowed, and still in the set: the algorithm alone must refuse them.
const keySet = createLocalJWKSet({
  keys: await Promise.all(
    Object.entries({ rsa, ec, p384, ed }).map(async ([kid, { publicKey }]) => ({
      ...(await exportJWK(publicKey)),
      kid,
    })),
  ),
});
const spki = { type: 'spki', format: 'pem' } as const;
const rsaPem = rsa.publicKey.export(spki).toString();
const rsaJwk = rsa.publicKey.export({ format: 'jwk' });
const evilJwk = JSON.stringify(evil.publicKey.export({ format: 'jwk' }));

const ieee =
  (key: KeyObject, hash = 'sha256') =>
  (input: string) =>
    sign(hash, Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
const hmac =
  (secret: string | Buffer, hash = 'sha256') =>
  (input: string) =>
    createHmac(hash, secret).update(input).digest();
/** What signs, by the word that tables have for it. */
const signers: Record<string, (input: string) => Buffer> = {
  ec: ieee(ec.privateKey),
  evil: ieee(evil.privateKey),
  p384: ieee(p384.privateKey, 'sha384'),
  ed: (input) => sign(null, Buffer.from(input), ed.privateKey),
  rs256: (input) => sign('sha256', Buffer.from(input), rsa.privateKey),
  rs384: (input) => sign('sha384', Buffer.from(input), rsa.privateKey),
  rs512: (input) => sign('sha512', Buffer.from(input), rsa.privateKey),
  ps256: (input) => sign('sha256', Buffer.from(input), { key: rsa.privateKey, padding: 6, saltLength: 32 }),
  der: (input) => sign('sha256', Buffer.from(input), ec.privateKey),
  nothing: () => Buffer.alloc(0),
  zeros: () => Buffer.alloc(64),
  pem: hmac(rsaPem),
  trimmed: hmac(rsaPem.trim()),
  binary: hmac(createPublicKey(rsaPem).export({ type: 'spki', format: 'der' })),
  jwk: hmac(JSON.stringify(rsaJwk)),
  modulus: hmac(Buffer.from(rsaJwk.n!, 'base64url')),
  pem512: hmac(rsaPem, 'sha512'),
  empty: hmac(''),
  shared: hmac('a shared secret of 32 characters'),
};

const encode = (text: string) => Buffer.from(text).toString('base64url');
/** A token of texts as they are, for what no object can say. */
function signed(payload: string, header = '{"alg":"ES256","kid":"ec"}', signer = 'ec'): string {
  const input = `${encode(header)}.${encode(payload)}`;
  return `${input}.${signers[signer]!(input).toString('base64url')}`;
}
/** The good payload with a claim of another text, or without it. */
function payloadWith(claim: string, text: string | undefined): string {
  const { [claim as 'sub']: _, ...others } = good;
  return text === undefined
    ? JSON.stringify(others)
    : `${JSON.stringify(others).slice(0, -1)},"${claim}":${text}}`;
}
const token = (claims: object = {}) => signed(JSON.stringify({ ...good, ...claims }));
const linesOf = (table: string) =>
  table
    .trim()
    .split('\n')
    .map((line) => line.trim());

let t: TestApp;
let connections: string[];
let restore: () => void;

tokens.before(async () => {
  const verify = createVerifyUserToken(readConfig({}, env), keySet, () => now);
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
tokens.after(() => {
  restore();
  t.db.close();
});
tokens.after.each(() => {
  assert.equal(connections, []);
  assert.is(t.db.sqlite.prepare('SELECT count(*) FROM bundles').pluck().get(), 0);
});

let sameHeaders = '';
/** Asserts the one answer for all causes, on a read, a write and a session. */
async function refused(name: string, given: [string, string][], path = '/api/v1/stigs'): Promise<void> {
  const init = { token: null, headers: [...given, ['X-Request-Id', 'fixed']] as [string, string][] };
  const answer = await t.get(path, init);
  assertError(answer, 401, 'UNAUTHORIZED', noToken);
  assert.is(answer.headers.get('WWW-Authenticate'), 'Bearer', name);
  assertSecurityHeaders(answer.headers);
  sameHeaders ||= JSON.stringify([...answer.headers]);
  assert.is(JSON.stringify([...answer.headers]), sameHeaders, `${name}: other headers`);
  for (const to of ['/api/v1/lists', '/api/v1/session'])
    assert.is((await t.send('POST', to, { name: 'N' }, init)).text, answer.text, `${name}: ${to}`);
}
const refusedToken = (text: string, name = text) => refused(name, [['Authorization', `Bearer ${text}`]]);

async function taken(name: string, text: string, scheme = 'Bearer '): Promise<void> {
  const answer = await t.get('/api/v1/lists', { token: null, headers: { Authorization: scheme + text } });
  assert.is(answer.status, 200, `${name}: ${answer.text}`);
}

/** The header of a token, what signs it, whether it is taken. */
const headers = `
  {"alg":"ES256","kid":"ec"}                            ec       taken
  {"alg":"RS256","kid":"rsa"}                           rs256    taken
  {"alg":"PS256","kid":"rsa"}                           ps256    taken
  {"alg":"ES256","kid":"ec","typ":"JWT"}                ec       taken
  {"alg":"ES256","kid":"ec","typ":"jwt"}                ec       taken
  {"alg":"ES256","kid":"ec","typ":"JOSE"}               ec       taken
  {"alg":"ES256","kid":"ec","typ":"at+jwt"}             ec       taken
  {"alg":"ES256","kid":"ec","typ":"AT+JWT"}             ec       taken
  {"alg":"ES256","kid":"ec","typ":"application/at+jwt"} ec       taken
  {"alg":"ES256","kid":"ec","typ":"logout+jwt"}         ec       refused
  {"alg":"ES256","kid":"ec","typ":"application/SecEvent+JWT"} ec refused
  {"alg":"ES256","kid":"ec","typ":"dpop+jwt"}           ec       refused
  {"alg":"ES256","kid":"ec","typ":"chat+jwt"}           ec       refused
  {"alg":"ES256","kid":"ec","typ":1}                    ec       refused
  {"alg":"ES384","kid":"p384"}                          p384     refused
  {"alg":"EdDSA","kid":"ed"}                            ed       refused
  {"alg":"Ed25519","kid":"ed"}                          ed       refused
  {"alg":"RS384","kid":"rsa"}                           rs384    refused
  {"alg":"RS512","kid":"rsa"}                           rs512    refused
  {"alg":"HS256"}                                       shared   refused
  {"alg":"HS256"}                                       empty    refused
  {"alg":"HS256"}                                       pem      refused
  {"alg":"HS256","kid":"rsa"}                           pem      refused
  {"alg":"HS256","kid":"ec"}                            pem      refused
  {"alg":"HS256","kid":"rsa"}                           trimmed  refused
  {"alg":"HS256","kid":"rsa"}                           binary   refused
  {"alg":"HS256","kid":"rsa"}                           jwk      refused
  {"alg":"HS256","kid":"rsa"}                           modulus  refused
  {"alg":"HS512","kid":"rsa"}                           pem512   refused
  {"alg":"none"}                                        nothing  refused
  {"alg":"None"}                                        nothing  refused
  {"alg":"NoNe"}                                        nothing  refused
  {"alg":""}                                            nothing  refused
  {"alg":"none","kid":"ec"}                             ec       refused
  {"kid":"ec"}                                          ec       refused
  {"alg":"ES256","kid":"ec"}                            nothing  refused
  {"alg":"ES256","kid":"ec"}                            zeros    refused
  {"alg":"ES256","kid":"ec"}                            der      refused
  {"alg":"ES256","kid":"ec"}                            evil     refused
  {"alg":"ES256","jwk":${evilJwk}}                      evil     refused
  {"alg":"ES256","kid":"ec","jwk":${evilJwk}}           evil     refused
  {"alg":"ES256","kid":"evil","jku":"http://127.0.0.1:9/keys"} evil refused
  {"alg":"ES256","kid":"ec","jku":"http://127.0.0.1:9/keys"}   evil refused
  {"alg":"ES256","kid":"evil","x5u":"http://127.0.0.1:9/cert"} evil refused
  {"alg":"ES256","x5c":["AAAA"]}                        evil     refused
  {"alg":"ES256","kid":"evil"}                          ec       refused
  {"alg":"ES256","kid":"rsa"}                           ec       refused
  {"alg":"RS256","kid":"ec"}                            rs256    refused
  {"alg":"ES256","kid":"../../../dev/null"}             evil     refused
  {"alg":"ES256","kid":"x'UNION\\u0020SELECT\\u00201--"} evil    refused
  {"alg":"ES256","kid":"ec","crit":["x"],"x":1}         ec       refused
  {"alg":"none","alg":"ES256","kid":"ec"}               ec       refused
`;

tokens('headers: three algorithms with our own keys, no key that the token brings along', async () => {
  for (const line of linesOf(headers)) {
    const [header, signer, outcome] = line.split(/ +/) as [string, string, string];
    const text = signed(JSON.stringify(good), header, signer);
    await (outcome === 'taken' ? taken(line, text) : refusedToken(text, line));
  }
});

/** Texts of one claim, `-` for none; between two bars each. */
const refusedClaims = `
  iss - | null | "" | "gapstone" | "https://evil.example" | "HTTPS://IDP.EXAMPLE" | ["https://idp.example"] | {}
  iss "https://idp.example/" | 1
  aud - | null | "" | "gapstone" | "catalog2" | "Catalog" | [] | ["x"] | ["x","catalog.evil"] | {"catalog":true} | 1
  exp - | null | "${good.exp}" | [${good.exp}] | ${iat + 60}.5 | 1e308 | 1e400 | ${iat + 90 * day + 1}
  exp ${iat} | ${iat - 1} | ${iat - 6} | ${iat - day}
  iat - | null | "${iat}" | -1 | ${iat - 100 * day} | ${iat + 7} | ${iat + 1800}
  nbf ${iat + 7} | ${iat + 3600} | "now"
  sub - | null | "" | {} | {"id":"alice"} | ["alice"] | 1 | true | "\\u0000a" | "a\\nb" | "\\u001b[0m" | "\\u007f"
  sub "\\ud800" | "${'a'.repeat(256)}" | "alice","sub":"admin" | "alice","s\\u0075b":"admin"
  x [{"a":1,"b":{"c":1,"c":2}}]
`;
/** The clock may be off by five seconds. */
const takenClaims = `
  aud ["other","catalog"]
  exp ${iat + 1} | ${iat + 90 * day}
  iat ${iat + 5}
  nbf ${iat + 5}
  sub "${'a'.repeat(255)}" | "Jörg Ωmega 日本"
  x {"sub":"x","b":[{"sub":1},{"sub":2}],"text":"\\"sub\\":1,\\"sub\\":2","a\\"sub":1}
`;

tokens('claims: all are required, of the right type, within their bounds, and there once', async () => {
  const each = async (table: string, judge: (text: string, name: string) => Promise<void>) => {
    for (const line of linesOf(table)) {
      const [, claim, texts] = /^(\w+) (.*)$/.exec(line) as unknown as [string, string, string];
      for (const text of texts.split(' | '))
        await judge(signed(payloadWith(claim, text === '-' ? undefined : text)), `${claim} ${text}`);
    }
  };
  await each(refusedClaims, refusedToken);
  await each(takenClaims, (text, name) => taken(name, text));
  await taken('expired 4 s ago', token({ iat: iat - 100, exp: iat - 4 }));
  await refusedToken(token({ iat: iat - 100, exp: iat - 6 }), 'expired 6 s ago');
  for (const payload of ['[]', '["alice"]', 'null', 'alice', ''])
    await refusedToken(signed(payload), payload);
});

tokens('a token that was changed, cut, or is none', async () => {
  const whole = token();
  const [head, body, signature] = whole.split('.') as [string, string, string];
  const texts = {
    'another payload': `${head}.${encode(JSON.stringify({ ...good, sub: 'admin' }))}.${signature}`,
    'another header': `${encode('{"alg":"ES256","kid":"ec","typ":"x"}')}.${body}.${signature}`,
    'a cut signature': whole.slice(0, -4),
    'two parts': `${head}.${body}`,
    'five parts': `${whole}.a.b`,
    'none and a signature': `${encode('{"alg":"none"}')}.${body}.${signature}`,
    'an integration token': `gsi_${'x'.repeat(43)}`,
    'gsi_ and a token': `gsi_${whole}`,
  };
  for (const [name, text] of Object.entries(texts)) await refusedToken(text, name);
  for (const text of ['garbage', '..', 'the-cron-secret']) await refusedToken(text);
});

tokens('a token of more than 8 KB is refused unread', async () => {
  const sized = (pad: number) => token({ pad: 'x'.repeat(pad) });
  let pad = 5600;
  while (sized(pad + 1).length <= 8192) pad++;
  assert.ok(sized(pad).length > 8188);
  await taken('the longest', sized(pad));
  for (const more of [pad + 1, 11_000, 100_000]) await refusedToken(sized(more), `${more}`);
});

/** Authorization headers, `T!` in the place of a good token. */
const authorizations = `
  Bearer|Basic T!|Basic YWxpY2U6eA==|Token T!|JWT T!|DPoP T!|T!|BearerT!|Bearer:T!|XBearer T!|Bearer T! x
  Bearer T! T!|Bearer T!,x|Bearer T!, Bearer T!|Bearer T!, Basic eDp5|Bearer "T!"|Bearer token=T!|Bearer\tT!
`;

tokens('the header: Bearer in any case, one token, one header; nothing elsewhere is looked at', async () => {
  const whole = token();
  for (const scheme of ['bearer ', 'BEARER ', 'bEaReR  ']) await taken(scheme, whole, scheme);
  await refused('no header', []);
  for (const value of ['', 'Bearer ', ...linesOf(authorizations).flatMap((line) => line.split('|'))])
    await refused(value, [['Authorization', value.replaceAll('T!', whole)]]);
  for (const [one, other] of [
    ['Bearer T', 'Bearer T'],
    ['Bearer T', 'Bearer x'],
    ['Bearer x', 'Bearer T'],
    ['Basic eDp5', 'Bearer T'],
  ] as const)
    await refused(
      `${one} and ${other}`,
      [one, other].map((value) => ['Authorization', value.replace('T', whole)]),
    );
  for (const name of 'token access_token authorization Authorization bearer jwt'.split(' '))
    for (const value of [whole, `Bearer%20${whole}`])
      await refused(`?${name}=`, [], `/api/v1/stigs?${name}=${value}`);
  for (const name of 'X-Authorization Proxy-Authorization X-Access-Token X-Forwarded-User'.split(' '))
    await refused(name, [[name, `Bearer ${whole}`]]);
  await refused('Cookie', [['Cookie', `token=${whole}; Authorization=${whole}`]]);
  // Public endpoints do not even look at it.
  const garbage = { token: null, headers: { Authorization: 'Bearer garbage' } };
  assert.is((await t.get('/api/v1/controls/nist-800-53', garbage)).status, 200);
});

const verifierOf = (more: Record<string, string>) =>
  createVerifyUserToken(readConfig({}, { ...env, ...more }), keySet, () => now);

tokens('claim names can be remapped', async () => {
  const [sub, email, org, entitlements] = ['preferred_username', 'mail', 'tenant', 'groups'] as const;
  const verify = verifierOf({
    GAPSTONE_CLAIM_SUB: sub,
    GAPSTONE_CLAIM_EMAIL: email,
    GAPSTONE_CLAIM_ORG: org,
    GAPSTONE_CLAIM_ENTITLEMENTS: entitlements,
  });
  const claims = {
    ...{ sub: undefined, [sub]: 'carol', [email]: 'carol@example.org', [org]: 'blue' },
    ...{ [entitlements]: ['occ', 'other', 'regdoc'] },
    ...{ email: 'ignored@example.org', org: 'ignored', entitlements: [] },
  };
  assert.equal(await verify(token(claims)), {
    ...{ kind: 'user', subject: 'carol', email: 'carol@example.org', organization: 'blue' },
    ...{ entitlements: new Set(['occ', 'regdoc']), expiresAt: good.exp },
  });
  for (const wrong of [{ [sub]: undefined, sub: 'carol' }, { [sub]: { id: 'carol' } }])
    await verify(token({ ...claims, ...wrong })).then(
      () => assert.unreachable('it was not refused'),
      (error) => assert.is(error.code, 'UNAUTHORIZED'),
    );
});

tokens('who calls: e-mail, organization and entitlements are read where they are sane', async () => {
  const verify = verifierOf({});
  const alice = {
    ...{ kind: 'user', subject: 'alice', email: null, organization: null },
    ...{ entitlements: new Set(), expiresAt: good.exp },
  };
  assert.equal(await verify(token({ email: 'a@b.c', org: 'red', entitlements: ['regdoc'] })), {
    ...alice,
    ...{ email: 'a@b.c', organization: 'red', entitlements: new Set(['regdoc']) },
  });
  for (const claims of [
    {},
    { email: {}, org: [] },
    { email: '', org: '' },
    { email: 'a\nb', org: 1 },
    { entitlements: 'regdoc' },
    { entitlements: { 0: 'regdoc', length: 1 } },
    { entitlements: ['REGDOC', 1, null, ['occ']] },
  ])
    assert.equal(await verify(token(claims)), alice, JSON.stringify(claims));
});

tokens.run();
