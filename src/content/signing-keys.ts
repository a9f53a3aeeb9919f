import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign as signBytes,
  verify,
} from 'node:crypto';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { CommandError } from '../base/errors.ts';
import { inPrivateFolder, isTaken, publishNew, syncPath, whyRefused } from '../base/files.ts';

export interface PublicKey {
  /** SHA-256 over SubjectPublicKeyInfo, as `openssl pkey -pubin -outform DER | sha256sum` prints it. */
  fingerprint: string;
  /** PEM. */
  publicKey: string;
}

/** The file of a private key's public half. */
export const publicFileOf = (file: string): string => `${file}.pub`;

/** Creates a P-384 key in a file of mode 0600, its public half beside it. Throws `CommandError`. */
export function makeKey(file: string): PublicKey {
  for (const name of [file, publicFileOf(file)])
    if (isTaken(name)) throw new CommandError(`${name} already exists: a key is never replaced`);
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  const halves: [string, string, number][] = [
    [file, privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, 0o600],
    [publicFileOf(file), publicKey.export({ type: 'spki', format: 'pem' }) as string, 0o644],
  ];
  try {
    for (const [name, pem, mode] of halves)
      inPrivateFolder(name, (temporary) => {
        writeFileSync(temporary, pem, { mode: 0o600, flag: 'wx' });
        chmodSync(temporary, mode);
        syncPath(temporary);
        publishNew(temporary, name);
      });
  } catch (error) {
    throw new CommandError(`${file} cannot be written: ${whyRefused(file, error)}`);
  }
  return describe(publicKey);
}

/** Reads a private P-384 key. Throws `CommandError`, also where others may read the file. */
export function readPrivateKey(file: string): KeyObject {
  const pem = readText(file);
  const mode = statSync(file).mode & 0o777;
  if (mode & 0o077)
    throw new CommandError(
      `${file} can be read by others (mode ${mode.toString(8).padStart(3, '0')}): run chmod 600 on it`,
    );
  return requireCurve(file, 'private', () => createPrivateKey(pem));
}

/** Reads a public P-384 key (PEM). Throws `CommandError`, also for a private key, which must stay secret. */
export function readPublicKey(file: string): PublicKey {
  const pem = readText(file);
  if (pem.includes('PRIVATE KEY')) throw new CommandError(`${file} is a private key: give its public half`);
  return describe(requireCurve(file, 'public', () => createPublicKey(pem)));
}

function readText(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > 65_536) throw new CommandError(`${file} is too large for a key`);
    return readFileSync(file, 'latin1');
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${file} cannot be read: ${whyRefused(file, error)}`);
  }
}

function requireCurve(file: string, half: 'private' | 'public', make: () => KeyObject): KeyObject {
  let key: KeyObject;
  try {
    key = make();
  } catch {
    throw new CommandError(`${file} is no ${half} key in PEM`);
  }
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'secp384r1')
    throw new CommandError(`${file} is no P-384 key: make one with "gapstone content keygen"`);
  return key;
}

function describe(key: KeyObject): PublicKey {
  return {
    fingerprint: createHash('sha256')
      .update(key.export({ type: 'spki', format: 'der' }))
      .digest('hex'),
    publicKey: key.export({ type: 'spki', format: 'pem' }) as string,
  };
}

/** Signs with ECDSA P-384 and SHA-384, in DER: `openssl dgst -sha384 -verify` checks it. */
export const sign = (bytes: Buffer, key: KeyObject): Buffer =>
  signBytes('sha384', bytes, { key, dsaEncoding: 'der' });

/** Whether a signature over bytes was made with a key. */
export function isSignedBy(publicKey: string, bytes: Buffer, signature: Buffer): boolean {
  return verify('sha384', bytes, { key: publicKey, dsaEncoding: 'der' }, signature);
}
