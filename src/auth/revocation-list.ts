import { constants, type KeyObject, verify } from 'node:crypto';
import { CertificateRevocationList } from 'pkijs';
import { rsaPss, signatureHash } from './certificate-facts.ts';

/** A revocation list whose signature is that of an authority. Times are milliseconds since 1970. */
export interface RevocationList {
  /** The id of the authority that signed it. */
  authority: string;
  from: number;
  to: number;
  serials: SerialSet;
}

/**
 * A hash table of serial numbers: slots of `width` bytes. A used slot holds 1, then the number with leading zeros. Bytes,
 * because a million numbers as strings take more than 100 MB (rule D43.1).
 */
interface SerialSet {
  slots: Uint8Array;
  width: number;
}

/** An authority that may sign revocation lists. */
export interface Signer {
  /** Its name as base64 of the DER, a blank, and anything else. */
  id: string;
  key: KeyObject;
}

const mostSerials = 4_000_000;
const longestSerial = 40;
const mostValues = 20;
/** Bytes of a list without its entries. */
const longestFrame = 64 * 1024;
const tag = { integer: 0x02, octets: 0x04, utcTime: 0x17, time: 0x18, sequence: 0x30, extensions: 0xa0 };

/**
 * Reads the revocation lists of a file, PEM (one or more) or DER. Gives those that one of `signers` signed. Throws an
 * `Error` with the reason for a file that holds anything else, and for a wrong signature. The entries are read here,
 * because pkijs makes objects of each; it reads everything else.
 */
export function readRevocationLists(bytes: Buffer, signers: readonly Signer[]): RevocationList[] {
  if (bytes.length === 0) throw new Error('it is empty');
  const read = (der: Buffer) => readList(der, signers) ?? [];
  if (bytes[0] === tag.sequence) return [read(bytes)].flat();
  const [, ...blocks] = bytes.toString('latin1').split('-----BEGIN X509 CRL-----');
  if (blocks.length === 0) throw new Error('it holds no revocation list');
  return blocks.flatMap((block) => read(derOf(block)));
}

/** The bytes of a PEM block, from what follows its first line. */
function derOf(block: string): Buffer {
  const end = '-----END X509 CRL-----';
  const length = block.indexOf(end);
  if (length < 0) throw new Error(`it has no line ${end}`);
  const base64 = block.slice(0, length);
  if (/[^A-Za-z0-9+/=\s]/.test(base64)) throw new Error('it is not base64');
  return Buffer.from(base64, 'base64');
}

/** Reads one list (RFC 5280 section 5.1); null for one of another authority. */
function readList(der: Buffer, signers: readonly Signer[]): RevocationList | null {
  const whole = valueAt(der, 0, der.length);
  const [body, ...ending] = valuesIn(der, whole);
  if (whole.to < der.length || ending.length !== 2) throw new Error('something follows it');
  if (body?.tag !== tag.sequence) throw new Error('it is not a revocation list');
  const parts = valuesIn(der, body);
  const afterTimes = parts.findLastIndex(isTime) + 1;
  const [entries] = parts[afterTimes]?.tag === tag.sequence ? parts.splice(afterTimes, 1) : [];
  const extensions = parts.slice(afterTimes);
  if (extensions.length > 1 || extensions.some((each) => each.tag !== tag.extensions))
    throw new Error('its length is wrong');
  const bytesOf = ({ at, to }: DerValue) => der.subarray(at, to);
  const frame = sequence(sequence(...parts.map(bytesOf)), ...ending.map(bytesOf));
  if (frame.length > longestFrame) throw new Error('a part of it is too long');
  const list = CertificateRevocationList.fromBER(frame);
  if (list.nextUpdate === undefined) throw new Error('it does not say when the next one comes');

  const issuer = Buffer.from(list.issuer.valueBeforeDecode).toString('base64');
  const candidates = signers.filter(({ id }) => id.startsWith(`${issuer} `));
  if (candidates.length === 0) return null;
  const hash = signatureHash(list.signature);
  if (hash === null || hash === 'none')
    throw new Error('its signature is too weak, or of a kind that is not supported');
  if (!list.signature.isEqual(list.signatureAlgorithm)) throw new Error('it names two algorithms');
  const critical = list.crlExtensions?.extensions.find((each) => each.critical);
  if (critical !== undefined)
    throw new Error(`it is not a whole list: it has the critical extension ${critical.extnID}`);
  const { unusedBits, valueHexView } = list.signatureValue.valueBlock;
  if (unusedBits !== 0) throw new Error('its signature is malformed');
  const padding = list.signature.algorithmId === rsaPss ? { padding: constants.RSA_PKCS1_PSS_PADDING } : {};
  const signer = candidates.find(({ key }) => verify(hash, bytesOf(body), { key, ...padding }, valueHexView));
  if (signer === undefined) throw new Error('its signature is not that of its authority');
  return {
    authority: signer.id,
    from: list.thisUpdate.value.getTime(),
    to: list.nextUpdate.value.getTime(),
    serials: readEntries(der, entries ?? { from: 0, to: 0 }),
  };
}

function sequence(...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const head = Buffer.from([tag.sequence, 0x83, content.length >> 16, content.length >> 8, content.length]);
  return Buffer.concat([head, content]);
}

const isTime = (value: DerValue) => value.tag === tag.utcTime || value.tag === tag.time;

function readEntries(der: Buffer, { from, to }: Pick<DerValue, 'from' | 'to'>): SerialSet {
  const places: number[] = [];
  let longest = 0;
  for (let at = from; at < to; ) {
    const entry = valueAt(der, at, to);
    const serial = valueAt(der, entry.from, entry.to);
    const time = valueAt(der, serial.to, entry.to);
    const length = serial.to - serial.from;
    const isSerial = serial.tag === tag.integer && length > 0 && length <= longestSerial;
    if (entry.tag !== tag.sequence || !isSerial || !isTime(time))
      throw new Error('an entry of it is malformed');
    if (time.to < entry.to && hasCritical(der, valueAt(der, time.to, entry.to)))
      throw new Error('an entry of it has a critical extension: it is of another authority');
    if (places.push(serial.at) > mostSerials)
      throw new Error(`it has more than ${mostSerials} serial numbers`);
    longest = Math.max(longest, length);
    at = entry.to;
  }
  const width = longest + 1;
  const set = { width, slots: new Uint8Array(width * (2 * places.length + 1)) };
  for (const place of places) {
    const serial = valueAt(der, place, to);
    const record = recordOf(der.subarray(serial.from, serial.to), width);
    set.slots.set(record, slotOf(record, set));
  }
  return set;
}

/** Whether one of the extensions has more than its id before its value: the flag that it is critical. */
const hasCritical = (der: Buffer, extensions: DerValue): boolean =>
  valuesIn(der, extensions).some((extension) => valuesIn(der, extension)[1]?.tag !== tag.octets);

/** What a slot holds for a serial number. */
function recordOf(serial: Uint8Array, width: number): Buffer {
  const record = Buffer.alloc(width);
  record[0] = 1;
  record.set(serial, width - serial.length);
  return record;
}

/** Where the slot begins that holds a record, or the empty one that may. */
function slotOf(record: Buffer, { slots, width }: SerialSet): number {
  let hash = 0x811c9dc5;
  for (const byte of record) hash = Math.imul(hash ^ byte, 0x01000193);
  const count = slots.length / width;
  for (let slot = (hash >>> 0) % count; ; slot = (slot + 1) % count) {
    const at = slot * width;
    if (slots[at] === 0 || record.compare(slots, at, at + width) === 0) return at;
  }
}

/** Whether a list names a serial number in hexadecimal digits. Leading zeros do not count. */
export function isRevoked({ serials }: RevocationList, serial: string): boolean {
  const { slots, width } = serials;
  const bytes = Buffer.from(serial.replace(/^(?:00)+/, ''), 'hex');
  return bytes.length < width && slots[slotOf(recordOf(bytes, width), serials)] === 1;
}

/** A value of DER: its tag, and where it, its content and what follows it begin. */
interface DerValue {
  tag: number;
  at: number;
  from: number;
  to: number;
}

/** The value at `at`, before `end`. Throws where it is cut, or its length is not in its shortest form. */
function valueAt(der: Buffer, at: number, end: number): DerValue {
  if (at + 2 > end) throw new Error('it is cut');
  const first = der[at + 1]!;
  const size = Math.max(0, first - 128);
  if (first === 128 || size > 4) throw new Error('it is not DER');
  const from = at + 2 + size;
  if (from > end) throw new Error('it is cut');
  const length = size === 0 ? first : der.readUIntBE(at + 2, size);
  if (size > 0 && length < Math.max(128, 256 ** (size - 1))) throw new Error('it is not DER');
  if (from + length > end) throw new Error('it is cut');
  return { tag: der[at]!, at, from, to: from + length };
}

/** The values that another one consists of. Throws for more than a list without its entries needs. */
function valuesIn(der: Buffer, { from, to }: DerValue): DerValue[] {
  const values: DerValue[] = [];
  for (let at = from; at < to; at = values.at(-1)!.to)
    if (values.push(valueAt(der, at, to)) > mostValues) throw new Error('it has too many parts');
  return values;
}
