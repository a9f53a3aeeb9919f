import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  calculateJwkThumbprint,
  type createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  type JWK,
  SignJWT,
} from 'jose';
import * as assert from 'uvu/assert';
import { loadKeys, localKey, readKeySet } from '../../src/auth/keys.ts';
import { createVerifyUserToken, issueUserToken } from '../../src/auth/tokens.ts';
import { readConfig } from '../../src/base/config.ts';
import { CommandError } from '../../src/base/errors.ts';
import { createLog } from '../../src/base/log.ts';
import { suite } from '../support/harness.ts';
import { put, scratchFolder } from '../support/scratch.ts';

const keys = suite('Key sets and the local issuer');

const now = new Date('2026-11-21T12:00:00Z');
const pair = async (algorithm: string) => {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return {
    publicKey: await exportJWK(publicKey),
    privateKey: await exportJWK(privateKey),
    signer: privateKey,
  };
};
const [rsa, ec, p384, ed] = await Promise.all([pair('RS256'), pair('ES256'), pair('ES384'), pair('EdDSA')]);
type Signer = typeof rsa.signer;

const setFile = (content: unknown): string =>
  put(scratchFolder(), 'jwks.json', typeof content === 'string' ? content : JSON.stringify(content));

async function failure(promise: Promise<unknown>, message = /./, exitCode?: number): Promise<void> {
  const error = (await promise.then(
    () => null,
    (reason: unknown) => reason,
  )) as CommandError;
  assert.instance(error, CommandError, `it was not refused: ${error}`);
  assert.match(error.message, message);
  assert.not.match(error.message, /\n/, 'one line');
  if (exitCode !== undefined) assert.is(error.exitCode, exitCode);
  for (const secret of [rsa.privateKey.d!, ec.privateKey.d!, 'c2VjcmV0'])
    assert.not.match(error.message, secret.slice(0, 8), 'a key is in the message');
}
const refusedSet = (content: unknown, message: RegExp) => failure(readKeySet(setFile(content)), message, 1);

type Skipped = { level: string; msg: string; count: number; keys: { kid: string; reason: string }[] };

/** Reads a key set; the ids of its keys, and what the log says of those that were passed over. */
async function taken(set: object[]): Promise<{ kids: (string | undefined)[]; lines: Skipped[] }> {
  const lines: Skipped[] = [];
  const log = createLog('debug', (text) => {
    assert.match(text, /^[^\n]*\n$/);
    lines.push(JSON.parse(text));
  });
  const held = (await readKeySet(setFile({ keys: set }), log)) as ReturnType<typeof createLocalJWKSet>;
  return { kids: held.jwks().keys.map(({ kid }) => kid), lines };
}

/** The subject of a token that was signed so, as our keys verify it; null where they do not. */
async function verified(set: JWK[], signer: Signer, header: { alg: string; kid?: string }) {
  const iat = now.getTime() / 1000;
  const token = await new SignJWT({ sub: 'ann', iss: 'gapstone', aud: 'gapstone', iat, exp: iat + 60 })
    .setProtectedHeader(header)
    .sign(signer);
  const find = await readKeySet(setFile({ keys: set }));
  return createVerifyUserToken(
    readConfig({}, {}),
    find,
    () => now,
  )(token).then(
    ({ subject }) => subject,
    (error) => {
      assert.is(error.code, 'UNAUTHORIZED');
      return null;
    },
  );
}

/** Keys that are none of ours to verify with, and why. */
const others: [key: object, reason: RegExp][] = [
  [{ ...rsa.publicKey, use: 'enc', alg: 'RSA-OAEP' }, /its use is "enc", not "sig"$/],
  [{ ...ec.publicKey, use: 'enc' }, /its use is "enc", not "sig"$/],
  [{ ...ec.publicKey, use: 'SIG' }, /its use is "SIG", not "sig"$/],
  [{ ...ec.publicKey, use: null }, /its use is "\?", not "sig"$/],
  [{ ...rsa.publicKey, key_ops: ['encrypt', 'wrapKey'] }, /its key_ops do not include "verify"$/],
  [{ ...ec.publicKey, key_ops: [] }, /its key_ops do not include "verify"$/],
  [{ ...ec.publicKey, key_ops: 'verify' }, /its key_ops do not include "verify"$/],
  [p384.publicKey, /it is not an RSA or EC P-256 key$/],
  [ed.publicKey, /it is not an RSA or EC P-256 key$/],
  [{ kty: 'AKP', alg: 'ML-DSA-44', pub: 'AA' }, /it is not an RSA or EC P-256 key$/],
  // What is passed over need not be sound.
  [{ kty: 'RSA', use: 'enc' }, /its use is "enc", not "sig"$/],
  ...['RS512', 'HS256', 'none', 'ES384', 'RSA-OAEP'].map((alg): [object, RegExp] => [
    { ...rsa.publicKey, alg },
    new RegExp(`its algorithm is ${alg}; allowed: RS256, PS256, ES256$`),
  ]),
];

keys('keys for something else are passed over and told of; none else is refused', async () => {
  const good = { ...ec.publicKey, kid: 'good' };
  for (const [key, reason] of others) {
    const other = { ...key, kid: 'other' };
    for (const set of [
      [other, good],
      [good, other],
    ]) {
      const { kids, lines } = await taken(set);
      assert.equal(kids, ['good']);
      const [{ level, msg, count, keys: named }, ...more] = lines as [Skipped];
      assert.equal(
        [level, msg, count, named.map(({ kid }) => kid), more],
        ['warn', 'key set: keys skipped', 1, ['other'], []],
      );
      assert.match(named[0]!.reason, reason);
    }
    await refusedSet({ keys: [key] }, reason);
    const told = `contains no usable key: 3 skipped; the first, "other", because ${reason.source}`;
    await refusedSet({ keys: [other, p384.publicKey, key] }, new RegExp(told));
  }
  assert.equal((await taken([good])).lines, [], 'nothing is passed over, nothing is told');
  // The line stays short and whole, whatever the keys are called.
  const odd = { ...rsa.publicKey, use: 'enc', kid: `a\n${'x'.repeat(500)}` };
  const unnamed = { ...rsa.publicKey, use: 'y'.repeat(500), kid: { toString: 1 } };
  const { lines } = await taken([unnamed, ...Array(50).fill(odd), good]);
  assert.equal([lines.length, lines[0]!.count, lines[0]!.keys.length], [1, 51, 20]);
  assert.equal(lines[0]!.keys.slice(0, 2), [
    { kid: '?', reason: `its use is "${'y'.repeat(20)}", not "sig"` },
    { kid: `a\uFFFD${'x'.repeat(62)}`, reason: 'its use is "enc", not "sig"' },
  ]);
});

keys('where several keys of a set fit a token, each is tried', async () => {
  const [other, third, foreign] = await Promise.all([pair('RS256'), pair('RS256'), pair('RS256')]);
  const named = (...each: (typeof rsa)[]) => each.map(({ publicKey }) => ({ ...publicKey, kid: 'a' }));
  for (const [set, header] of [
    [[other, rsa, third, ec].map(({ publicKey }) => publicKey), { alg: 'RS256' }],
    [named(rsa, rsa, ec), { alg: 'RS256', kid: 'a' }],
    [named(other, rsa), { alg: 'RS256', kid: 'a' }],
  ] as const) {
    assert.is(await verified([...set], rsa.signer, header), 'ann');
    assert.is(await verified([...set], foreign.signer, header), null);
    assert.is(await verified([...set], rsa.signer, { alg: 'RS256', kid: 'b' }), null);
  }
});

const modulus = Buffer.from(rsa.publicKey.n!, 'base64url');
const ofModulus = (...bytes: Buffer[]) => ({
  ...rsa.publicKey,
  n: Buffer.concat(bytes).toString('base64url'),
});

/** Keys with which a set is refused, also beside a good one, and why. */
const bad: [why: RegExp, ...keys: unknown[]][] = [
  [
    /key "oops" is a private key$/,
    ...[rsa, p384, ed].flatMap(({ privateKey }) =>
      [{}, { use: 'enc' }, { alg: 'RSA-OAEP' }, { key_ops: ['decrypt'] }].map((more) => ({
        ...privateKey,
        ...{ kid: 'oops', ...more },
      })),
    ),
    { ...ec.privateKey, kid: 'oops' },
    { kty: 'AKP', priv: 'c2VjcmV0', kid: 'oops' },
  ],
  [
    /key "shared" is a symmetric key$/,
    ...[{}, { use: 'enc' }, { alg: 'HS256' }, { key_ops: ['sign'] }, { kty: 'OCT' }, { kty: 'RSA' }].map(
      (more) => ({ kty: 'oct', k: 'c2VjcmV0', kid: 'shared', ...more }),
    ),
  ],
  [/has the type RSA, which does not match its algorithm ES256$/, { ...rsa.publicKey, alg: 'ES256' }],
  [/has the type EC, which does not match its algorithm RS256$/, { ...ec.publicKey, alg: 'RS256' }],
  [
    /cannot be used/,
    ...[
      { ...ec.publicKey, crv: undefined },
      { ...ec.publicKey, y: undefined },
    ],
    ...[
      { kty: 'RSA', e: 'AQAB', n: 5 },
      { ...rsa.publicKey, e: undefined },
      { ...rsa.publicKey, e: 3 },
    ],
  ],
  [/is not a key: it has no kty$/, { n: rsa.publicKey.n, e: 'AQAB' }],
  [/is not a key/, null],
  [
    /has an invalid exponent: it must be an odd number of at least 3$/,
    ...['AQ', 'AA', '', 'Ag', 'AAE', 'AQAA'].map((e) => ({ ...rsa.publicKey, e })),
  ],
  [
    /has fewer than 2048 bits$/,
    ofModulus(modulus.subarray(0, 128)),
    ofModulus(modulus.subarray(0, 255)),
    ofModulus(Buffer.alloc(128), modulus.subarray(0, 128)),
    ofModulus(Buffer.from([1]), modulus.subarray(1)),
  ],
  [
    /key "\?"/,
    ...[null, 1, 'x', [], {}, { kty: 'EC' }, { kty: 'RSA' }, { kty: 'EC', crv: 'P-256' }],
    { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' },
    { kty: 'RSA', n: rsa.publicKey.n },
  ],
];

keys('a key that is secret or malformed is refused wherever it stands', async () => {
  for (const [why, ...each] of bad)
    for (const key of each)
      for (const set of [[key], [ec.publicKey, key], [key, rsa.publicKey]])
        await refusedSet({ keys: set }, why);
  for (const e of ['AQAB', 'Aw', 'AAEAAQ']) await taken([{ ...rsa.publicKey, e }]);
});

keys('a file that is no key set is refused; a mark at its start is none', async () => {
  const notJson = /^the key set [^\n"]+ cannot be read: it is not JSON$/;
  for (const content of ['nope\n', '-----BEGIN PRIVATE KEY-----\nMIGHAgEA\n', '{"keys":[{"d":"c2VjcmV0" "x"'])
    await refusedSet(content, notJson);
  for (const content of ['', '{', '\ufeff', '<xml/>']) await refusedSet(content, notJson);
  for (const content of 'null|[]|"x"|1|{}|{"keys":[]}|{"keys":{}}|{"keys":"x"}'.split('|'))
    await refusedSet(content, /contains no keys/);
  const folder = scratchFolder();
  for (const file of [folder, join(folder, 'none.json')]) await failure(readKeySet(file), /cannot be read/);
  const marked = `\uFEFF${JSON.stringify({ keys: [{ ...rsa.publicKey, kid: 'a' }] })}`;
  assert.ok(
    await (await readKeySet(setFile(marked)))({ alg: 'RS256', kid: 'a' }, { payload: '', signature: '' }),
  );
});

const localConfig = (folder = scratchFolder(), more: Record<string, string> = {}) =>
  readConfig({}, { GAPSTONE_DB: join(folder, 'g.db'), ...more });

keys('the local key is made once, for its owner only, beside the database or where it is said', async () => {
  const mask = process.umask(0);
  try {
    for (const name of ['gapstone-key.json', 'elsewhere.json']) {
      const folder = scratchFolder();
      const file = join(folder, name);
      const config = localConfig(folder, name === 'elsewhere.json' ? { GAPSTONE_KEY_FILE: file } : {});
      const first = await localKey(config);
      assert.equal(readdirSync(folder), [name]);
      assert.is(statSync(file).mode & 0o777, 0o600);
      assert.equal(JSON.parse(readFileSync(file, 'utf8')), first);
      assert.equal([first.kty, first.crv, first.alg], ['EC', 'P-256', 'ES256']);
      assert.equal(await localKey(config), first, 'the second time it is read');
    }
  } finally {
    process.umask(mask);
  }
});

keys('a key is told of once, before it stands in its place, or not made', async () => {
  const folder = scratchFolder();
  const config = localConfig(folder);
  const refuse = () => {
    throw new CommandError('not audited');
  };
  await failure(localKey(config, refuse), /^not audited$/);
  await failure(loadKeys(config, undefined, undefined, refuse), /^not audited$/);
  assert.equal(readdirSync(folder), []);
  const told: string[] = [];
  const tell = (kid: string, publish: () => void) => {
    assert.not(existsSync(config.keyFile));
    publish();
    told.push(kid);
  };
  const { kid } = await localKey(config, tell);
  await loadKeys(config, undefined, undefined, tell);
  assert.equal(told, [kid]);
  // Of two processes that make the key at once the first one’s holds for both.
  const raced = localConfig();
  const other = await localKey(localConfig());
  const key = await localKey(raced, (_, publish) => {
    writeFileSync(raced.keyFile, JSON.stringify(other), { mode: 0o600 });
    publish();
  });
  assert.equal(key, other);
});

keys('a key file that others can read, or of something else, is refused', async () => {
  const config = localConfig();
  await localKey(config);
  const before = readFileSync(config.keyFile, 'utf8');
  for (const mode of [0o644, 0o640, 0o604, 0o620, 0o602, 0o601]) {
    chmodSync(config.keyFile, mode);
    const told = new RegExp(`readable by others \\(mode ${mode.toString(8)}\\): run chmod 600 on it$`);
    await failure(localKey(config), told);
    await failure(loadKeys(config));
    await failure(issueUserToken(config, { subject: 's', entitlements: [], lifetime: 60 }, now));
    assert.is(readFileSync(config.keyFile, 'utf8'), before);
    assert.is(statSync(config.keyFile).mode & 0o777, mode);
  }
  chmodSync(config.keyFile, 0o400);
  await localKey(config);
  const wrong = [
    ec.publicKey,
    ec.privateKey,
    ...[rsa, p384].map((each) => ({ ...each.privateKey, kid: 'k' })),
  ];
  for (const content of ['', '{', 'null', '{}', ...wrong.map((key) => JSON.stringify(key))]) {
    const folder = scratchFolder();
    chmodSync(put(folder, 'gapstone-key.json', content), 0o600);
    const told = /(cannot be read|does not contain an ES256 private key)/;
    await failure(localKey(localConfig(folder)), told);
  }
  const folder = scratchFolder();
  const GAPSTONE_KEY_FILE = join(folder, 'no', 'such', 'key.json');
  await failure(localKey(localConfig(folder, { GAPSTONE_KEY_FILE })), /cannot be written/);
  mkdirSync(join(folder, 'gapstone-key.json'));
  await failure(localKey(localConfig(folder)));
});

keys('an issued token says what was asked, and is of one installation', async () => {
  const asked = { subject: 'dora', email: 'd@example.org', organization: 'green', entitlements: ['occ'] };
  for (const more of [{}, { GAPSTONE_CLAIM_SUB: 'uid', GAPSTONE_CLAIM_ORG: 'tenant' }]) {
    const config = localConfig(scratchFolder(), more);
    const token = await issueUserToken(config, { ...asked, lifetime: 60 }, now);
    assert.equal(await createVerifyUserToken(config, await loadKeys(config), () => now)(token), {
      ...{ kind: 'user', ...asked, entitlements: new Set(['occ']) },
      expiresAt: now.getTime() / 1000 + 60,
      keyId: await calculateJwkThumbprint(await localKey(config)),
    });
    const [header, payload] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
    assert.is(JSON.parse(header!).alg, 'ES256');
    assert.is('uid' in JSON.parse(payload!), 'GAPSTONE_CLAIM_SUB' in more);
    const foreign = localConfig(scratchFolder(), more);
    const other = createVerifyUserToken(foreign, await loadKeys(foreign), () => now);
    await other(token).then(
      () => assert.unreachable('the token of another installation was taken'),
      () => undefined,
    );
  }
});

keys('what a token could not carry, or not for so long, is refused, and no key is made for it', async () => {
  const config = localConfig();
  const issue = (more: object) =>
    issueUserToken(config, { subject: 'ann', entitlements: [], lifetime: 60, ...more }, now);
  const rule = 'must have 1 to 255 characters, one that can be seen, and no control characters';
  for (const value of ['', 'x'.repeat(256), 'a\nb', 'a\u007f', 'a\0', '\ud800', '\u200b', 'a\u2028b'])
    for (const [option, name] of Object.entries({ subject: 'subject', email: 'email', org: 'organization' }))
      await failure(issue({ [name]: value }), new RegExp(`^--${option} ${rule}$`), 2);
  for (const lifetime of [0, -1, 90 * 86_400 + 1]) await failure(issue({ lifetime }), /./, 2);
  assert.not.ok(existsSync(config.keyFile));
  await issue({ lifetime: 90 * 86_400 });
});

keys('with GAPSTONE_JWKS only that file is trusted, and no local key is made', async () => {
  const folder = scratchFolder();
  const ours = { GAPSTONE_ISSUER: 'i', GAPSTONE_AUDIENCE: 'a' };
  const request = { subject: 's', entitlements: [], lifetime: 60 };
  const local = await issueUserToken(localConfig(folder, ours), request, now);
  const set = {
    keys: [
      { ...rsa.publicKey, kid: 'a', alg: 'PS256', use: 'sig' },
      { ...ec.publicKey, kid: 'b' },
    ],
  };
  const GAPSTONE_JWKS = setFile(set);
  const pinned = localConfig(folder, { ...ours, GAPSTONE_JWKS });
  const verify = createVerifyUserToken(pinned, await loadKeys(pinned), () => now);
  await verify(local).then(
    () => assert.unreachable('a token of the local key was taken'),
    () => undefined,
  );
  const iat = now.getTime() / 1000;
  const token = new SignJWT({ sub: 's', iss: 'i', aud: 'a', iat, exp: iat + 60 });
  const signed = await token.setProtectedHeader({ alg: 'ES256', kid: 'b' }).sign(ec.signer);
  assert.is((await verify(signed)).subject, 's');
  await failure(issueUserToken(pinned, request, now), /^GAPSTONE_JWKS is set/, 1);
  const fresh = scratchFolder();
  await loadKeys(localConfig(fresh, { ...ours, GAPSTONE_JWKS }));
  assert.equal(readdirSync(fresh), []);
});

keys.run();
