import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { TLSSocket } from 'node:tls';
import { weaknessOf } from '../auth/key-strength.ts';
import { SignInRefused } from '../auth/sign-in-refused.ts';
import { badRequest, CommandError } from '../base/errors.ts';
import { rightsAround } from '../base/files.ts';

/**
 * Reads a certificate chain and its private key (PEM files). Throws `CommandError` where a file cannot be read or
 * parsed, they do not belong together, the key is too weak, the certificate is not valid now, or others than owner and
 * group may read the key.
 */
export function loadCertificate(
  files: { cert: string; key: string },
  now: Date,
): { cert: Buffer; key: Buffer; validTo: string } {
  const cert = read('certificate', files.cert);
  const key = read('key', files.key);
  // The group may read it: secrets mounted into a container belong to root and the container's group.
  const mode = statSync(files.key).mode & 0o777;
  if (mode & 0o007)
    throw new CommandError(
      `the TLS key ${files.key} is readable by others (mode ${mode.toString(8)}): run chmod 600 on it`,
    );
  const leaf = parsed('certificate', files.cert, () => new X509Certificate(cert));
  const privateKey = parsed('private key without a passphrase', files.key, () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(privateKey))
    throw new CommandError(
      `the TLS key ${files.key} does not belong to the first certificate of ${files.cert}`,
    );
  const weakness = weaknessOf(privateKey);
  if (weakness !== null) throw new CommandError(`the TLS key ${files.key} ${weakness}`);
  const [from, to] = [new Date(leaf.validFrom), new Date(leaf.validTo)];
  if (now < from || now > to)
    throw new CommandError(
      `the TLS certificate ${files.cert} is valid from ${from.toISOString()} to ${to.toISOString()}, not now`,
    );
  return { cert, key, validTo: to.toISOString() };
}

function read(what: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new CommandError(
      `the TLS ${what} ${file} cannot be read: ${(error as Error).message}${rightsAround(file, error)}`,
    );
  }
}

// The cause is dropped, so that no message contains a part of a key.
function parsed<T>(what: string, file: string, work: () => T): T {
  try {
    return work();
  } catch {
    throw new CommandError(`${file} does not contain a ${what} in PEM form`);
  }
}

/** The certificate of the other side of a connection, DER, also of a resumed TLS session; null without one. */
export function certificateOfPeer(socket: object): Uint8Array | null {
  return socket instanceof TLSSocket ? (socket.getPeerX509Certificate()?.raw ?? null) : null;
}

/**
 * The certificate in a proxy's header (rule D43.2): PEM, url-encoded or with its line ends as blanks; null for an empty
 * header. Throws 400 for two, and `SignInRefused` for anything else.
 */
export function certificateOfHeader(value: string | undefined): Uint8Array | null {
  if (value === undefined || value.trim() === '') return null;
  // Two headers arrive joined by a comma, which PEM does not have.
  if (value.includes(',')) throw badRequest('The proxy sent two client certificates');
  const [, base64] =
    /^\s*-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----\s*$/.exec(
      urlDecoded(value),
    ) ?? [];
  if (base64 === undefined) throw new SignInRefused('CERTIFICATE_MALFORMED');
  return Buffer.from(base64, 'base64');
}

function urlDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new SignInRefused('CERTIFICATE_MALFORMED');
  }
}
