import { anyPurpose, type CertificateFacts, clientAuthentication } from './certificate-facts.ts';
import { SignInRefused } from './sign-in-refused.ts';

/** What chains are judged by. */
interface Trust {
  /** All authorities that may stand in a chain. It ends at a root, or at one whose issuer is not among them. */
  authorities: readonly CertificateFacts[];
  /** Throws `SignInRefused` for a certificate that was revoked, and where nobody can say. */
  checkRevocation(certificate: CertificateFacts, issuer: CertificateFacts): void;
  /** Milliseconds since 1970. */
  now: number;
}

/** A chain has at most this many authorities. */
const longest = 8;

const isSelfIssued = ({ subject, issuer }: CertificateFacts) => subject.equals(issuer);

/**
 * The chain of a person's certificate, from it to an authority that the operator trusts (RFC 5280 section 6, without
 * policies; a chain with name constraints is refused): signatures, dates, basic constraints, key usages, revocations.
 * Where several ways lead up, one that is good is enough. Throws `SignInRefused`.
 */
export function goodChain(person: CertificateFacts, trust: Trust): CertificateFacts[] {
  const { allows, purposes } = person;
  if (trust.now > person.to) throw new SignInRefused('CERTIFICATE_EXPIRED');
  if (trust.now < person.from) throw new SignInRefused('CERTIFICATE_NOT_YET_VALID');
  const isForClients =
    (purposes === null || purposes.includes(clientAuthentication)) &&
    (allows('digitalSignature') || allows('keyAgreement'));
  if (person.isAuthority || !isForClients) throw new SignInRefused('CERTIFICATE_NOT_FOR_CLIENTS');
  checkStrength(person);
  return climb([person], trust);
}

/** The rest of a chain, from its last certificate up. Throws `SignInRefused` with the reason that is nearest to success. */
function climb(chain: CertificateFacts[], trust: Trust): CertificateFacts[] {
  const last = chain.at(-1)!;
  const issuers = trust.authorities.filter((each) => each !== last && isIssuedBy(last, each));
  const isTop = chain.length > 1 && (isSelfIssued(last) || issuers.length === 0);
  if (isTop) return chain;
  let refused: unknown = new SignInRefused('CERTIFICATE_NOT_TRUSTED');
  if (chain.length > longest) throw refused;
  for (const issuer of issuers.filter((each) => !chain.includes(each))) {
    try {
      checkAuthority(issuer, chain.length - 1, trust.now);
      trust.checkRevocation(last, issuer);
      return climb([...chain, issuer], trust);
    } catch (error) {
      if (!(error instanceof SignInRefused)) throw error;
      if (error.reason !== 'CERTIFICATE_NOT_TRUSTED') refused = error;
    }
  }
  throw refused;
}

/** Whether one certificate was signed with the key of another, which may sign certificates. */
function isIssuedBy(person: CertificateFacts, issuer: CertificateFacts): boolean {
  return (
    person.issuer.equals(issuer.subject) &&
    issuer.isAuthority &&
    issuer.allows('keyCertSign') &&
    person.x509.verify(issuer.x509.publicKey)
  );
}

function checkStrength(certificate: CertificateFacts, isTrustedByName = false): void {
  const { hasWeakSignature, hasWeakKey, unsupported } = certificate;
  if (hasWeakKey || (hasWeakSignature && !isTrustedByName)) throw new SignInRefused('CERTIFICATE_WEAK');
  if (unsupported) throw new SignInRefused('CERTIFICATE_UNSUPPORTED');
}

/** Checks an authority with `below` other authorities between it and the person. */
function checkAuthority(authority: CertificateFacts, below: number, now: number): void {
  const { purposes, pathLength } = authority;
  if (now < authority.from || now > authority.to) throw new SignInRefused('CERTIFICATE_NOT_TRUSTED');
  if (purposes !== null && !purposes.includes(clientAuthentication) && !purposes.includes(anyPurpose))
    throw new SignInRefused('CERTIFICATE_NOT_FOR_CLIENTS');
  if (pathLength !== null && below > pathLength) throw new SignInRefused('CERTIFICATE_NOT_TRUSTED');
  // Nobody needs to believe the signature of a root: it is trusted by name.
  checkStrength(authority, isSelfIssued(authority));
}
