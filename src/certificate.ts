import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { CommandError } from './errors.ts';

/**
 * Reads a certificate chain and its private key, PEM files, and checks that they can serve. Throws `CommandError` with one
 * line when a file cannot be read, is not what it should be, the two do not belong together, the certificate does not hold
 * now, or others than owner and group may read the key.
 */
export function loadCertificate(
  files: { cert: string; key: string },
  now: Date,
): { cert: Buffer; key: Buffer; validTo: string } {
  const cert = read('certificate', files.cert);
  const key = read('key', files.key);
  // Group may: secrets that are mounted into a container belong to root and the container's group.
  const mode = statSync(files.key).mode & 0o777;
  if (mode & 0o007)
    throw new CommandError(
      `the TLS key ${files.key} is readable by others (mode ${mode.toString(8)}): chmod 600 it`,
    );
  const leaf = parsed('certificate', files.cert, () => new X509Certificate(cert));
  const privateKey = parsed('private key without a passphrase', files.key, () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(privateKey))
    throw new CommandError(`the TLS key ${files.key} is not that of the first certificate of ${files.cert}`);
  const [from, to] = [new Date(leaf.validFrom), new Date(leaf.validTo)];
  if (now < from || now > to)
    throw new CommandError(
      `the TLS certificate ${files.cert} holds from ${from.toISOString()} to ${to.toISOString()}, not now`,
    );
  return { cert, key, validTo: to.toISOString() };
}

function read(what: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new CommandError(`the TLS ${what} ${file} cannot be read: ${(error as Error).message}`);
  }
}

/** What the file holds never enters a message. */
function parsed<T>(what: string, file: string, work: () => T): T {
  try {
    return work();
  } catch {
    throw new CommandError(`${file} holds no ${what} in PEM form`);
  }
}
