import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
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

keys.run();
