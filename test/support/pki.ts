import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

// A public key infrastructure of the tests, written by hand: what is malformed or forged no tool makes.

/** A DER value: its tag, its length, its content. */
export function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const bytes = [24, 16, 8, 0].map((shift) => (length >>> shift) & 255);
  const size = bytes.slice(bytes.findIndex((byte, index) => byte > 0 || index === 3));
  const head = length < 128 ? [tag, length] : [tag, 0x80 + size.length, ...size];
  return Buffer.concat([Buffer.from(head), content]);
}

export const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts);
/** The signature's algorithm, with SHA-256, by the type of the key. */
const algorithms: Record<string, Buffer> = {
  ec: sequence(Buffer.from('06082a8648ce3d040302', 'hex')),
  rsa: sequence(Buffer.from('06092a864886f70d01010b0500', 'hex')),
};

/** DER as PEM, with a label such as CERTIFICATE. */
const pem = (label: string, bytes: Buffer) =>
  `-----BEGIN ${label}-----\n${bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;

const oid = (dotted: string): Buffer => {
  const [first, second, ...rest] = dotted.split('.').map(Number) as [number, number, ...number[]];
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const parts = [arc & 127];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      parts.unshift((left & 127) | 128);
    return parts;
  });
  return der(0x06, Buffer.from(bytes));
};
export const utf8 = (text: string) => der(0x0c, Buffer.from(text));
const time = (date: Date) =>
  der(0x18, Buffer.from(`${date.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`));
const integer = (value: bigint) => {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  return der(0x02, bytes[0]! & 128 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
};

const attributes = {
  CN: '2.5.4.3',
  C: '2.5.4.6',
  L: '2.5.4.7',
  O: '2.5.4.10',
  OU: '2.5.4.11',
  UID: '0.9.2342.19200300.100.1.1',
  DC: '0.9.2342.19200300.100.1.25',
  email: '1.2.840.113549.1.9.1',
  serialNumber: '2.5.4.5',
};
type Attribute = [type: keyof typeof attributes, value: string];

/** A Name; each entry is one relative name, of one attribute or, as a list, of several. */
export const nameOf = (...parts: (Attribute | Attribute[])[]) =>
  sequence(
    ...parts.map((part) =>
      der(
        0x31,
        ...(Array.isArray(part[0]) ? (part as Attribute[]) : [part as Attribute]).map(([type, value]) =>
          sequence(oid(attributes[type]), type === 'email' ? der(0x16, Buffer.from(value)) : utf8(value)),
        ),
      ),
    ),
  );

export const upnType = '1.3.6.1.4.1.311.20.2.3';
/** An other name; by default a UPN as UTF-8 text. */
export const otherName = (value: Buffer | string, type = upnType) =>
  der(0xa0, oid(type), der(0xa0, typeof value === 'string' ? utf8(value) : value));
export const emailName = (text: string) => der(0x81, Buffer.from(text));
export const uriName = (text: string) => der(0x86, Buffer.from(text));
const dnsName = (text: string) => der(0x82, Buffer.from(text));
const addressName = der(0x87, Buffer.from([127, 0, 0, 1]));

export const extension = (type: string, value: Buffer, critical = false) =>
  sequence(oid(type), ...(critical ? [der(0x01, Buffer.from([255]))] : []), der(0x04, value));
export const alternativeNames = (...names: Buffer[]) => extension('2.5.29.17', sequence(...names));
export const usages = { client: '1.3.6.1.5.5.7.3.2', server: '1.3.6.1.5.5.7.3.1', any: '2.5.29.37.0' };
export const extendedKeyUsage = (...types: string[]) => extension('2.5.29.37', sequence(...types.map(oid)));
export const basicConstraints = (isCa: boolean, pathLength?: number) =>
  extension(
    '2.5.29.19',
    sequence(
      ...(isCa ? [der(0x01, Buffer.from([255]))] : []),
      ...(pathLength === undefined ? [] : [integer(BigInt(pathLength))]),
    ),
    true,
  );
/** Bits as RFC 5280 numbers them: 0 is digitalSignature, 5 keyCertSign, 6 cRLSign. */
export const keyUsage = (...bits: number[]) => {
  const byte = bits.reduce((sum, bit) => sum | (128 >> bit), 0);
  return extension('2.5.29.15', der(0x03, Buffer.from([0, byte])), true);
};

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const keyIdOf = (key: KeyObject) =>
  createHash('sha1')
    .update(createPublicKey(key).export({ format: 'der', type: 'spki' }))
    .digest();
const subjectKeyId = (key: KeyObject) => extension('2.5.29.14', der(0x04, keyIdOf(key)));
const authorityKeyId = (key: KeyObject) => extension('2.5.29.35', sequence(der(0x80, keyIdOf(key))));

export interface Issued {
  name: Buffer;
  key: KeyObject;
  serial: bigint;
  der: Buffer;
  cert: string;
  keyPem: string;
}

interface Wish {
  name?: Buffer;
  key?: KeyObject;
  serial?: bigint;
  from?: Date;
  to?: Date;
  /** In place of those of a person. */
  extensions?: Buffer[];
  /** Another key than that of the issuer: then the signature is forged. */
  signedBy?: KeyObject;
  hash?: 'sha256' | 'sha1';
}

let serials = 1000n;
const day = 86_400_000;
const sha1 = { ec: sequence(oid('1.2.840.10045.4.1')), rsa: sequence(oid('1.2.840.113549.1.1.5'), der(5)) };

/** A certificate of an issuer; null: self-signed. Valid from yesterday for a month, unless `wish` says otherwise. */
export function issue(issuer: Pick<Issued, 'name' | 'key'> | null, wish: Wish = {}): Issued {
  const { key = newKey(), serial = serials++, hash = 'sha256' } = wish;
  const { name = nameOf(['C', 'US'], ['O', 'Test'], ['CN', `PERSON.${serial}`]) } = wish;
  const from = wish.from ?? new Date(Date.now() - day);
  const to = wish.to ?? new Date(Date.now() + 30 * day);
  const signer = wish.signedBy ?? issuer?.key ?? key;
  const type = signer.asymmetricKeyType as 'ec' | 'rsa';
  const algorithm = hash === 'sha1' ? sha1[type] : algorithms[type]!;
  const extensions = wish.extensions ?? person(`person.${serial}@test.mil`);
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    integer(serial),
    algorithm,
    issuer?.name ?? name,
    sequence(time(from), time(to)),
    name,
    createPublicKey(key).export({ format: 'der', type: 'spki' }),
    ...(extensions.length === 0
      ? []
      : [
          der(
            0xa3,
            sequence(...extensions, subjectKeyId(key), ...(issuer ? [authorityKeyId(issuer.key)] : [])),
          ),
        ]),
  );
  const whole = sequence(body, algorithm, der(0x03, Buffer.from([0]), sign(hash, body, signer)));
  const keyPem = key.export({ format: 'pem', type: 'pkcs8' }) as string;
  return { name, key, serial, der: whole, cert: pem('CERTIFICATE', whole), keyPem };
}

/** The extensions of a person's certificate: a UPN, for signing and for clients. */
export const person = (upn: string, ...more: Buffer[]) => [
  alternativeNames(otherName(upn), ...more),
  keyUsage(0),
  extendedKeyUsage(usages.client),
];

/** A certification authority; below another one where it is given. */
export function authority(cn: string, above: Issued | null = null, wish: Wish = {}): Issued {
  const extensions = [basicConstraints(true), keyUsage(5, 6)];
  return issue(above, { name: nameOf(['C', 'US'], ['O', 'Test'], ['CN', cn]), extensions, ...wish });
}

/** A self-signed certificate for 127.0.0.1 and its key, PEM; `key` makes it for a key that is there. */
export function selfSigned(from: Date, to: Date, key = newKey()): { cert: string; key: string } {
  const { cert, keyPem } = issue(null, { from, to, key, extensions: [alternativeNames(addressName)] });
  return { cert, key: keyPem };
}

/** The certificate of a server on this machine. */
export const serverCertificate = (issuer: Issued) =>
  issue(issuer, {
    name: nameOf(['CN', 'localhost']),
    extensions: [
      alternativeNames(addressName, dnsName('localhost'), dnsName('gapstone.example.org')),
      keyUsage(0),
      extendedKeyUsage(usages.server),
    ],
  });

interface ListWish {
  from?: Date;
  /** Null: the list says none. */
  to?: Date | null;
  extensions?: Buffer[];
  entryExtensions?: Buffer;
  signedBy?: KeyObject;
}

/** A revocation list (DER) of an authority. */
export function revocationList(
  issuer: Pick<Issued, 'name' | 'key'>,
  revoked: Iterable<bigint> = [],
  wish: ListWish = {},
): Buffer {
  const { from = new Date(Date.now() - day), to = new Date(Date.now() + 7 * day) } = wish;
  const signer = wish.signedBy ?? issuer.key;
  const algorithm = algorithms[signer.asymmetricKeyType!]!;
  const when = der(0x17, Buffer.from('260101000000Z'));
  const more = wish.entryExtensions === undefined ? [] : [wish.entryExtensions];
  const named = Array.from(revoked, (serial) => sequence(integer(serial), when, ...more));
  const entries = Buffer.concat(named);
  const extensions = wish.extensions ?? [authorityKeyId(issuer.key), extension('2.5.29.20', integer(7n))];
  const body = sequence(
    integer(1n),
    algorithm,
    issuer.name,
    time(from),
    ...(to === null ? [] : [time(to)]),
    ...(entries.length === 0 ? [] : [der(0x30, entries)]),
    ...(extensions.length === 0 ? [] : [der(0xa0, sequence(...extensions))]),
  );
  return sequence(body, algorithm, der(0x03, Buffer.from([0]), sign('sha256', body, signer)));
}

export const listPem = (list: Buffer) => pem('X509 CRL', list);
