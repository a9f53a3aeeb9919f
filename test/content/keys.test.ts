import { spawnSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { isSignedBy, makeKey, readPrivateKey, readPublicKey, sign } from '../../src/content/signing-keys.ts';
import { suite, testIf } from '../support/harness.ts';
import { programs } from '../support/programs.ts';
import { put, scratchFolder } from '../support/scratch.ts';

const keys = suite('Keys of content');
const withOpenssl = testIf(programs('openssl', 'sha256sum'), keys);

const made = () => {
  const file = join(scratchFolder(), 'key');
  return { file, ...makeKey(file) };
};

withOpenssl('the private half is for its owner alone, the public half for everybody', () => {
  const { file, fingerprint, publicKey } = made();
  assert.is(statSync(file).mode & 0o777, 0o600);
  assert.is(statSync(`${file}.pub`).mode & 0o777, 0o644);
  assert.equal(readPublicKey(`${file}.pub`), { fingerprint, publicKey });
  assert.is(readPrivateKey(file).asymmetricKeyDetails?.namedCurve, 'secp384r1');
  const der = spawnSync('openssl', ['pkey', '-pubin', '-in', `${file}.pub`, '-outform', 'DER']).stdout;
  const { stdout } = spawnSync('sha256sum', { input: der, encoding: 'utf8' });
  assert.is(stdout.slice(0, 64), fingerprint);
});

keys('a key is never replaced', () => {
  const { file } = made();
  const before = readFileSync(file);
  assert.throws(() => makeKey(file), /already exists: a key is never replaced/);
  const other = join(scratchFolder(), 'other');
  put(join(other, '..'), 'other.pub', 'mine');
  assert.throws(() => makeKey(other), /other\.pub already exists/);
  assert.not.ok(statSync(other, { throwIfNoEntry: false }));
  assert.equal(readFileSync(file), before);
});

// RFC 6979, appendix A.2.6: P-384 with SHA-384.
const vectors = [
  [
    'sample',
    '94edbb92a5ecb8aad4736e56c691916b3f88140666ce9fa73d64c4ea95ad133c81a648152e44acf96e36dd1e80fabe46',
    '99ef4aeb15f178cea1fe40db2603138f130e740a19624526203b6351d0a3a94fa329c145786e679e7b82c71a38628ac8',
  ],
  [
    'test',
    '8203b63d3c853e8d77227fb377bcf7b7b772e97892a80f36ab775d509d7a5feb0542a7f0812998da8f1dd3ca3cf023db',
    'ddd0760448d42d8a43af45af836fce4de8be06b485e9b61b827c2f13173923e06a739f040649a667bf3b828246baa5a5',
  ],
] as const;

keys('signatures are those of RFC 6979, so that equal bytes give an equal bundle', () => {
  const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64url');
  const key = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-384',
      d: base64(
        '6b9d3dad2e1b8c1c05b19875b6659f4de23c3b667bf297ba9aa47740787137d896d5724e4c70a825f872c9ea60d2edf5',
      ),
      x: base64(
        'ec3a4e415b4e19a4568618029f427fa5da9a8bc4ae92e02e06aae5286b300c64def8f0ea9055866064a254515480bc13',
      ),
      y: base64(
        '8015d9b72d7d57244ea8ef9ac0c621896708a59367f9dfb9f54ca84b3f1c9db1288b231c3ae0d4fe7344fd2533264720',
      ),
    },
  });
  const integer = (hex: string) => {
    const bytes = Buffer.from(hex, 'hex');
    const signed = bytes[0]! < 0x80 ? bytes : Buffer.concat([Buffer.of(0), bytes]);
    return Buffer.concat([Buffer.of(2, signed.length), signed]);
  };
  for (const [text, r, s] of vectors) {
    const numbers = Buffer.concat([integer(r), integer(s)]);
    assert.equal(
      sign(Buffer.from(text), key),
      Buffer.concat([Buffer.of(0x30, numbers.length), numbers]),
      text,
    );
  }
});

withOpenssl('OpenSSL takes what is signed here, and what OpenSSL signs is taken here', () => {
  const { file, publicKey } = made();
  const bytes = Buffer.from('a manifest');
  const folder = scratchFolder();
  const text = put(folder, 'manifest.json', bytes);
  const signature = put(folder, 'manifest.sig', sign(bytes, readPrivateKey(file)));
  const verified = spawnSync(
    'openssl',
    ['dgst', '-sha384', '-verify', `${file}.pub`, '-signature', signature, text],
    { encoding: 'utf8' },
  );
  assert.is(verified.stdout, 'Verified OK\n');
  const theirs = spawnSync('openssl', ['dgst', '-sha384', '-sign', file, text]).stdout;
  assert.ok(isSignedBy(publicKey, bytes, theirs));
  assert.not.ok(isSignedBy(publicKey, Buffer.from('another'), theirs));
  assert.not.ok(isSignedBy(made().publicKey, bytes, theirs));
  assert.not.ok(isSignedBy(publicKey, bytes, Buffer.concat([theirs, Buffer.of(0)])));
  for (const nonsense of [Buffer.alloc(0), Buffer.from('no signature'), Buffer.alloc(104)])
    assert.not.ok(isSignedBy(publicKey, bytes, nonsense));
});

keys('a key that others can read, of another curve or the wrong half is refused', () => {
  const { file } = made();
  const folder = scratchFolder();
  const pem = (curve: string) => generateKeyPairSync('ec', { namedCurve: curve });
  const other = put(folder, 'p256', pem('P-256').privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const rsaFile = put(folder, 'rsa.pub', rsa.publicKey.export({ type: 'spki', format: 'pem' }));
  chmodSync(other, 0o600);
  assert.throws(() => readPrivateKey(other), /is no P-384 key/);
  assert.throws(() => readPublicKey(rsaFile), /is no P-384 key/);
  assert.throws(() => readPublicKey(file), /is a private key: give its public half/);
  assert.throws(() => readPublicKey(put(folder, 'text', 'no key')), /is no public key in PEM/);
  assert.throws(() => readPublicKey(join(folder, 'nowhere')), /nowhere cannot be read: ENOENT/);
  assert.throws(() => readPublicKey(put(folder, 'long', 'x'.repeat(70_000))), /too large for a key/);
  chmodSync(file, 0o640);
  assert.throws(() => readPrivateKey(file), /can be read by others \(mode 640\): run chmod 600/);
  chmodSync(`${file}.pub`, 0o600);
  assert.throws(() => readPrivateKey(`${file}.pub`), /is no private key in PEM/);
});

keys('the half that openssl writes is the half that keygen writes', () => {
  const { file, publicKey } = made();
  assert.is(createPublicKey(readFileSync(file)).export({ type: 'spki', format: 'pem' }), publicKey);
});

keys.run();
