import { createHmac } from 'node:crypto';
import {
  CompactSign,
  type CryptoKey,
  createLocalJWKSet,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  SignJWT,
} from 'jose';
import * as assert from 'uvu/assert';
import { createVerifyUserToken } from '../../src/auth/tokens.ts';
import { readConfig } from '../../src/base/config.ts';
import { openCatalog } from '../../src/db/database.ts';
import { suite } from '../support/harness.ts';
import { assertError, assertSecurityHeaders, loggedApp } from '../support/service.ts';
import { noToken } from '../support/words.ts';

const tokens = suite('User tokens');

const now = new Date('2026-11-21T12:00:00.500Z');
const seconds = Math.floor(now.getTime() / 1000);
const day = 86_400;
const env = { GAPSTONE_ISSUER: 'https://idp.example', GAPSTONE_AUDIENCE: 'catalog' };

const [rsa, ec, ec2, p384, ed] = await Promise.all([
  generateKeyPair('RS256', { extractable: true }),
  generateKeyPair('ES256', { extractable: true }),
  generateKeyPair('ES256', { extractable: true }),
  generateKeyPair('ES384', { extractable: true }),
  generateKeyPair('EdDSA', { extractable: true }),
]);
const publicJwk = async (key: CryptoKey, kid: string): Promise<JWK> => ({ ...(await exportJWK(key)), kid });
const keySet = {
  keys: [
    await publicJwk(rsa.publicKey, 'rsa'),
    await publicJwk(ec.publicKey, 'ec'),
    // Not allowed, and still in the set: the algorithm alone must refuse them.
    await publicJwk(p384.publicKey, 'p384'),
    await publicJwk(ed.publicKey, 'ed'),
  ],
};

function appWith(environment: Record<string, string>) {
  const verify = createVerifyUserToken(readConfig({}, environment), createLocalJWKSet(keySet), () => now);
  const db = openCatalog(':memory:', { create: true });
  const { app } = loggedApp(db, verify);
  return async (headers: [string, string][] | Record<string, string>, path = '/api/v1/stigs') => {
    const response = await app.request(path, {
      headers: [...new Headers(headers), ['X-Request-Id', 'fixed']],
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
  };
}
const ask = appWith(env);

const good = { sub: 'alice', iss: 'https://idp.example', aud: 'catalog', iat: seconds, exp: seconds + 3600 };

function sign(
  claims: Record<string, unknown> = {},
  header: Record<string, unknown> & { alg: string } = { alg: 'ES256', kid: 'ec' },
  key: CryptoKey = ec.privateKey,
): Promise<string> {
  const payload = Object.fromEntries(
    Object.entries({ ...good, ...claims }).filter(([, value]) => value !== undefined),
  );
  return new SignJWT(payload as JWTPayload).setProtectedHeader(header).sign(key);
}

/** Signs a payload as it is written, for what JSON.stringify cannot write. */
function signText(payload: string): Promise<string> {
  return new CompactSign(Buffer.from(payload))
    .setProtectedHeader({ alg: 'ES256', kid: 'ec' })
    .sign(ec.privateKey);
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function hmac(header: object, secret: string | Uint8Array, hash = 'sha256'): string {
  const input = `${encode(header)}.${encode(good)}`;
  return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`;
}

const refusal = {
  text: '{"error":{"code":"UNAUTHORIZED","message":"Missing or invalid Authorization header","requestId":"fixed"}}',
  headers: '',
};

async function refused(name: string, headers: [string, string][] | Record<string, string>, path?: string) {
  const answer = await ask(headers, path);
  assert.is(answer.status, 401, `${name} was not refused`);
  assert.is(answer.text, refusal.text, name);
  assert.is(answer.headers.get('WWW-Authenticate'), 'Bearer', name);
  refusal.headers ||= JSON.stringify([...answer.headers]);
  assert.is(JSON.stringify([...answer.headers]), refusal.headers, `${name}: other headers`);
  assertError(answer, 401, 'UNAUTHORIZED', noToken);
  assertSecurityHeaders(answer.headers);
}

const refusedTokens = async (cases: Record<string, string | Promise<string>>) => {
  for (const [name, token] of Object.entries(cases))
    await refused(name, { Authorization: `Bearer ${await token}` });
};

const accepted = async (name: string, token: string | Promise<string>, scheme = 'Bearer') => {
  const answer = await ask({ Authorization: `${scheme} ${await token}` });
  assert.is(answer.status, 200, `${name} was refused`);
};

tokens('RS256, PS256 and ES256 are taken', async () => {
  await accepted('RS256', sign({}, { alg: 'RS256', kid: 'rsa' }, rsa.privateKey));
  await accepted('ES256', sign());
  const jwk = await exportJWK(rsa.privateKey);
  const key = await crypto.subtle.importKey(
    'jwk',
    { ...jwk, alg: 'PS256' },
    { name: 'RSA-PSS', hash: 'SHA-256' },
    false,
    ['sign'],
  );
  await accepted('PS256', sign({}, { alg: 'PS256', kid: 'rsa' }, key));
});

tokens('other algorithms are not, even with a key of the set', async () => {
  const jwk = await exportJWK(rsa.privateKey);
  const rs512 = await crypto.subtle.importKey(
    'jwk',
    { ...jwk, alg: 'RS512' },
    { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-512' },
    false,
    ['sign'],
  );
  await refusedTokens({
    ES384: sign({}, { alg: 'ES384', kid: 'p384' }, p384.privateKey),
    EdDSA: sign({}, { alg: 'EdDSA', kid: 'ed' }, ed.privateKey),
    Ed25519: sign({}, { alg: 'Ed25519', kid: 'ed' }, ed.privateKey),
    RS512: sign({}, { alg: 'RS512', kid: 'rsa' }, rs512),
    HS256: hmac({ alg: 'HS256' }, 'a shared secret of 32 characters'),
  });
});

tokens('none is not an algorithm', async () => {
  for (const alg of ['none', 'None', 'NoNe', 'NONE', '']) {
    const unsigned = `${encode({ alg })}.${encode(good)}.`;
    await refusedTokens({ [`alg ${alg}`]: unsigned, [`alg ${alg} with text`]: `${unsigned}AAAA` });
  }
  await refusedTokens({ 'no alg': `${encode({ kid: 'ec' })}.${encode(good)}.AAAA` });
});

tokens('a public key is never a shared secret', async () => {
  const pem = await exportSPKI(rsa.publicKey);
  const jwk = await exportJWK(rsa.publicKey);
  for (const kid of [undefined, 'rsa', 'ec']) {
    const header = { alg: 'HS256', ...(kid === undefined ? {} : { kid }) };
    await refusedTokens({
      pem: hmac(header, pem),
      'pem, trimmed': hmac(header, pem.trim()),
      jwk: hmac(header, JSON.stringify(jwk)),
      modulus: hmac(header, Buffer.from(jwk.n!, 'base64url')),
      empty: hmac(header, ''),
      HS512: hmac({ ...header, alg: 'HS512' }, pem, 'sha512'),
    });
  }
});

tokens('a key that the token brings along is not looked at', async () => {
  const jwk = await exportJWK(ec2.publicKey);
  const key = ec2.privateKey;
  await refusedTokens({
    'embedded jwk': sign({}, { alg: 'ES256', jwk }, key),
    'embedded jwk under a known kid': sign({}, { alg: 'ES256', kid: 'ec', jwk }, key),
    jku: sign({}, { alg: 'ES256', kid: 'evil', jku: 'http://127.0.0.1:9/jwks' }, key),
    x5u: sign({}, { alg: 'ES256', kid: 'evil', x5u: 'http://127.0.0.1:9/cert' }, key),
    'unknown kid': sign({}, { alg: 'ES256', kid: 'evil' }),
    'kid of another type': sign({}, { alg: 'ES256', kid: 'rsa' }),
    'kid as a path': sign({}, { alg: 'ES256', kid: '../../../dev/null' }),
    'kid as SQL': sign({}, { alg: 'ES256', kid: "' UNION SELECT 1--" }),
    'another key under a known kid': sign({}, { alg: 'ES256', kid: 'ec' }, key),
  });
});

tokens('an unknown critical header, a changed or cut token, and garbage are refused', async () => {
  const token = await sign();
  const [header, payload, signature] = token.split('.') as [string, string, string];
  const critical = { alg: 'ES256', kid: 'ec', crit: ['x'], x: 1 };
  const input = Buffer.from(`${encode(critical)}.${payload}`);
  const raw = Buffer.from(await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, ec.privateKey, input));
  await refusedTokens({
    crit: `${input}.${raw.toString('base64url')}`,
    'another payload': `${header}.${encode({ ...good, sub: 'admin' })}.${signature}`,
    'another header': `${encode({ alg: 'ES256', kid: 'ec', typ: 'x' })}.${payload}.${signature}`,
    'no signature': `${header}.${payload}.`,
    'a cut signature': token.slice(0, -4),
    'two parts': `${header}.${payload}`,
    'five parts': `${token}.x.y`,
    garbage: 'garbage',
    dots: '..',
    'no JSON': `${header}.${Buffer.from('x').toString('base64url')}.${signature}`,
    'a payload that is no object': signText('["alice"]'),
    'a signature in DER form': `${header}.${payload}.${Buffer.from('3006020101020101', 'hex').toString('base64url')}`,
    'a zero signature': `${header}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
  });
});

tokens('iat, exp, iss, aud and sub are required', async () => {
  for (const claim of ['iat', 'exp', 'iss', 'aud', 'sub'])
    await refusedTokens({
      [`no ${claim}`]: sign({ [claim]: undefined }),
      [`${claim} null`]: signText(JSON.stringify({ ...good, [claim]: null })),
    });
});

tokens('issuer and audience must be ours', async () => {
  for (const value of [
    '',
    'gapstone',
    'https://idp.example/',
    'HTTPS://IDP.EXAMPLE',
    ['https://idp.example', 'x'],
    {},
  ])
    await refusedTokens({
      [`iss ${JSON.stringify(value)}`]: signText(JSON.stringify({ ...good, iss: value })),
    });
  for (const value of ['', 'gapstone', 'catalog2', 'Catalog', [], ['x'], { catalog: true }, 1])
    await refusedTokens({
      [`aud ${JSON.stringify(value)}`]: signText(JSON.stringify({ ...good, aud: value })),
    });
  await accepted('one audience of several', sign({ aud: ['other', 'catalog'] }));
});

tokens('exp is an integer after iat, at most 90 days after it', async () => {
  await accepted('90 days', sign({ exp: seconds + 90 * day }));
  await accepted('one second', sign({ exp: seconds + 1 }));
  await refusedTokens({
    '90 days and a second': sign({ exp: seconds + 90 * day + 1 }),
    'a float': sign({ exp: seconds + 3600.5 }),
    '1e308': signText(JSON.stringify(good).replace(/"exp":\d+/, '"exp":1e308')),
    '1e400': signText(JSON.stringify(good).replace(/"exp":\d+/, '"exp":1e400')),
    'a text': signText(JSON.stringify({ ...good, exp: String(good.exp) })),
    'a list': signText(JSON.stringify({ ...good, exp: [good.exp] })),
    'equal to iat': sign({ iat: seconds + 2, exp: seconds + 2 }),
    'before iat': sign({ iat: seconds + 4, exp: seconds + 3 }),
    'an old iat and a far exp': sign({ iat: seconds - 100 * day }),
    'a negative iat': sign({ iat: -1 }),
    'iat as a text': signText(JSON.stringify({ ...good, iat: String(good.iat) })),
  });
});

tokens('the clock may be off by five seconds and no more', async () => {
  await accepted('expired 4 s ago', sign({ iat: seconds - 100, exp: seconds - 4 }));
  await accepted('issued in 5 s', sign({ iat: seconds + 5 }));
  await accepted('valid in 5 s', sign({ nbf: seconds + 5 }));
  await refusedTokens({
    'expired 6 s ago': sign({ iat: seconds - 100, exp: seconds - 6 }),
    'expired a day ago': sign({ iat: seconds - 2 * day, exp: seconds - day }),
    'issued in 7 s': sign({ iat: seconds + 7 }),
    'issued in an hour': sign({ iat: seconds + 3600, exp: seconds + 7200 }),
    'valid in 7 s': sign({ nbf: seconds + 7 }),
    'valid in an hour': sign({ nbf: seconds + 3600 }),
    'nbf as a text': signText(JSON.stringify({ ...good, nbf: 'now' })),
  });
});

tokens('sub is a text of 1 to 255 characters', async () => {
  await accepted('255 characters', sign({ sub: 'a'.repeat(255) }));
  await accepted('any script', sign({ sub: 'Jörg Ωmega 日本' }));
  for (const sub of [
    '',
    'a'.repeat(256),
    {},
    { id: 'alice' },
    ['alice'],
    1,
    true,
    'a\u0000b',
    'a\nb',
    '\u001b[0m',
    '\u007f',
  ])
    await refusedTokens({
      [`sub ${JSON.stringify(sub).slice(0, 40)}`]: signText(JSON.stringify({ ...good, sub })),
    });
  await refusedTokens({
    'a lone surrogate': signText(`${JSON.stringify(good).replace('alice', '\\ud800')}`),
  });
});

tokens('a token of more than 8 KB is refused unread', async () => {
  const withPad = (size: number) => sign({ pad: 'x'.repeat(size) });
  let size = 5600;
  while ((await withPad(size + 1)).length <= 8192) size++;
  const longest = await withPad(size);
  assert.ok(longest.length > 8188);
  await accepted(`${longest.length} characters`, longest);
  await refusedTokens({ 'a few more': withPad(size + 1), '15 KB': withPad(11_000) });
});

tokens('the header: Bearer in any case, one token, one header', async () => {
  const token = await sign();
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) await accepted(scheme, token, scheme);
  await refused('no header', {});
  await refused('an empty header', { Authorization: '' });
  for (const value of [
    'Bearer',
    'Bearer ',
    `Basic ${token}`,
    `Basic ${Buffer.from('alice:x').toString('base64')}`,
    `Token ${token}`,
    `JWT ${token}`,
    `DPoP ${token}`,
    token,
    `Bearer${token}`,
    `Bearer:${token}`,
    `Bearer ${token} x`,
    `Bearer ${token},x`,
    `Bearer "${token}"`,
    `Bearer token=${token}`,
    `XBearer ${token}`,
  ])
    await refused(value.slice(0, 20), { Authorization: value });
  await refused('two headers', [
    ['Authorization', `Bearer ${token}`],
    ['Authorization', `Bearer ${token}`],
  ]);
  await refused('two headers, one bad', [
    ['Authorization', 'Bearer x'],
    ['Authorization', `Bearer ${token}`],
  ]);
});

tokens('a token anywhere else is not looked at', async () => {
  const token = await sign();
  for (const name of ['token', 'access_token', 'authorization', 'Authorization', 'bearer', 'jwt'])
    await refused(`?${name}=`, {}, `/api/v1/stigs?${name}=${token}`);
  await refused('?Authorization=Bearer', {}, `/api/v1/stigs?Authorization=Bearer%20${token}`);
  for (const name of [
    'X-Authorization',
    'Proxy-Authorization',
    'X-Access-Token',
    'Cookie',
    'X-Forwarded-User',
  ])
    await refused(name, {
      [name]: name === 'Cookie' ? `token=${token}; Authorization=${token}` : `Bearer ${token}`,
    });
});

tokens('every catalog endpoint needs a token', async () => {
  const paths = [
    '/api/v1/stigs',
    '/api/v1/stigs/stats',
    '/api/v1/stigs/changelog',
    '/api/v1/stigs/x',
    '/api/v1/stigs/x/controls',
    '/api/v1/stigs/x/versions',
    '/api/v1/stigs/x/download',
  ];
  for (const path of paths) {
    await refused(path, {}, path);
    await refused(path, { Authorization: 'Bearer x' }, path);
  }
});

tokens('claim names can be remapped', async () => {
  const remapped = {
    ...env,
    GAPSTONE_CLAIM_SUB: 'preferred_username',
    GAPSTONE_CLAIM_EMAIL: 'mail',
    GAPSTONE_CLAIM_ORG: 'tenant',
    GAPSTONE_CLAIM_ENTITLEMENTS: 'groups',
  };
  const config = readConfig({}, remapped);
  const verify = createVerifyUserToken(config, createLocalJWKSet(keySet), () => now);
  const claims = {
    sub: undefined,
    preferred_username: 'carol',
    mail: 'carol@example.org',
    tenant: 'blue',
    groups: ['occ', 'other', 'regdoc'],
    email: 'ignored@example.org',
    org: 'ignored',
    entitlements: [],
  };
  assert.equal(await verify(await sign(claims)), {
    kind: 'user',
    subject: 'carol',
    email: 'carol@example.org',
    organization: 'blue',
    entitlements: new Set(['occ', 'regdoc']),
    expiresAt: good.exp,
  });
  await rejects(verify(await sign({ ...claims, preferred_username: undefined, sub: 'carol' })));
  await rejects(verify(await sign({ ...claims, preferred_username: { id: 'carol' } })));
});

tokens('who calls: e-mail, organization and entitlements are read where they are sane', async () => {
  const verify = createVerifyUserToken(readConfig({}, env), createLocalJWKSet(keySet), () => now);
  const viewer = async (claims: Record<string, unknown>) => verify(await sign(claims));
  const nobody = {
    kind: 'user',
    subject: 'alice',
    email: null,
    organization: null,
    entitlements: new Set(),
    expiresAt: good.exp,
  };
  assert.equal(await viewer({}), nobody);
  assert.equal(await viewer({ email: 'a@b.c', org: 'red', entitlements: ['regdoc'] }), {
    ...nobody,
    email: 'a@b.c',
    organization: 'red',
    entitlements: new Set(['regdoc']),
  });
  for (const claims of [
    { email: {}, org: [] },
    { email: '', org: '' },
    { email: 'a\nb', org: 1 },
    { entitlements: 'regdoc' },
    { entitlements: { 0: 'regdoc', length: 1 } },
    { entitlements: ['REGDOC', 1, null, ['occ']] },
  ])
    assert.equal(await viewer(claims), nobody, JSON.stringify(claims));
});

async function rejects(promise: Promise<unknown>): Promise<void> {
  const result = await promise.then(
    () => null,
    (error: Error & { code?: string }) => error,
  );
  assert.ok(result, 'it was not refused');
  assert.is(result!.code, 'UNAUTHORIZED');
}

tokens.run();
