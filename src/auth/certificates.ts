import { readFile, stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Config } from '../base/config.ts';
import { CommandError } from '../base/errors.ts';
import { rightsAround } from '../base/files.ts';
import type { Followed } from '../base/follow.ts';
import type { Log } from '../base/log.ts';
import { decodeText } from '../read/decode.ts';
import { readLargeTable, type TableRow } from '../read/table.ts';
import { goodChain } from './certificate-chain.ts';
import { type CertificateFacts, openCertificate, readCertificate } from './certificate-facts.ts';
import { emailOf, subjectOf } from './certificate-name.ts';
import { createRevocations } from './revocations.ts';
import { SignInRefused } from './sign-in-refused.ts';
import { isName } from './tokens.ts';
import { type Entitlement, isEntitlement, type User } from './viewer.ts';

/** Who comes in by certificate, and what certificates stand for (rule D43.1). */
export type ClientCertificates = Pick<FollowedCertificates, 'identify' | 'standing' | 'rightsOf'>;

/** The same, with what the server does for it. */
export type FollowedCertificates = Awaited<ReturnType<typeof loadCertificates>>;

type Settings = Pick<Config, 'tlsCrl' | 'certSubject' | 'people'> & { tlsClientCa: string };

const warnEvery = 60_000;

/** Reads authorities, revocation lists and people. Throws `CommandError` for a file that cannot be used. */
export async function loadCertificates(settings: Settings, now: () => Date, log: Log) {
  const { tlsClientCa, tlsCrl, certSubject, people: peopleFile } = settings;
  const revocations = tlsCrl === null ? null : createRevocations(tlsCrl, now, log);
  let authorities = await readAuthorities(tlsClientCa);
  let people: People | null = peopleFile === null ? null : await readPeople(peopleFile, log.warn);
  /** Certificates whose chain was good since the last reading, with the end of their chain. */
  const standings = new LRUCache<string, number>({ max: 10_000 });
  let lastWarning = Number.NEGATIVE_INFINITY;

  async function readLists(stopped?: AbortSignal): Promise<Map<string, string> | undefined> {
    const failures = await revocations?.reload(authorities.certificates, stopped);
    standings.clear();
    return failures;
  }

  const failure = (await readLists())?.get(tlsCrl!);
  if (failure !== undefined)
    throw new CommandError(`the revocation list ${tlsCrl} cannot be read: ${failure}`);
  if (tlsCrl === null) log.warn('revoked certificates are not refused: GAPSTONE_TLS_CRL is not set');

  function chainOf(presented: Uint8Array, stale: boolean): CertificateFacts[] {
    const opened = openCertificate(presented);
    // To read one costs more than anybody may cause who has none of a known issuer.
    if (!authorities.names.has(opened.issuer)) throw new SignInRefused('CERTIFICATE_NOT_TRUSTED');
    return goodChain(readCertificate(presented, opened), {
      authorities: authorities.certificates,
      checkRevocation: (certificate, issuer) => revocations?.check(certificate, issuer, stale),
      now: now().getTime(),
    });
  }

  const endOf = (chain: CertificateFacts[]) => Math.min(...chain.map(({ to }) => to));

  return {
    /** The person that a certificate (DER) names; null: none was sent. Throws `SignInRefused`. */
    identify(presented: Uint8Array | null): User {
      if (presented === null) throw new SignInRefused('CERTIFICATE_MISSING');
      try {
        const chain = chainOf(presented, false);
        const [person] = chain as [CertificateFacts];
        const subject = subjectOf(person, certSubject);
        const { organization, entitlements } = rightsOf(people, subject);
        return {
          kind: 'user',
          subject,
          email: emailOf(person),
          organization,
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

    /** Whether the certificate of a session or token (`User.certificate`) still counts. `unknown`: nobody can say now. */
    standing(certificate: string): 'good' | 'over' | 'unknown' {
      const time = now().getTime();
      if (time <= (standings.get(certificate) ?? 0)) return 'good';
      try {
        const chain = chainOf(Buffer.from(certificate, 'base64'), true);
        standings.set(certificate, endOf(chain));
        return 'good';
      } catch (error) {
        if (!(error instanceof SignInRefused)) throw error;
        return error.reason === 'REVOCATION_UNKNOWN' ? 'unknown' : 'over';
      }
    },

    /** What a subject may do now. */
    rightsOf: (subject: string) => rightsOf(people, subject),
    /** The authorities, PEM, for TLS to ask for. */
    authorities: () => authorities.pem,
    /** The earliest nextUpdate of the revocation lists, in seconds since 1970; null without lists. */
    nextUpdate: () => revocations?.nextUpdate() ?? null,

    /** What is read again when it changes. `authoritiesChanged` is called after the authorities were. */
    followed(authoritiesChanged: () => void): Followed[] {
      const followed: Followed[] = [
        {
          name: 'authorities of client certificates',
          paths: [tlsClientCa],
          async reload(stopped) {
            authorities = await readAuthorities(tlsClientCa);
            // A removed authority counts no more, however long the lists take.
            standings.clear();
            await readLists(stopped);
            authoritiesChanged();
          },
        },
      ];
      if (tlsCrl !== null) followed.push({ name: 'revocation lists', paths: [tlsCrl], reload: readLists });
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

async function readAtMost(bytes: number, file: string): Promise<Buffer> {
  if ((await stat(file)).size > bytes) throw new Error(`it has more than ${bytes} bytes`);
  return readFile(file);
}

const mostAuthorityBytes = 16 * 1024 * 1024;

async function readAuthorities(file: string) {
  try {
    const text = (await readAtMost(mostAuthorityBytes, file)).toString('latin1');
    const blocks = text.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g);
    if (blocks === null) throw new Error('it contains no certificate in PEM form');
    const certificates: CertificateFacts[] = [];
    for (const block of blocks) {
      // A file may have thousands.
      await setImmediate();
      const facts = readCertificate(Buffer.from(block.replace(/-----[^-]+-----/g, ''), 'base64'));
      if (!facts.isAuthority)
        throw new Error(`certificate ${certificates.length + 1} of it is not that of an authority`);
      certificates.push(facts);
    }
    /** As `X509Certificate` writes them. */
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

/** Organization and entitlements of a person who signs in by certificate (rule D43.4). */
interface Rights {
  organization: string | null;
  entitlements: Entitlement[];
}

type People = ReadonlyMap<string, Rights>;

/** Subject of the row with the defaults for people without a row. */
const everybodyElse = '*';
const nothing: Rights = { organization: null, entitlements: [] };
const columns = 'subject,org,entitlements';
const mostPeopleBytes = 32 * 1024 * 1024;

const rightsOf = (people: People | null, subject: string): Rights =>
  people?.get(subject) ?? people?.get(everybodyElse) ?? nothing;

/**
 * Reads the table of `GAPSTONE_PEOPLE`. Calls `warn` with a message if the file is neither UTF-8 nor UTF-16 and is read
 * as windows-1252. Throws a `CommandError` that names the first malformed line.
 */
export async function readPeople(file: string, warn: (message: string) => void): Promise<People> {
  const people = new Map<string, Rights>();
  try {
    const { text, warnings } = decodeText(await readAtMost(mostPeopleBytes, file));
    for (const warning of warnings) warn(`the people of ${file}: ${warning}`);
    let isHead = true;
    await readLargeTable(text, (row) => {
      if (!isHead) addRow(people, row);
      else if (row.cells.join(',') !== columns) throw new Error(`its first line is not ${columns}`);
      isHead = false;
    });
    if (isHead) throw new Error('it is empty');
  } catch (error) {
    const { message } = error as Error;
    throw new CommandError(`the people of ${file} cannot be read: ${message}${rightsAround(file, error)}`);
  }
  return people;
}

function addRow(people: Map<string, Rights>, { cells, line }: TableRow): void {
  const [subject, organization = '', words = ''] = cells;
  const entitlements = words.split(';').flatMap((word) => word.trim() || []);
  if (cells.length !== 3) throw new Error(`line ${line} does not have 3 columns`);
  if (!isName(subject)) throw new Error(`line ${line} has no subject of 1 to 255 characters`);
  if (people.has(subject)) throw new Error(`line ${line} repeats the subject of another line`);
  if (organization !== '' && !isName(organization)) throw new Error(`line ${line} has a wrong organization`);
  if (!entitlements.every(isEntitlement))
    throw new Error(`line ${line} has an entitlement that is neither regdoc nor occ`);
  people.set(subject, {
    organization: organization === '' ? null : organization,
    entitlements: [...new Set(entitlements)],
  });
}
