import {
  createPrivateKey,
  createPublicKey,
  type JsonWebKey,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import {
  calculateJwkThumbprint,
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  type JSONWebKeySet,
  type JWK,
  type JWTVerifyGetKey,
} from 'jose';
import type { Config } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import {
  inPrivateFolder,
  isThere,
  publishNew,
  rightsAround,
  statIfThere,
  syncPath,
  whyRefused,
} from '../base/files.ts';
import { followFiles } from '../base/follow.ts';
import { type Log, silentLog } from '../base/log.ts';
import { printable } from '../base/text.ts';

const algorithmsOf: Record<string, string[]> = { RSA: ['RS256', 'PS256'], EC: ['ES256'] };

/** The algorithms that may sign user tokens (rule D1.2). */
export const algorithms = Object.values(algorithmsOf).flat();

const maxNamed = 20;

/**
 * Reads a pinned JWKS file. Keys for other purposes are skipped with a warning (RFC 7517 section 5): identity providers
 * publish encryption keys beside the others. Throws `CommandError` when no usable key is left, when a usable one is
 * malformed or too short, and for any secret key.
 */
export async function readKeySet(file: string, log: Log = silentLog): Promise<JWTVerifyGetKey> {
  let set: JSONWebKeySet;
  try {
    // Some editors begin a file with a byte order mark.
    set = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, '')) as JSONWebKeySet;
  } catch (error) {
    throw new CommandError(`the key set ${file} cannot be read: ${whyUnread(file, error)}`);
  }
  if (!Array.isArray(set?.keys) || set.keys.length === 0)
    throw new CommandError(`the key set ${file} contains no keys`);
  const usable: JWK[] = [];
  const passedOver: { kid: string; reason: string }[] = [];
  for (const key of set.keys) {
    const kid = printed(key?.kid, 64);
    const name = `the key set ${file}: key "${kid}"`;
    requirePublicKey(name, key);
    const reason = whyNotOurs(key);
    if (reason === null) {
      checkPublicKey(name, key);
      usable.push(key);
    } else passedOver.push({ kid, reason });
  }
  const [first] = passedOver;
  if (first !== undefined && usable.length === 0) {
    const count = passedOver.length;
    throw new CommandError(
      `the key set ${file} contains no usable key: ${count} skipped; the first, "${first.kid}", because ${first.reason}`,
    );
  }
  if (first !== undefined)
    log.warn('key set: keys skipped', {
      count: passedOver.length,
      keys: passedOver.slice(0, maxNamed),
    });
  return createLocalJWKSet({ keys: usable });
}

/** Throws `CommandError` for a secret key, whatever its purpose: others may have read it. */
function requirePublicKey(name: string, key: JWK): void {
  if (typeof key !== 'object' || key === null || typeof key.kty !== 'string')
    throw new CommandError(`${name} is not a key: it has no kty`);
  if (key.kty === 'oct' || key.k !== undefined) throw new CommandError(`${name} is a symmetric key`);
  if (key.d !== undefined || key.priv !== undefined) throw new CommandError(`${name} is a private key`);
}

/** Why a key cannot verify user tokens; null for one that can. */
function whyNotOurs({ kty, crv, use, key_ops: operations, alg }: JWK): string | null {
  if (use !== undefined && use !== 'sig') return `its use is "${printed(use, 20)}", not "sig"`;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify')))
    return 'its key_ops do not include "verify"';
  // An EC key without a curve is malformed; one with another curve is for other purposes.
  if (kty !== 'RSA' && !(kty === 'EC' && (crv === undefined || crv === 'P-256')))
    return 'it is not an RSA or EC P-256 key';
  if (alg !== undefined && !algorithms.includes(alg))
    return `its algorithm is ${printed(alg, 20)}; allowed: ${algorithms.join(', ')}`;
  return null;
}

function checkPublicKey(name: string, key: JWK): void {
  if (key.alg !== undefined && !algorithmsOf[key.kty!]!.includes(key.alg))
    throw new CommandError(`${name} has the type ${key.kty}, which does not match its algorithm ${key.alg}`);
  let facts: KeyObject;
  try {
    facts = createPublicKey({ key: key as JsonWebKey, format: 'jwk' });
  } catch (error) {
    throw new CommandError(`${name} cannot be used: ${(error as Error).message}`);
  }
  const { modulusLength = 2048, publicExponent = 3n } = facts.asymmetricKeyDetails!;
  if (modulusLength < 2048) throw new CommandError(`${name} has fewer than 2048 bits`);
  // With exponent 1 the signature is the padded hash itself, which anyone can write.
  if (publicExponent < 3n || publicExponent % 2n === 0n)
    throw new CommandError(`${name} has an invalid exponent: it must be an odd number of at least 3`);
}

/** Why a file of keys was not read. The parser's message is dropped: it quotes the text, which may be secret. */
function whyUnread(file: string, error: unknown): string {
  return error instanceof SyntaxError
    ? 'it is not JSON'
    : `${(error as Error).message}${rightsAround(file, error)}`;
}

/** A text of the file for messages: cut, on one line; `?` for other values. */
function printed(value: unknown, length: number): string {
  return typeof value === 'string' ? printable(value, length) : '?';
}

/** Logs a new local key by its id, and saves it by calling `publish`; if it rejects, no key is saved. */
export type LogNewKey = (kid: string, publish: () => void) => void | Promise<void>;

/** The local issuer's private key, created at first use (D1.3). Throws `CommandError`. */
export async function localKey(
  config: Config,
  logNewKey: LogNewKey = (_, publish) => publish(),
): Promise<JWK & { kid: string }> {
  const file = config.keyFile;
  if (!isThere(file)) {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const kid = `local-${Date.now().toString(36)}`;
    const jwk = { ...(await exportJWK(privateKey)), kid, alg: 'ES256' };
    try {
      // A temporary file first: a kill never leaves half a key.
      await inPrivateFolder(file, (temporary) => {
        writeFileSync(temporary, `${JSON.stringify(jwk)}\n`, { mode: 0o600, flag: 'wx' });
        chmodSync(temporary, 0o600);
        syncPath(temporary);
        return logNewKey(kid, () => publishNew(temporary, file));
      });
    } catch (error) {
      if (error instanceof CommandError) throw error;
      // Two processes may start at once: both use the key that was saved first.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw new CommandError(`the key file ${file} cannot be written: ${whyRefused(file, error)}`);
      }
    }
  }
  return readLocalKey(file);
}

function readLocalKey(file: string): JWK & { kid: string } {
  const stat = statIfThere(file);
  if (!stat) throw new CommandError(`the key file ${file} is missing`);
  const mode = stat.mode & 0o777;
  if (mode & 0o077)
    throw new CommandError(
      `the key file ${file} is readable by others (mode ${mode.toString(8)}): run chmod 600 on it`,
    );
  let jwk: JWK;
  try {
    jwk = JSON.parse(readFileSync(file, 'utf8')) as JWK;
  } catch (error) {
    throw new CommandError(`the key file ${file} cannot be read: ${whyUnread(file, error)}`);
  }
  if (jwk?.kty !== 'EC' || jwk.crv !== 'P-256' || !jwk.d || !jwk.kid || !isWholeKey(jwk)) {
    throw new CommandError(`the key file ${file} does not contain an ES256 private key`);
  }
  return jwk as JWK & { kid: string };
}

async function readLocalKeySet(file: string) {
  const { d: _, ...publicKey } = readLocalKey(file);
  const id = await calculateJwkThumbprint(publicKey);
  return Object.assign(createLocalJWKSet({ keys: [publicKey] }), { id });
}

function isWholeKey(jwk: JWK): boolean {
  const probe = Buffer.from('probe');
  const input = { key: jwk as JsonWebKey, format: 'jwk' } as const;
  try {
    return verify('sha256', probe, createPublicKey(input), sign('sha256', probe, createPrivateKey(input)));
  } catch {
    // Node throws for numbers that are no key.
    return false;
  }
}

/** Checks the existing key set or local key without creating one. Throws `CommandError`. */
export async function checkKeys(config: Config): Promise<void> {
  if (config.jwks !== null) await readKeySet(config.jwks);
  else if (isThere(config.keyFile)) readLocalKey(config.keyFile);
}

/** The keys that verify user tokens. */
export interface KeySet extends JWTVerifyGetKey {
  /** Changes when the keys are read again, which invalidates cached verifications. */
  version(): number;
  /** The id of the local issuer's key; empty for a pinned set. */
  id(): string;
}

/**
 * The keys that verify user tokens, reloaded when their file changes: the pinned set, or the local issuer's key. The
 * latter is created here if it is missing, but never later: a removed key stays valid until there is another. `onReload`
 * is called after every reload: with null, or with the reason why the former keys stay in use.
 */
export async function loadKeys(
  config: Config,
  log: Log = silentLog,
  onReload: (reason: string | null) => void = () => undefined,
  logNewKey?: LogNewKey,
): Promise<KeySet> {
  const file = config.jwks ?? config.keyFile;
  const read: () => Promise<JWTVerifyGetKey & { id?: string }> =
    config.jwks === null ? () => readLocalKeySet(file) : () => readKeySet(file, log);
  if (config.jwks === null) await localKey(config, logNewKey);
  let version = 0;
  async function reload(): Promise<void> {
    try {
      keys = await read();
      version++;
      onReload(null);
    } catch (error) {
      onReload((error as Error).message);
      throw error;
    }
  }
  followFiles([{ name: 'key set', level: 'warn', paths: [file], reload }], log);
  let keys = await read();
  const find: JWTVerifyGetKey = (header, token) => keys(header, token);
  return Object.assign(find, { version: () => version, id: () => keys.id ?? '' });
}
