import type { KeyObject } from 'node:crypto';

/** The fewest bits of an RSA key (NIST SP 800-131A) and of a curve (TLS 1.3 has no smaller one). */
const leastBits = { rsa: 2048, curve: 256 };

/** Why a key is too weak for TLS and certificates, as the end of a sentence; null for one that is not. */
export function weaknessOf({
  asymmetricKeyType: type,
  asymmetricKeyDetails: details,
}: KeyObject): string | null {
  if (type === 'rsa' || type === 'rsa-pss') {
    const bits = details?.modulusLength ?? 0;
    return bits < leastBits.rsa ? `has ${bits} bits: an RSA key needs at least ${leastBits.rsa}` : null;
  }
  if (type === 'ec') {
    const curve = details?.namedCurve ?? 'without a name';
    // OpenSSL's curve names contain the bits: prime256v1, secp384r1, brainpoolP256r1.
    const bits = Number(/\d{3}/.exec(curve)?.[0] ?? 0);
    return bits < leastBits.curve
      ? `is on the curve ${curve}: it needs at least ${leastBits.curve} bits`
      : null;
  }
  return type === 'ed25519' || type === 'ed448' ? null : `has the type ${type}, which TLS does not accept`;
}
