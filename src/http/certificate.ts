import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { weaknessOf } from '../auth/key-strength.ts';
import { CommandError } from '../base/errors.ts';
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
