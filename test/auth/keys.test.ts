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
import { createLog, type Log } from '../../src/base/log.ts';
import { suite } from '../support/harness.ts';
import { put, scratchFolder } from '../support/scratch.ts';

const keys = suite('Key sets and the local issuer');

const now = new Date('2026-11-21T12:00:00Z');
const pair = async (algorithm: string, options: { modulusLength?: number; crv?: string } = {}) => {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true, ...options });
  return {
    publicKey: await exportJWK(publicKey),
    privateKey: await exportJWK(privateKey),
    signer: privateKey,
  };
};
const [rsa, ec, p384, ed] = await Promise.all([pair('RS256'), pair('ES256'), pair('ES384'), pair('EdDSA')]);

function setFile(content: unknown): string {
  return put(scratchFolder(), 'jwks.json', typeof content === 'string' ? content : JSON.stringify(content));
}

async function failure(promise: Promise<unknown>): Promise<CommandError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.instance(error, CommandError, `it was not refused: ${error}`);
  assert.not.match((error as CommandError).message, /\n/, 'one line');
  return error as CommandError;
}

async function refusedSet(content: unknown, message: RegExp): Promise<void> {
  const error = await failure(readKeySet(setFile(content)));
  assert.is(error.exitCode, 1);
  assert.match(error.message, message);
  for (const secret of [rsa.privateKey.d!, ec.privateKey.d!, 'c2VjcmV0'])
    assert.not.match(error.message, secret.slice(0, 8), 'a key is in the message');
}

type Signer = Awaited<ReturnType<typeof pair>>['signer'];

interface Line {
  level: string;
  msg: string;
  count?: number;
  keys?: { kid: string; reason: string }[];
}

/** A log whose lines are kept, without their times. */
function recorded(): { lines: Line[]; log: Log } {
  const lines: Line[] = [];
  const log = createLog('debug', (text) => {
    assert.match(text, /^[^\n]*\n$/);
    lines.push(JSON.parse(text));
  });
  return { lines, log };
}

keys('a key set of public RSA and P-256 keys is taken', async () => {
  const named = {
    keys: [
      { ...rsa.publicKey, kid: 'a', alg: 'PS256', use: 'sig' },
      { ...ec.publicKey, kid: 'b' },
    ],
  };
  const config = readConfig(
    {},
    { GAPSTONE_JWKS: setFile(named), GAPSTONE_ISSUER: 'i', GAPSTONE_AUDIENCE: 'a', GAPSTONE_DB: 'x.db' },
  );
  const verify = createVerifyUserToken(config, await loadKeys(config), () => now);
  const iat = now.getTime() / 1000;
  const token = await new SignJWT({ sub: 's', iss: 'i', aud: 'a', iat, exp: iat + 60 })
    .setProtectedHeader({ alg: 'ES256', kid: 'b' })
    .sign(ec.signer);
  assert.is((await verify(token)).subject, 's');
});

keys('a key set that holds a private key is refused', async () => {
  await refusedSet(
    { keys: [rsa.publicKey, { ...ec.privateKey, kid: 'oops' }] },
    /key "oops" is a private key$/,
  );
  await refusedSet({ keys: [rsa.privateKey] }, /is a private key$/);
});

/** Keys that are none of ours to verify with, and why. */
const others: [key: JWK, reason: RegExp][] = [
  [{ ...rsa.publicKey, use: 'enc', alg: 'RSA-OAEP' }, /its use is "enc", not "sig"$/],
  [{ ...ec.publicKey, use: 'enc' }, /its use is "enc", not "sig"$/],
  [{ ...ec.publicKey, use: 'SIG' }, /its use is "SIG", not "sig"$/],
  [{ ...ec.publicKey, use: null } as never, /its use is "\?", not "sig"$/],
  [{ ...rsa.publicKey, key_ops: ['encrypt', 'wrapKey'] }, /its key_ops do not include "verify"$/],
  [{ ...ec.publicKey, key_ops: [] }, /its key_ops do not include "verify"$/],
  [{ ...ec.publicKey, key_ops: 'verify' } as never, /its key_ops do not include "verify"$/],
  [p384.publicKey, /it is not an RSA or EC P-256 key$/],
  [ed.publicKey, /it is not an RSA or EC P-256 key$/],
  [{ kty: 'AKP', alg: 'ML-DSA-44', pub: 'AA' }, /it is not an RSA or EC P-256 key$/],
  // What is passed over need not be sound.
  [{ kty: 'RSA', use: 'enc' }, /its use is "enc", not "sig"$/],
  ...['RS512', 'HS256', 'none', 'ES384', 'RSA-OAEP'].map((alg): [JWK, RegExp] => [
    { ...rsa.publicKey, alg },
    new RegExp(`its algorithm is ${alg}; allowed: RS256, PS256, ES256$`),
  ]),
];

keys(
  'a set in which every key is for something else is refused, with how many and why the first',
  async () => {
    for (const [key, reason] of others) {
      await refusedSet({ keys: [key] }, reason);
      await refusedSet(
        { keys: [{ ...key, kid: 'first' }, p384.publicKey, key] },
        new RegExp(`contains no usable key: 3 skipped; the first, "first", because ${reason.source}`),
      );
    }
  },
);

keys('keys for something else are passed over beside a good one, and told of in one line', async () => {
  for (const [key, reason] of others) {
    for (const order of [0, 1]) {
      const set = [{ ...ec.publicKey, kid: 'good' }];
      set.splice(order, 0, { ...key, kid: 'other' });
      const { lines, log } = recorded();
      const held = (await readKeySet(setFile({ keys: set }), log)) as ReturnType<typeof createLocalJWKSet>;
      assert.equal(
        held.jwks().keys.map(({ kid }) => kid),
        ['good'],
      );
      assert.is(lines.length, 1);
      const { level, msg, count, keys: named } = lines[0]!;
      assert.equal(
        [level, msg, count, named!.map(({ kid }) => kid)],
        ['warn', 'key set: keys skipped', 1, ['other']],
      );
      assert.match(named![0]!.reason, reason);
    }
  }
  const { lines, log } = recorded();
  await readKeySet(setFile({ keys: [ec.publicKey] }), log);
  assert.equal(lines, [], 'nothing is passed over, nothing is told');
});

keys('the line stays short and whole, whatever the keys are called', async () => {
  const { lines, log } = recorded();
  const odd = Array.from({ length: 50 }, () => ({
    ...rsa.publicKey,
    use: 'enc',
    kid: `a\n${'x'.repeat(500)}`,
  }));
  const unnamed = { ...rsa.publicKey, use: 'y'.repeat(500), kid: { toString: 1 } };
  await readKeySet(setFile({ keys: [unnamed, ...odd, ec.publicKey] }), log);
  assert.equal([lines.length, lines[0]!.count, lines[0]!.keys!.length], [1, 51, 20]);
  assert.equal(lines[0]!.keys!.slice(0, 2), [
    { kid: '?', reason: `its use is "${'y'.repeat(20)}", not "sig"` },
    { kid: `a\uFFFD${'x'.repeat(62)}`, reason: 'its use is "enc", not "sig"' },
  ]);
});

keys('a key that is passed over verifies nothing, under its own name or none', async () => {
  const iat = now.getTime() / 1000;
  const own = { ...ec.publicKey, kid: 'mine', alg: 'ES256', use: 'sig' };
  const verifies = async (other: JWK, alg: string, signer: Signer, kid?: string) => {
    const find = await readKeySet(setFile({ keys: [own, other] }));
    const token = await new SignJWT({ sub: 's', iss: 'gapstone', aud: 'gapstone', iat, exp: iat + 60 })
      .setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }) })
      .sign(signer);
    return createVerifyUserToken(
      readConfig({}, {}),
      Object.assign(find, { version: () => 0 }),
      () => now,
    )(token).then(
      () => true,
      () => false,
    );
  };
  const [pss, second] = await Promise.all([pair('PS256'), pair('ES256')]);
  const cases: [JWK, string, Signer][] = [
    [rsa.publicKey, 'RS256', rsa.signer],
    [pss.publicKey, 'PS256', pss.signer],
    [second.publicKey, 'ES256', second.signer],
  ];
  for (const [key, alg, signer] of cases) {
    for (const kid of ['other', undefined]) {
      assert.is(await verifies({ ...key, kid: 'other' }, alg, signer, kid ?? 'other'), true, 'else it would');
      for (const more of [{ use: 'enc' }, { key_ops: ['encrypt'] }, { alg: 'RSA-OAEP' }])
        assert.is(await verifies({ ...key, kid: 'other', ...more }, alg, signer, kid), false);
      assert.is(await verifies({ ...key, kid: 'other', use: 'enc' }, 'ES256', ec.signer, 'mine'), true);
    }
  }
});

keys('a secret key is refused wherever it stands, also where it would be passed over', async () => {
  const symmetric = { kty: 'oct', k: 'c2VjcmV0', kid: 'shared' };
  for (const more of [
    {},
    { use: 'enc' },
    { alg: 'HS256' },
    { key_ops: ['sign'] },
    { kty: 'OCT' },
    { kty: 'RSA' },
  ])
    for (const set of [[{ ...symmetric, ...more }], [ec.publicKey, { ...symmetric, ...more }]])
      await refusedSet({ keys: set }, /key "shared" is a symmetric key$/);
  for (const key of [rsa, p384, ed])
    for (const more of [{}, { use: 'enc' }, { alg: 'RSA-OAEP' }, { key_ops: ['decrypt'] }])
      await refusedSet(
        { keys: [ec.publicKey, { ...key.privateKey, kid: 'oops', ...more }] },
        /key "oops" is a private key$/,
      );
  await refusedSet({ keys: [ec.publicKey, { kty: 'AKP', priv: 'c2VjcmV0' }] }, /is a private key$/);
});

keys('a key that would be used and is malformed is refused, also beside a good one', async () => {
  for (const [key, message] of [
    [{ ...rsa.publicKey, alg: 'ES256' }, /has the type RSA, which does not match its algorithm ES256$/],
    [{ ...ec.publicKey, alg: 'RS256' }, /has the type EC, which does not match its algorithm RS256$/],
    [{ kty: 'EC', x: ec.publicKey.x, y: ec.publicKey.y }, /cannot be used/],
    [{ kty: 'EC', crv: 'P-256', x: ec.publicKey.x }, /cannot be used/],
    [{ kty: 'RSA', e: 'AQAB', n: 5 }, /has fewer than 2048 bits$/],
    [{ n: rsa.publicKey.n, e: 'AQAB' }, /is not a key: it has no kty$/],
    [null, /is not a key/],
  ] as [JWK, RegExp][])
    await refusedSet({ keys: [rsa.publicKey, key] }, message);
});

keys('an RSA key with an exponent that signs nothing is refused', async () => {
  for (const e of ['AQ', 'AA', '', 'Ag', 'AAE', 'AQAA', undefined, 3])
    await refusedSet(
      { keys: [{ ...rsa.publicKey, e }] },
      /has an invalid exponent: it must be an odd number of at least 3$/,
    );
  for (const e of ['AQAB', 'Aw', 'AAEAAQ']) await readKeySet(setFile({ keys: [{ ...rsa.publicKey, e }] }));
});

keys('a file that begins with a byte order mark is read like another', async () => {
  const verify = await readKeySet(
    setFile(`\uFEFF${JSON.stringify({ keys: [{ ...rsa.publicKey, kid: 'a' }] })}`),
  );
  assert.ok(await verify({ alg: 'RS256', kid: 'a' }, { payload: '', signature: '' }));
});

keys('where several keys of a set fit a token, each is tried', async () => {
  const [other, third, foreign] = await Promise.all([pair('RS256'), pair('RS256'), pair('RS256')]);
  const sets = {
    'no key ids': [other.publicKey, rsa.publicKey, third.publicKey, ec.publicKey],
    'one key twice': [rsa, rsa, ec].map(({ publicKey }) => ({ ...publicKey, kid: 'a' })),
    'one id for two': [other, rsa].map(({ publicKey }) => ({ ...publicKey, kid: 'a' })),
  };
  for (const [name, set] of Object.entries(sets)) {
    const config = readConfig({}, {});
    const verify = createVerifyUserToken(config, await readKeySet(setFile({ keys: set })), () => now);
    const token = (signer: Signer, header: { alg: string; kid?: string }) =>
      new SignJWT({ sub: 'ann' })
        .setProtectedHeader(header)
        .setIssuer('gapstone')
        .setAudience('gapstone')
        .setIssuedAt(now)
        .setExpirationTime(Math.floor(now.getTime() / 1000) + 60)
        .sign(signer);
    const header = name === 'no key ids' ? { alg: 'RS256' } : { alg: 'RS256', kid: 'a' };
    assert.is((await verify(await token(rsa.signer, header))).subject, 'ann', name);
    for (const bad of [token(foreign.signer, header), token(rsa.signer, { alg: 'RS256', kid: 'b' })])
      await verify(await bad).then(
        () => assert.unreachable(name),
        (error) => assert.is(error.code, 'UNAUTHORIZED'),
      );
  }
});

keys('an RSA key of fewer than 2048 bits is refused, however it is written', async () => {
  const modulus = Buffer.from(rsa.publicKey.n!, 'base64url');
  const small = (bytes: Buffer) => ({
    keys: [{ kty: 'RSA', e: 'AQAB', n: bytes.toString('base64url'), kid: 'small' }],
  });
  await refusedSet(small(modulus.subarray(0, 128)), /has fewer than 2048 bits$/);
  await refusedSet(small(modulus.subarray(0, 255)), /has fewer than 2048 bits$/);
  const padded = Buffer.concat([Buffer.alloc(128), modulus.subarray(0, 128)]);
  await refusedSet(small(padded), /has fewer than 2048 bits$/);
  await refusedSet(
    small(Buffer.concat([Buffer.from([0x01]), modulus.subarray(1)])),
    /has fewer than 2048 bits$/,
  );
});

keys('a key set that is no JSON is refused with one line that quotes nothing of it', async () => {
  for (const content of ['nope\n', '-----BEGIN PRIVATE KEY-----\nMIGHAgEA\n', '{"keys":[{"d":"c2VjcmV0" "x"'])
    await refusedSet(content, /^the key set [^\n"]+ cannot be read: it is not JSON$/);
});

keys('an empty, malformed or missing key set is refused', async () => {
  for (const content of [
    '',
    '{',
    'null',
    '[]',
    '"x"',
    '1',
    '{}',
    '{"keys":[]}',
    '{"keys":{}}',
    '{"keys":"x"}',
    '\ufeff',
    '<xml/>',
  ])
    await refusedSet(content, /(cannot be read|contains no keys)/);
  for (const key of [
    null,
    1,
    'x',
    [],
    {},
    { kty: 'EC' },
    { kty: 'RSA' },
    { kty: 'EC', crv: 'P-256' },
    { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' },
    { kty: 'RSA', n: rsa.publicKey.n },
  ])
    await refusedSet({ keys: [key] }, /key "\?"/);
  const folder = scratchFolder();
  assert.match((await failure(readKeySet(join(folder, 'none.json')))).message, /cannot be read/);
  assert.match((await failure(readKeySet(folder))).message, /cannot be read/);
});

function localConfig(folder = scratchFolder(), more: Record<string, string> = {}) {
  return readConfig({}, { GAPSTONE_DB: join(folder, 'g.db'), ...more });
}

keys('the local key is made once, beside the database, for its owner only', async () => {
  const folder = scratchFolder();
  const config = localConfig(folder);
  const mask = process.umask(0);
  try {
    const first = await localKey(config);
    const file = join(folder, 'gapstone-key.json');
    assert.is(statSync(file).mode & 0o777, 0o600);
    const stored = JSON.parse(readFileSync(file, 'utf8')) as JWK;
    assert.equal(stored, first);
    assert.equal([first.kty, first.crv, first.alg], ['EC', 'P-256', 'ES256']);
    assert.equal(await localKey(config), first, 'the second time it is read');
  } finally {
    process.umask(mask);
  }
});

keys(
  'a key is told of once, by its id, before it stands in its place; where that fails none is made',
  async () => {
    const folder = scratchFolder();
    const config = localConfig(folder);
    const file = join(folder, 'gapstone-key.json');
    const refuse = () => {
      throw new CommandError('not audited');
    };
    assert.is((await failure(localKey(config, refuse))).message, 'not audited');
    assert.is((await failure(loadKeys(config, undefined, undefined, refuse))).message, 'not audited');
    assert.equal(readdirSync(folder), []);
    const told: string[] = [];
    const tell = (kid: string, publish: () => void) => {
      assert.not(existsSync(file));
      publish();
      told.push(kid);
    };
    const { kid } = await localKey(config, tell);
    await loadKeys(config, undefined, undefined, tell);
    assert.equal(told, [kid]);
  },
);

keys('of two processes that make the key at once the first one’s holds for both', async () => {
  const config = localConfig();
  const other = await localKey(localConfig());
  const key = await localKey(config, (_, publish) => {
    writeFileSync(config.keyFile, JSON.stringify(other), { mode: 0o600 });
    publish();
  });
  assert.equal(key, other);
});

keys('GAPSTONE_KEY_FILE says where the key lies', async () => {
  const folder = scratchFolder();
  const file = join(folder, 'elsewhere.json');
  await localKey(localConfig(folder, { GAPSTONE_KEY_FILE: file }));
  assert.ok(existsSync(file));
  assert.not(existsSync(join(folder, 'gapstone-key.json')));
});

keys('a key file that others can read is refused and left as it is', async () => {
  const folder = scratchFolder();
  const config = localConfig(folder);
  await localKey(config);
  const file = join(folder, 'gapstone-key.json');
  const before = readFileSync(file, 'utf8');
  for (const mode of [0o644, 0o640, 0o604, 0o620, 0o602, 0o601]) {
    chmodSync(file, mode);
    const error = await failure(localKey(config));
    assert.match(
      error.message,
      new RegExp(`readable by others \\(mode ${mode.toString(8)}\\): run chmod 600 on it$`),
    );
    await failure(loadKeys(config));
    await failure(issueUserToken(config, { subject: 's', entitlements: [], lifetime: 60 }, now));
    assert.is(readFileSync(file, 'utf8'), before);
    assert.is(statSync(file).mode & 0o777, mode);
  }
  chmodSync(file, 0o400);
  await localKey(config);
});

keys('a key file that holds something else is refused', async () => {
  const others = [
    '',
    '{',
    'null',
    '{}',
    JSON.stringify(ec.publicKey),
    JSON.stringify({ ...ec.privateKey }),
    JSON.stringify({ ...rsa.privateKey, kid: 'k' }),
    JSON.stringify({ ...p384.privateKey, kid: 'k' }),
  ];
  for (const content of others) {
    const folder = scratchFolder();
    chmodSync(put(folder, 'gapstone-key.json', content), 0o600);
    const error = await failure(localKey(localConfig(folder)));
    assert.match(error.message, /(cannot be read|does not contain an ES256 private key)/);
    assert.not.match(error.message, ec.privateKey.d!.slice(0, 8));
  }
});

keys('a key file that cannot be made is one line', async () => {
  const folder = scratchFolder();
  const missing = localConfig(folder, { GAPSTONE_KEY_FILE: join(folder, 'no', 'such', 'key.json') });
  assert.match((await failure(localKey(missing))).message, /cannot be written/);
  mkdirSync(join(folder, 'gapstone-key.json'));
  await failure(localKey(localConfig(folder)));
});

keys('an issued token says what was asked and passes our own rules', async () => {
  const config = localConfig();
  const request = {
    subject: 'dora',
    email: 'd@example.org',
    organization: 'green',
    entitlements: ['occ'],
    lifetime: 60,
  };
  const token = await issueUserToken(config, request, now);
  const verify = createVerifyUserToken(config, await loadKeys(config), () => now);
  assert.equal(await verify(token), {
    kind: 'user',
    subject: 'dora',
    email: 'd@example.org',
    organization: 'green',
    entitlements: new Set(['occ']),
    expiresAt: now.getTime() / 1000 + 60,
    keyId: await calculateJwkThumbprint(await localKey(config)),
  });
  const [header] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  assert.is(JSON.parse(header!).alg, 'ES256');
  const foreign = localConfig();
  const other = createVerifyUserToken(foreign, await loadKeys(foreign), () => now);
  await other(token).then(
    () => assert.unreachable('the token of another installation was taken'),
    () => undefined,
  );
});

keys('an issued token follows remapped claims', async () => {
  const config = localConfig(scratchFolder(), { GAPSTONE_CLAIM_SUB: 'uid', GAPSTONE_CLAIM_ORG: 'tenant' });
  const token = await issueUserToken(
    config,
    { subject: 'dora', organization: 'green', entitlements: [], lifetime: 60 },
    now,
  );
  const viewer = await createVerifyUserToken(config, await loadKeys(config), () => now)(token);
  assert.equal([viewer.subject, viewer.organization], ['dora', 'green']);
});

keys('what a token could not carry is refused instead of being left out when it comes back', async () => {
  const config = readConfig({ db: join(scratchFolder(), 'g.db') }, {});
  const request = { subject: 'ann', entitlements: [], lifetime: 60 };
  const wrong = ['', 'x'.repeat(256), 'a\nb', 'a\u007f', 'a\0', '\ud800', '\u200b', 'a\u2028b'];
  const told = (option: string) =>
    `--${option} must have 1 to 255 characters, one that can be seen, and no control characters`;
  for (const value of wrong) {
    for (const [option, given] of Object.entries({
      subject: { subject: value },
      email: { email: value },
      org: { organization: value },
    })) {
      const error = await failure(issueUserToken(config, { ...request, ...given }, now));
      assert.equal([error.message, error.exitCode], [told(option), 2], JSON.stringify(value));
    }
  }
  assert.not.ok(existsSync(config.keyFile), 'no key is made for it');
});

keys('issuing refuses an empty subject and a lifetime beyond 90 days', async () => {
  const config = localConfig();
  const issue = (subject: string, lifetime: number) =>
    issueUserToken(config, { subject, entitlements: [], lifetime }, now);
  for (const subject of ['', 'x'.repeat(256), 'a\nb', '\u0000'])
    assert.is((await failure(issue(subject, 60))).exitCode, 2);
  for (const lifetime of [0, -1, 90 * 86_400 + 1])
    assert.is((await failure(issue('s', lifetime))).exitCode, 2);
  await issue('s', 90 * 86_400);
});

keys(
  'with GAPSTONE_JWKS only that file is trusted: no local key is made, and none is issued with',
  async () => {
    const folder = scratchFolder();
    const local = await issueUserToken(
      localConfig(folder, { GAPSTONE_ISSUER: 'i', GAPSTONE_AUDIENCE: 'a' }),
      { subject: 's', entitlements: [], lifetime: 60 },
      now,
    );
    const pinned = localConfig(folder, {
      GAPSTONE_JWKS: setFile({ keys: [ec.publicKey] }),
      GAPSTONE_ISSUER: 'i',
      GAPSTONE_AUDIENCE: 'a',
    });
    const verify = createVerifyUserToken(pinned, await loadKeys(pinned), () => now);
    await verify(local).then(
      () => assert.unreachable('a token of the local key was taken'),
      () => undefined,
    );
    const error = await failure(
      issueUserToken(pinned, { subject: 's', entitlements: [], lifetime: 60 }, now),
    );
    assert.match(error.message, /^GAPSTONE_JWKS is set/);
    assert.is(error.exitCode, 1);
    const fresh = scratchFolder();
    await loadKeys(
      localConfig(fresh, {
        GAPSTONE_JWKS: setFile({ keys: [ec.publicKey] }),
        GAPSTONE_ISSUER: 'i',
        GAPSTONE_AUDIENCE: 'a',
      }),
    );
    assert.not(existsSync(join(fresh, 'gapstone-key.json')));
  },
);

keys.run();
