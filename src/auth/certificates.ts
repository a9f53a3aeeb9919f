import { readFileSync, statSync } from 'node:fs';
import { LRUCache } from 'lru-cache';
import type { Config } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { rightsAround } from '../base/files.ts';
import type { Followed } from '../base/follow.ts';
import type { Log } from '../base/log.ts';
import { inSlices } from '../base/slices.ts';
import { goodChain, isFinal, type Trust } from './certificate-chain.ts';
import { type CertificateFacts, openCertificate, readCertificate } from './certificate-facts.ts';
import { emailOf, subjectOf } from './certificate-name.ts';
import { type People, type Rights, readPeople, rightsOf } from './people.ts';
import { createRevocations } from './revocations.ts';
import { SignInRefused } from './sign-in-refused.ts';
import type { User } from './viewer.ts';

/** What became of a certificate that somebody came in with. `unknown`: nobody can say now. */
export type Standing = 'good' | 'over' | 'unknown';

/** Who comes in by certificate, and what certificates stand for (rule D43.1). */
export interface ClientCertificates {
  /** The person that a certificate (DER) names; null: none was sent. Throws `SignInRefused`. */
  identify(presented: Uint8Array | null): User;
  /** Whether the certificate of a session or token (`User.certificate`) still counts. */
  standing(certificate: string): Standing;
  /** What a subject may do now. */
  rightsOf(subject: string): Rights;
}

/** The same, with what the server does for it. */
export interface FollowedCertificates extends ClientCertificates {
  /** The authorities, PEM, for TLS to ask for. */
  authorities(): string;
  /** When the first revocation list is out of date, in seconds since 1970; null where none are asked for. */
  nextUpdate(): number | null;
  /** What is read again when it changes. `authoritiesChanged` is called after the authorities were. */
  followed(authoritiesChanged: () => void): Followed[];
}

type Settings = Pick<Config, 'tlsCrl' | 'certSubject' | 'people'> & { tlsClientCa: string };

const warnEvery = 60_000;

/** Reads authorities, revocation lists and people. Throws `CommandError` for a file that cannot be used. */
export async function loadCertificates(
  settings: Settings,
  now: () => Date,
  log: Log,
): Promise<FollowedCertificates> {
  const { tlsClientCa, tlsCrl, certSubject, people: peopleFile } = settings;
  const revocations = tlsCrl === null ? null : createRevocations(tlsCrl, now, log);
  let authorities = await readAuthorities(tlsClientCa);
  let people: People | null = peopleFile === null ? null : await readPeople(peopleFile, log.warn);
  const standings = new LRUCache<string, { until: number }>({ max: 10_000 });
  let lastWarning = Number.NEGATIVE_INFINITY;

  const trust = (): Trust => ({
    authorities: authorities.certificates,
    revocationsOf: (authority) => (revocations === null ? undefined : revocations.of(authority)),
  });
  let reading: Promise<unknown> = Promise.resolve();
  /** Reads the lists after every other reading of them. */
  function readLists(): Promise<Map<string, string>> {
    const work = reading.then(async () => {
      const failures = (await revocations?.reload(authorities.certificates)) ?? new Map<string, string>();
      standings.clear();
      return failures;
    });
    reading = work;
    return work;
  }

  const failures = await readLists();
  const failed = [...failures].find(([file]) => file === tlsCrl);
  if (failed !== undefined) throw new CommandError(`the revocation list ${failed.join(' cannot be read: ')}`);
  if (tlsCrl === null) log.warn('revoked certificates are not refused: GAPSTONE_TLS_CRL is not set');

  function chainOf(presented: Uint8Array, stale: boolean): CertificateFacts[] {
    const opened = openCertificate(presented);
    // To read one costs more than anybody may cause who has none of a known issuer.
    if (!authorities.names.has(opened.issuer)) throw new SignInRefused('CERTIFICATE_NOT_TRUSTED');
    return goodChain(readCertificate(presented, opened), trust(), now().getTime(), stale);
  }

  const endOf = (chain: CertificateFacts[]) => Math.min(...chain.map(({ to }) => to));

  return {
    identify(presented) {
      if (presented === null) throw new SignInRefused('CERTIFICATE_MISSING');
      try {
        const chain = chainOf(presented, false);
        const [person] = chain as [CertificateFacts];
        const subject = subjectOf(person, certSubject);
        const { organization, entitlements } = rightsOf(people, subject);
        return {
          ...{ kind: 'user', subject, email: emailOf(person), organization },
          entitlements: new Set(entitlements),
          expiresAt: Math.floor(endOf(chain) / 1000),
          certificate: person.x509.raw.toString('base64'),
        };
      } catch (error) {
        const isUnknown = error instanceof SignInRefused && error.reason === 'REVOCATION_UNKNOWN';
        const time = now().getTime();
        if (isUnknown && time - lastWarning > warnEvery) {
          lastWarning = time;
          log.warn('sign-in by certificate refused: a revocation list is missing or out of date');
        }
        throw error;
      }
    },

    standing(certificate) {
      const time = now().getTime();
      if (time <= (standings.get(certificate)?.until ?? 0)) return 'good';
      try {
        const chain = chainOf(Buffer.from(certificate, 'base64'), true);
        standings.set(certificate, { until: endOf(chain) });
        return 'good';
      } catch (error) {
        if (!(error instanceof SignInRefused)) throw error;
        return isFinal(error.reason) ? 'over' : 'unknown';
      }
    },

    rightsOf: (subject) => rightsOf(people, subject),
    authorities: () => authorities.pem,
    nextUpdate: () => revocations?.nextUpdate() ?? null,

    followed(authoritiesChanged) {
      const followed: Followed[] = [
        {
          name: 'authorities of client certificates',
          paths: [tlsClientCa],
          async reload() {
            authorities = await readAuthorities(tlsClientCa);
            await readLists();
            authoritiesChanged();
          },
        },
      ];
      if (tlsCrl !== null) followed.push({ paths: [tlsCrl], reload: readLists });
      if (peopleFile !== null)
        followed.push({
          name: 'people',
          paths: [peopleFile],
          async reload() {
            people = await readPeople(peopleFile, log.warn);
          },
        });
      return followed;
    },
  };
}

const mostAuthorityBytes = 16 * 1024 * 1024;

interface Authorities {
  pem: string;
  certificates: CertificateFacts[];
  /** Their names, as `X509Certificate` writes them. */
  names: ReadonlySet<string>;
}

async function readAuthorities(file: string): Promise<Authorities> {
  try {
    if (statSync(file).size > mostAuthorityBytes)
      throw new Error(`it has more than ${mostAuthorityBytes} bytes`);
    const blocks = readFileSync(file, 'latin1').match(
      /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g,
    );
    if (blocks === null) throw new Error('it contains no certificate in PEM form');
    const certificates: CertificateFacts[] = [];
    await inSlices(blocks, (block) => {
      const facts = readCertificate(Buffer.from(block.replace(/-----[^-]+-----/g, ''), 'base64'));
      if (!facts.isAuthority)
        throw new Error(`certificate ${certificates.length + 1} of it is not that of an authority`);
      certificates.push(facts);
    });
    const names = new Set(certificates.map(({ x509 }) => x509.subject));
    return { pem: blocks.join('\n'), certificates, names };
  } catch (error) {
    const { message } = error as Error;
    const reason = error instanceof SignInRefused ? 'it contains a malformed certificate' : message;
    throw new CommandError(
      `the authorities of client certificates in ${file} cannot be read: ${reason}${rightsAround(file, error)}`,
    );
  }
}
