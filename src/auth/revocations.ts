import { filesAt, stampOf } from '../base/follow.ts';
import type { Log } from '../base/log.ts';
import { readWorkerMessages } from '../base/worker-messages.ts';
import type { CertificateFacts } from './certificate-facts.ts';
import { isRevoked, type RevocationList, type Signer } from './revocation-list.ts';
import type { FileOfLists, RevocationFiles } from './revocation-thread.ts';
import { SignInRefused } from './sign-in-refused.ts';

const mostNamed = 20;

/**
 * The revocation lists of a file or folder (rule D43.1). A file that cannot be read keeps its last good lists; one that
 * was removed has none.
 */
export function createRevocations(path: string, now: () => Date, log: Log) {
  let files = new Map<string, { stamp: string; lists: RevocationList[] }>();
  /** The newest list of each authority, even of a clock that is ahead: what it names is revoked (RFC 5280 section 6.3.3). */
  let newest = new Map<string, RevocationList>();
  /** Authorities of whom somebody was refused for want of a list. */
  const missing = new Set<string>();
  let signerIds = '';
  let reading = Promise.resolve(new Map<string, string>());

  async function read(
    authorities: readonly CertificateFacts[],
    stopped?: AbortSignal,
  ): Promise<Map<string, string>> {
    const signers = authorities
      .filter((each) => each.allows('cRLSign'))
      .map((each) => ({ id: idOf(each), key: each.x509.publicKey }));
    const ids = signers.map(({ id }) => id).join('\n');
    // What was read for other authorities does not count.
    const former: typeof files = ids === signerIds ? files : new Map();
    const stamps = new Map(filesAt(path).map((file) => [file, stampOf(file)]));
    const changed = [...stamps.keys()].filter((file) => former.get(file)?.stamp !== stamps.get(file));
    const results = await readFiles(changed, signers, stopped);
    const failures = new Map<string, string>();
    signerIds = ids;
    files = new Map();
    for (const [file, stamp] of stamps) {
      const { lists, reason } = results[changed.indexOf(file)] ?? {};
      const isMissing = stamp === 'ENOENT';
      const known = lists === undefined ? former.get(file) : { stamp, lists };
      if (known !== undefined && !isMissing) files.set(file, known);
      if (reason !== undefined) failures.set(file, isMissing ? 'it is missing' : reason);
    }
    const lists = [...files.values()].flatMap((file) => file.lists).sort((a, b) => a.from - b.from);
    newest = new Map(lists.map((list) => [list.authority, list]));
    for (const id of newest.keys()) missing.delete(id);
    for (const [file, reason] of failures) log.warn('revocation list not read', { file, reason });
    warn(authorities);
    return failures;
  }

  /** Names the authorities without a list that counts now. */
  function warn(authorities: readonly CertificateFacts[]): void {
    const time = now().getTime();
    const names = authorities
      .filter((each) => (newest.get(idOf(each))?.to ?? 0) < time)
      .map(({ x509 }) => x509.subject.replaceAll('\n', ', '));
    if (names.length > 0)
      log.warn('authorities without a current revocation list: nobody comes in by their certificates', {
        count: names.length,
        authorities: names.slice(0, mostNamed),
      });
  }

  return {
    /**
     * Reads what changed, and everything for other authorities, after every other reading. Gives why a file was not
     * read, by path. Throws when `stopped` is aborted; the former lists then count.
     */
    reload(authorities: readonly CertificateFacts[], stopped?: AbortSignal): Promise<Map<string, string>> {
      reading = reading.catch(() => undefined).then(() => read(authorities, stopped));
      return reading;
    },
    /**
     * Throws `SignInRefused` for a certificate that the list of its issuer names, and without such a list; `stale`: it may
     * be out of date.
     */
    check({ serial }: CertificateFacts, issuer: CertificateFacts, stale: boolean): void {
      const id = idOf(issuer);
      const list = newest.get(id);
      if (list === undefined) missing.add(id);
      else if (isRevoked(list, serial)) throw new SignInRefused('CERTIFICATE_REVOKED');
      if (list === undefined || (now().getTime() > list.to && !stale))
        throw new SignInRefused('REVOCATION_UNKNOWN');
    },
    /** When the first of them is out of date, in seconds since 1970; 0 where one was missing. */
    nextUpdate(): number {
      if (missing.size > 0 || newest.size === 0) return 0;
      return Math.min(...[...newest.values()].map(({ to }) => to)) / 1000;
    },
  };
}

/** Reads files in a worker. A file that is fatal to it is bad, and another worker reads the files after that. */
async function readFiles(
  files: readonly string[],
  signers: readonly Signer[],
  stopped?: AbortSignal,
): Promise<FileOfLists[]> {
  const read: FileOfLists[] = [];
  while (read.length < files.length) {
    const begin = read.length;
    const input: RevocationFiles = { files: files.slice(begin), signers };
    try {
      const keep = (file: FileOfLists) => void read.push(file);
      await readWorkerMessages('auth/revocation-thread', input, keep, stopped);
      if (read.length === begin) throw new Error('the worker ended without an answer');
    } catch (error) {
      stopped?.throwIfAborted();
      read.push({ reason: (error as Error).message });
    }
  }
  return read;
}

/** An authority by name and key: a list counts for every certificate of that. */
const idOf = ({ subject, x509 }: CertificateFacts): string =>
  `${subject.toString('base64')} ${x509.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')}`;
