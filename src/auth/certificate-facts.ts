import { X509Certificate } from 'node:crypto';
import { BitString, fromBER } from 'asn1js';
import {
  type AlgorithmIdentifier,
  AltName,
  BasicConstraints,
  Certificate,
  type Extension,
  ExtKeyUsage,
  RSASSAPSSParams,
} from 'pkijs';
import { weaknessOf } from './key-strength.ts';
import { SignInRefused } from './sign-in-refused.ts';

/** The fields of a certificate that sign-in uses. Names are DER, times milliseconds since 1970. */
export type CertificateFacts = ReturnType<typeof readCertificate>;

const keyUsages = { digitalSignature: 0, keyAgreement: 4, keyCertSign: 5, cRLSign: 6 } as const;

export const clientAuthentication = '1.3.6.1.5.5.7.3.2';
export const anyPurpose = '2.5.29.37.0';

const nameConstraints = '2.5.29.30';
const ids = {
  keyUsage: '2.5.29.15',
  alternativeNames: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
};
/** Policies are not asked for, as OpenSSL does not by default: certificate policies, mappings, constraints, any policy. */
const policies = ['2.5.29.32', '2.5.29.33', '2.5.29.36', '2.5.29.54'];
const known = new Set([...Object.values(ids), ...policies]);

const hashes: Record<string, string> = {
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};
const signatures: Record<string, string> = {
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  // Ed25519 and Ed448.
  '1.3.101.112': 'none',
  '1.3.101.113': 'none',
};
export const rsaPss = '1.2.840.113549.1.1.10';

/** The hash of a signature, `none` for one without; null for MD5, SHA-1 and unknown algorithms. */
export function signatureHash({ algorithmId, algorithmParams }: AlgorithmIdentifier): string | null {
  if (algorithmId !== rsaPss) return signatures[algorithmId] ?? null;
  const { hashAlgorithm } = new RSASSAPSSParams({ schema: algorithmParams });
  return hashes[hashAlgorithm.algorithmId] ?? null;
}

/** Certificates of people and authorities have 1 to 3 KB. Reading one costs what its extensions are. */
const mostBytes = 16 * 1024;

/** Opens a certificate (DER), without reading its extensions. Throws `SignInRefused` for anything else. */
export function openCertificate(der: Uint8Array): X509Certificate {
  try {
    if (der.length > mostBytes) throw new Error('too long');
    return new X509Certificate(der);
  } catch {
    throw new SignInRefused('CERTIFICATE_MALFORMED');
  }
}

/** Reads a certificate (DER). Throws `SignInRefused` for anything else, and where an extension stands twice. */
export function readCertificate(der: Uint8Array, x509 = openCertificate(der)) {
  try {
    const parsed = Certificate.fromBER(new Uint8Array(x509.raw));
    const extensions = parsed.extensions ?? [];
    if (
      x509.raw.length !== der.length ||
      new Set(extensions.map((each) => each.extnID)).size < extensions.length
    )
      throw new Error('more than a certificate, or an extension twice');
    return {
      x509,
      subject: Buffer.from(parsed.subject.valueBeforeDecode),
      issuer: Buffer.from(parsed.issuer.valueBeforeDecode),
      /** Hexadecimal digits, two for each byte. */
      serial: Buffer.from(parsed.serialNumber.valueBlock.valueHexView).toString('hex'),
      from: parsed.notBefore.value.getTime(),
      to: parsed.notAfter.value.getTime(),
      ...readExtensions(extensions),
      hasWeakSignature: signatureHash(parsed.signatureAlgorithm) === null,
      hasWeakKey: weaknessOf(x509.publicKey) !== null,
    };
  } catch {
    throw new SignInRefused('CERTIFICATE_MALFORMED');
  }
}

function readExtensions(extensions: Extension[]) {
  const find = <T>(id: string, kind: new (...values: never[]) => T): T | null => {
    const extension = extensions.find(({ extnID }) => extnID === id);
    if (extension === undefined) return null;
    const value = extension.parsedValue;
    if (!(value instanceof kind) || !isWhole(extension))
      throw new Error(`the extension ${id} cannot be read`);
    return value;
  };
  const basic = find(ids.basicConstraints, BasicConstraints);
  const usage = find(ids.keyUsage, BitString)?.valueBlock.valueHexView;
  const length = basic?.pathLenConstraint;
  return {
    isAuthority: basic?.cA ?? false,
    /** How many authorities may stand between this one and a person; null: any number. */
    pathLength: length === undefined ? null : typeof length === 'number' ? length : 0,
    /** Whether the key usage, if there is one, allows a purpose. */
    allows: (name: keyof typeof keyUsages) =>
      usage === undefined || ((usage[0] ?? 0) & (128 >> keyUsages[name])) > 0,
    /** The extended key usages; null without the extension. */
    purposes: find(ids.extendedKeyUsage, ExtKeyUsage)?.keyPurposes ?? null,
    /** A critical extension that is not known here, or name constraints, which nothing here checks. */
    unsupported: extensions.some(
      ({ extnID, critical }) => extnID === nameConstraints || (critical && !known.has(extnID)),
    ),
    alternativeNames: find(ids.alternativeNames, AltName)?.altNames ?? [],
  };
}

/** Whether the value of an extension is one ASN.1 value, and nothing after it. */
function isWhole({ extnValue }: Extension): boolean {
  const bytes = extnValue.valueBlock.valueHexView;
  return fromBER(bytes).offset === bytes.length;
}
