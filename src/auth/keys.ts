import { createPrivateKey, createPublicKey, type JsonWebKey, sign, verify } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import {
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWK,
  type JWTVerifyGetKey,
} from 'jose';
import type { Config } from '../config.ts';
import { CommandError } from '../errors.ts';
import { publishNew, syncPath } from '../files.ts';
import { type Log, silentLog } from '../log.ts';
import { type KeySet, watchKeySet } from './key-watch.ts';

/** The algorithms that user tokens may be signed with (DECISIONS D1.2). */
export const algorithms = ['RS256', 'PS256', 'ES256'];

/** Reads a pinned JWKS file. Throws `CommandError` when it holds no usable public key, or a secret one. */
export async function readKeySet(file: string): Promise<JWTVerifyGetKey> {
  let set: JSONWebKeySet;
  try {
    set = JSON.parse(readFileSync(file, 'utf8')) as JSONWebKeySet;
  } catch (error) {
    throw new CommandError(`the key set ${file} cannot be read: ${(error as Error).message}`);
  }
  if (!Array.isArray(set?.keys) || set.keys.length === 0)
    throw new CommandError(`the key set ${file} holds no keys`);
  for (const key of set.keys) await checkPublicKey(file, key);
  return createLocalJWKSet(set);
}

async function checkPublicKey(file: string, key: JWK): Promise<void> {
  const name = `the key set ${file}: key "${String(key?.kid ?? '?').slice(0, 64)}"`;
  if (key?.kty !== 'RSA' && !(key?.kty === 'EC' && key.crv === 'P-256')) {
    throw new CommandError(`${name} is neither RSA nor EC P-256`);
  }
  if (key.d !== undefined) throw new CommandError(`${name} is a private key`);
  if (key.alg !== undefined && !algorithms.includes(key.alg)) {
    throw new CommandError(
      `${name} is for ${String(key.alg).slice(0, 20)}; allowed are ${algorithms.join(', ')}`,
    );
  }
  if (key.kty === 'RSA' && bitsOf(key.n ?? '') < 2048) {
    throw new CommandError(`${name} has fewer than 2048 bits`);
  }
  try {
    await importJWK(key, key.kty === 'RSA' ? (key.alg ?? 'RS256') : 'ES256');
  } catch (error) {
    throw new CommandError(`${name} is unusable: ${(error as Error).message}`);
  }
}

/** The length of a number that is written base64url, leading zeros not counted. */
function bitsOf(text: string): number {
  const hex = Buffer.from(text, 'base64url').toString('hex').replace(/^0+/, '');
  return hex === '' ? 0 : BigInt(`0x${hex}`).toString(2).length;
}

/** Tells of a new local key by its id, and puts it in its place by calling `publish`; where it throws, none is made. */
export type TellNewKey = (kid: string, publish: () => void) => void;

/**
 * The private key of the local issuer, made at first use with mode 0600 (D1.3). Throws `CommandError` when it cannot be read
 * or made, and what `tell` throws.
 */
export async function localKey(
  config: Config,
  tell: TellNewKey = (_, publish) => publish(),
): Promise<JWK & { kid: string }> {
  const file = config.keyFile;
  if (!existsSync(file)) {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const kid = `local-${Date.now().toString(36)}`;
    const jwk = { ...(await exportJWK(privateKey)), kid, alg: 'ES256' };
    const temporary = `${file}.new-${process.pid}`;
    try {
      // Under another name first: a kill never leaves half a key.
      rmSync(temporary, { force: true });
      writeFileSync(temporary, `${JSON.stringify(jwk)}\n`, { mode: 0o600, flag: 'wx' });
      chmodSync(temporary, 0o600);
      syncPath(temporary);
      tell(kid, () => publishNew(temporary, file));
    } catch (error) {
      rmSync(temporary, { force: true });
      if (error instanceof CommandError) throw error;
      // Two processes may start at once: the key of the one that was first holds for both.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw new CommandError(`the key file ${file} cannot be written: ${(error as Error).message}`);
      }
    }
  }
  return readLocalKey(file);
}

function readLocalKey(file: string): JWK & { kid: string } {
  const mode = statSync(file).mode & 0o777;
  if (mode & 0o077)
    throw new CommandError(
      `the key file ${file} is readable by others (mode ${mode.toString(8)}): chmod 600 it`,
    );
  let jwk: JWK;
  try {
    jwk = JSON.parse(readFileSync(file, 'utf8')) as JWK;
  } catch (error) {
    // What a parser says of a text may quote it, and this one is secret.
    const why = error instanceof SyntaxError ? 'it is no JSON' : (error as Error).message;
    throw new CommandError(`the key file ${file} cannot be read: ${why}`);
  }
  if (jwk?.kty !== 'EC' || jwk.crv !== 'P-256' || !jwk.d || !jwk.kid || !isWholeKey(jwk)) {
    throw new CommandError(`the key file ${file} holds no ES256 private key`);
  }
  return jwk as JWK & { kid: string };
}

/** Whether what the private half of a key signs can be verified with its public half. */
function isWholeKey({ d, ...publicJwk }: JWK): boolean {
  const probe = Buffer.from('probe');
  try {
    const privateKey = createPrivateKey({ key: { ...publicJwk, d } as JsonWebKey, format: 'jwk' });
    const publicKey = createPublicKey({ key: publicJwk as JsonWebKey, format: 'jwk' });
    return verify('sha256', probe, publicKey, sign('sha256', probe, privateKey));
  } catch {
    // Node refuses numbers that are no key.
    return false;
  }
}

/** Refuses a key set or a local key that is there and bad, and makes none. Throws `CommandError`. */
export async function checkKeys(config: Config): Promise<void> {
  if (config.jwks !== null) await readKeySet(config.jwks);
  else if (existsSync(config.keyFile)) readLocalKey(config.keyFile);
}

/** The keys that user tokens are verified with: the pinned file alone, re-read when it changes, or the local issuer's. */
export async function loadKeys(
  config: Config,
  log: Log = silentLog,
  onReload?: (reason: string | null) => void,
  tell?: TellNewKey,
): Promise<KeySet> {
  if (config.jwks !== null) return watchKeySet(config.jwks, readKeySet, log, undefined, onReload);
  const { d: _, ...publicKey } = await localKey(config, tell);
  return Object.assign(createLocalJWKSet({ keys: [publicKey] }), { version: () => 0 });
}
