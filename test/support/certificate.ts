import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

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
const time = (date: Date) =>
  der(0x18, Buffer.from(`${date.toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`));
/** The signature's algorithm, with SHA-256, by the type of the key. */
export const algorithms: Record<string, Buffer> = {
  ec: sequence(Buffer.from('06082a8648ce3d040302', 'hex')),
  rsa: sequence(Buffer.from('06092a864886f70d01010b0500', 'hex')),
};
const commonName = (text: string) =>
  sequence(der(0x31, sequence(Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from(text)))));

/** DER as PEM, with a label such as CERTIFICATE. */
export const pem = (label: string, bytes: Buffer) =>
  `-----BEGIN ${label}-----\n${bytes
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n')}\n-----END ${label}-----\n`;

/** A self-signed certificate for 127.0.0.1 and its key, PEM; `key` makes it for a key that is there. */
export function selfSigned(from: Date, to: Date, key?: KeyObject): { cert: string; key: string } {
  const privateKey = key ?? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const algorithm = algorithms[privateKey.asymmetricKeyType!]!;
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  // subjectAltName: the address 127.0.0.1.
  const names = sequence(
    Buffer.from('0603551d11', 'hex'),
    der(0x04, sequence(der(0x87, Buffer.from([127, 0, 0, 1])))),
  );
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    commonName('gapstone test'),
    sequence(time(from), time(to)),
    commonName('gapstone test'),
    publicKey,
    der(0xa3, sequence(names)),
  );
  const signature = sign('sha256', body, privateKey);
  const whole = sequence(body, algorithm, der(0x03, Buffer.from([0]), signature));
  return {
    cert: pem('CERTIFICATE', whole),
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }) as string,
  };
}
