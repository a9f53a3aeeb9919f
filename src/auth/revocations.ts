import { filesAt, stampOf } from '../base/follow.ts';
import type { Log } from '../base/log.ts';
import type { Revocation } from './certificate-chain.ts';
import type { CertificateFacts } from './certificate-facts.ts';
import { type RevocationList, readRevocationLists, type Signer } from './revocation-list.ts';

export type Revocations = ReturnType<typeof createRevocations>;

interface ReadFile {
  stamp: string;
  lists: RevocationList[];
}

const mostNamed = 20;

/**
 * The revocation lists of a file or folder (rule D43.1). A file that cannot be read keeps its last good lists; one that
 * was removed has none.
 */
export function createRevocations(path: string, now: () => Date, log: Log) {
  let files = new Map<string, ReadFile>();
  /** The lists of each authority, by `idOf`, the newest first. */
  let lists = new Map<string, RevocationList[]>();
  /** Authorities of whom somebody was refused for want of a list. */
  const wanted = new Set<string>();
  let signers = '';
  let warned = '';

  /** Reads what changed, and everything for other authorities. Gives why a file was not read, by path. */
  async function reload(authorities: readonly CertificateFacts[]): Promise<Map<string, string>> {
    const able = [...new Map(authorities.filter((each) => each.allows('cRLSign')).map(signerOf)).entries()];
    const everything = able.map(([id]) => id).join('\n') !== signers;
    signers = able.map(([id]) => id).join('\n');
    const failures = new Map<string, string>();
    const read = new Map<string, ReadFile>();
    for (const file of filesAt(path)) {
      const stamp = stampOf(file);
      const former = files.get(file);
      if (former?.stamp === stamp && !everything) read.set(file, former);
      else if (stamp === 'ENOENT') failures.set(file, 'it is missing');
      else
        try {
          const signed = able.map(([, signer]) => signer);
          read.set(file, { stamp, lists: await readRevocationLists(file, signed) });
        } catch (error) {
          failures.set(file, (error as Error).message);
          // Of other authorities than before, nothing that was read may count.
          if (former !== undefined && !everything) read.set(file, former);
        }
    }
    files = read;
    const all = [...files.values()].flatMap((file) => file.lists).sort((a, b) => b.from - a.from);
    lists = Map.groupBy(all, ({ authority }) => authority.id);
    for (const id of wanted) if (lists.has(id)) wanted.delete(id);
    for (const [file, reason] of failures) log.warn('revocation list not read', { file, reason });
    warn(authorities);
    return failures;
  }

  /** Names, once, the authorities without a list that counts now. */
  function warn(authorities: readonly CertificateFacts[]): void {
    const time = now().getTime();
    const names = authorities
      .filter((each) => (current(idOf(each))?.to ?? 0) < time)
      .map(({ x509 }) => x509.subject.replaceAll('\n', ', '));
    if (names.join() === warned) return;
    warned = names.join();
    if (names.length > 0)
      log.warn('authorities without a current revocation list: nobody comes in by their certificates', {
        count: names.length,
        authorities: names.slice(0, mostNamed),
      });
  }

  /** The newest list, even of a clock that is ahead: what it names is revoked (RFC 5280 section 6.3.3). */
  const current = (id: string): RevocationList | undefined => lists.get(id)?.[0];

  return {
    reload,
    /** The list of an authority that counts now; null where there is none. */
    of(authority: CertificateFacts): Revocation | null {
      const id = idOf(authority);
      const list = current(id);
      if (list === undefined) wanted.add(id);
      return list ?? null;
    },
    /** When the first of them is out of date, in seconds since 1970; 0 where one was missing. */
    nextUpdate(): number {
      if (wanted.size > 0) return 0;
      const ends = [...lists.keys()].map((id) => current(id)?.to ?? 0);
      return ends.length === 0 ? 0 : Math.min(...ends) / 1000;
    },
  };
}

/** An authority by name and key: a list counts for every certificate of that. */
const idOf = ({ subject, x509 }: CertificateFacts): string =>
  `${subject.toString('base64')} ${x509.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')}`;

function signerOf(authority: CertificateFacts): [string, Signer] {
  const id = idOf(authority);
  return [id, { id, name: authority.subject.toString('base64'), key: authority.x509.publicKey }];
}
