import { type BaseBlock, Constructed, fromBER, ObjectIdentifier, Sequence, Set as SetOf } from 'asn1js';
import type { Config } from '../base/config.ts';
import type { CertificateFacts } from './certificate-facts.ts';
import { SignInRefused } from './sign-in-refused.ts';
import { isName } from './tokens.ts';

const userPrincipalName = '1.3.6.1.4.1.311.20.2.3';
const commonName = '2.5.4.3';
const generalName = { other: 0, email: 1 };

/**
 * The subject of a certificate's holder, as written: the name of a kind (rule D43.1). Throws `SignInRefused` where there is none, or more than one of the
 * kind, and for one that is no name of 1 to 255 characters without control characters.
 */
export function subjectOf(facts: CertificateFacts, kind: Config['certSubject']): string {
  const found = {
    upn: () => principalNames(facts),
    email: () => emails(facts),
    cn: () =>
      relativeNames(facts.subject)
        .flat()
        .filter(({ type }) => type === commonName)
        .map(({ value }) => textOf(value)),
    dn: () => [distinguishedName(facts.subject)],
  }[kind]();
  const [name] = found;
  if (found.length === 1 && isName(name) && !/\p{Cc}/u.test(name)) return name;
  throw new SignInRefused('CERTIFICATE_WITHOUT_NAME', ` (${kind})`);
}

/** The e-mail address of a certificate, if it has exactly one. */
export function emailOf(facts: CertificateFacts): string | null {
  const [email, ...more] = emails(facts);
  return more.length === 0 && isName(email) ? email : null;
}

const emails = ({ alternativeNames }: CertificateFacts): string[] =>
  alternativeNames.filter(({ type }) => type === generalName.email).map(({ value }) => value as string);

/** Every UPN, null for one that is not UTF-8 text. */
function principalNames({ alternativeNames }: CertificateFacts): (string | null)[] {
  return alternativeNames
    .filter(({ type }) => type === generalName.other)
    .map(({ value }) => (value as Constructed).valueBlock.value)
    .filter(([type]) => type instanceof ObjectIdentifier && type.getValue() === userPrincipalName)
    .map(([, wrapped, ...rest]) => {
      const inner = wrapped instanceof Constructed ? wrapped.valueBlock.value : [];
      const [value] = inner;
      const isOne = rest.length === 0 && inner.length === 1;
      return isOne && value?.idBlock.tagNumber === utf8 ? textOf(value) : null;
    });
}

interface Attribute {
  type: string;
  value: BaseBlock;
}

/** The relative names of a distinguished name (DER), as encoded, each with its attributes. */
function relativeNames(der: Buffer): Attribute[][] {
  const name = fromBER(new Uint8Array(der)).result;
  if (!(name instanceof Sequence)) return [];
  return name.valueBlock.value.map((relative) =>
    (relative instanceof SetOf ? relative.valueBlock.value : []).map((attribute) => {
      const [type, value] = (attribute as Sequence).valueBlock.value;
      return { type: (type as ObjectIdentifier).getValue(), value: value as BaseBlock };
    }),
  );
}

const utf8 = 12;
/** The encodings of UTF8String, NumericString, PrintableString, TeletexString, IA5String and BMPString. */
const encodings: Record<number, string> = {
  [utf8]: 'utf-8',
  18: 'ascii',
  19: 'ascii',
  20: 'latin1',
  22: 'ascii',
  30: 'utf-16be',
};

/** The text of a string value; null for another kind of value, and for malformed text. */
function textOf(value: BaseBlock): string | null {
  const { tagClass, tagNumber, isConstructed } = value.idBlock;
  const encoding = tagClass === 1 && !isConstructed ? encodings[tagNumber] : undefined;
  if (encoding === undefined) return null;
  const bytes = Buffer.from((value.valueBlock as unknown as { valueHexView: Uint8Array }).valueHexView);
  if (encoding === 'ascii' && bytes.some((byte) => byte > 127)) return null;
  if (encoding === 'ascii' || encoding === 'latin1') return bytes.toString('latin1');
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The attribute types that RFC 4514 names. */
const shortNames: Record<string, string> = {
  [commonName]: 'CN',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.9': 'STREET',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
  '0.9.2342.19200300.100.1.1': 'UID',
  '0.9.2342.19200300.100.1.25': 'DC',
};

/** A distinguished name by RFC 4514: the most specific relative name first; other types by number, with their DER. */
function distinguishedName(der: Buffer): string {
  const written = ({ type, value }: Attribute) => {
    const short = shortNames[type];
    const text = short === undefined ? null : textOf(value);
    if (text === null) return `${short ?? type}=#${Buffer.from(value.toBER()).toString('hex')}`;
    return `${short}=${escaped(text)}`;
  };
  return relativeNames(der)
    .reverse()
    .map((attributes) => attributes.map(written).join('+'))
    .join(',');
}

const escaped = (text: string) =>
  text
    .replace(/["+,;<>\\]/g, '\\$&')
    .replace(/^[# ]/, '\\$&')
    .replace(/ $/, (space, at: number) => (at === 0 || text.length === 1 ? space : `\\${space}`))
    .replaceAll('\0', '\\00');
