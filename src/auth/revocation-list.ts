import { constants, createVerify, type KeyObject, type Verify } from 'node:crypto';
import { open } from 'node:fs/promises';
import { AlgorithmIdentifier, CertificateRevocationList } from 'pkijs';
import { type SignatureKind, signatureKind } from './certificate-facts.ts';
import {
  bytesOf,
  createDerReader,
  type DerReader,
  type NextBytes,
  pemBlocks,
  readHead,
} from './der-stream.ts';
import { createSerialSet, type SerialSet } from './serial-set.ts';

/** A revocation list whose signature is that of an authority. Times are milliseconds since 1970. */
export interface RevocationList {
  /** The authority that signed it. */
  authority: Signer;
  from: number;
  to: number;
  serials: SerialSet;
}

/** An authority that may sign revocation lists. */
export interface Signer {
  id: string;
  /** Its name, as base64 of the DER. */
  name: string;
  key: KeyObject;
}

const mostBytes = 256 * 1024 * 1024;
const mostSerials = 4_000_000;
const longestPart = 64 * 1024;
/** The bytes of the shortest entry: a serial number of one byte, and a time. */
const shortestEntry = 20;
const tag = { sequence: 0x30, integer: 0x02, utcTime: 0x17, time: 0x18, extensions: 0xa0, bits: 0x03 };

/**
 * The revocation lists of a file, PEM (one or more) or DER, that one of `signers` signed; others are left out. The list
 * of serial numbers is read in pieces, because no library reads a million of them within memory and time; all around it
 * is read by pkijs. Throws `Error` with a reason for a file that holds anything else, and for a wrong signature.
 */
export async function readRevocationLists(
  path: string,
  signers: readonly Signer[],
): Promise<RevocationList[]> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > mostBytes) throw new Error(`it has more than ${mostBytes} bytes`);
    const next = bytesOf(file);
    const first = await next();
    if (first === null) throw new Error('it is empty');
    let isFirst = true;
    const all: NextBytes = async () => {
      if (!isFirst) return next();
      isFirst = false;
      return first;
    };
    const lists: (RevocationList | null)[] = [];
    if (first[0] === tag.sequence) lists.push(await readList(all, signers));
    else
      for await (const block of pemBlocks(all, 'X509 CRL')) {
        lists.push(await readList(block, signers));
        if (lists.at(-1) === null) while ((await block()) !== null);
      }
    if (lists.length === 0) throw new Error('it holds no revocation list');
    return lists.filter((list) => list !== null);
  } finally {
    await file.close();
  }
}

interface Head {
  parts: Buffer[];
  kind: SignatureKind | null;
  issuer: string;
  algorithm: Buffer;
}

/** Reads one list to its end; null, and not to its end, for one of another authority. */
async function readList(next: NextBytes, signers: readonly Signer[]): Promise<RevocationList | null> {
  let verifiers: { signer: Signer; verify: Verify }[] | null = null;
  let before: Uint8Array[] = [];
  let isSigned = false;
  const reader = createDerReader(next, (bytes) => {
    if (!isSigned) return;
    if (verifiers === null) before.push(bytes.slice());
    else for (const { verify } of verifiers) verify.update(bytes);
  });
  const whole = await reader.open();
  isSigned = true;
  const body = await reader.open();
  if (whole.tag !== tag.sequence || body.tag !== tag.sequence) throw new Error('it is not a revocation list');
  const { parts, kind, issuer, algorithm } = await readStart(reader);
  const candidates = signers.filter(({ name }) => name === issuer);
  if (candidates.length === 0) return null;
  if (kind?.hash == null) throw new Error('its signature is too weak, or of a kind that is not supported');
  const { hash, pss } = kind;
  verifiers = candidates.map((signer) => ({ signer, verify: createVerify(hash) }));
  for (const { verify } of verifiers) for (const bytes of before) verify.update(bytes);
  before = [];

  const serials = (await reader.tag()) === tag.sequence ? await readEntries(reader) : createSerialSet(0);
  if (reader.place() < body.to && (await reader.tag()) === tag.extensions)
    parts.push(await reader.whole(longestPart));
  if (reader.place() !== body.to) throw new Error('its length is wrong');
  isSigned = false;
  const stated = await reader.whole(longestPart);
  const signature = await reader.whole(longestPart);
  if (!stated.equals(algorithm)) throw new Error('it names two algorithms');
  if (reader.place() !== whole.to || !(await reader.isAtEnd())) throw new Error('something follows it');
  const { from, to, bytes } = readRest(parts, algorithm, signature);
  const padding = pss ? { padding: constants.RSA_PKCS1_PSS_PADDING } : {};
  const signer = verifiers.find(({ signer: { key }, verify }) => verify.verify({ key, ...padding }, bytes));
  if (signer === undefined) throw new Error('its signature is not that of its authority');
  return { authority: signer.signer, from, to, serials };
}

/** What stands before the serial numbers: version, algorithm, issuer and times. */
async function readStart(reader: DerReader): Promise<Head> {
  const parts: Buffer[] = [];
  if ((await reader.tag()) === tag.integer) parts.push(await reader.whole(longestPart));
  const algorithm = await reader.whole(longestPart);
  const issuer = await reader.whole(longestPart);
  parts.push(algorithm, issuer, await reader.whole(longestPart));
  const following = await reader.tag();
  if (following === tag.utcTime || following === tag.time) parts.push(await reader.whole(longestPart));
  else throw new Error('it does not say when the next one comes');
  const kind = signatureKind(AlgorithmIdentifier.fromBER(new Uint8Array(algorithm)));
  return { parts, kind, issuer: issuer.toString('base64'), algorithm };
}

/** Reads the list without its serial numbers, by pkijs. Throws for a critical extension: it is then a part of a list. */
function readRest(parts: Buffer[], algorithm: Buffer, signature: Buffer) {
  const list = CertificateRevocationList.fromBER(
    new Uint8Array(sequence(sequence(...parts), algorithm, signature)),
  );
  const critical = list.crlExtensions?.extensions.find((each) => each.critical);
  if (critical !== undefined)
    throw new Error(`it is not a whole list: it has the critical extension ${critical.extnID}`);
  const { unusedBits, valueHexView } = list.signatureValue.valueBlock;
  if (unusedBits !== 0) throw new Error('its signature is malformed');
  return {
    from: list.thisUpdate.value.getTime(),
    to: list.nextUpdate!.value.getTime(),
    bytes: Buffer.from(valueHexView),
  };
}

function sequence(...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const head = Buffer.from([tag.sequence, 0x83, content.length >> 16, content.length >> 8, content.length]);
  return Buffer.concat([head, content]);
}

/** Reads the entries of a list, one turn of the event loop for each piece of the file. */
async function readEntries(reader: DerReader): Promise<SerialSet> {
  const { from, to } = await reader.open();
  const serials = createSerialSet(Math.min(mostSerials, Math.ceil((to - from) / shortestEntry)));
  while (reader.place() < to) {
    const { buffer, at } = reader.here();
    const end = Math.min(buffer.length, at + to - reader.place());
    const read = readWhole(buffer, at, end, serials);
    if (serials.size() >= mostSerials) throw new Error(`it has more than ${mostSerials} serial numbers`);
    reader.pass(read - at);
    // An entry is cut here: at least one more byte must come, within the bound of an entry.
    const rest = reader.here().buffer.length - read;
    if (reader.place() < to && (rest > longestPart || (await reader.fill(rest + 1)) <= rest))
      throw new Error('it is cut');
  }
  return serials;
}

/** Reads the entries that are whole between `at` and `end`; gives where the first cut one begins. */
function readWhole(buffer: Uint8Array, at: number, end: number, serials: SerialSet): number {
  for (let start = at; ; ) {
    const entry = readHead(buffer, start);
    if (entry === null || entry.from + entry.length > end) return start;
    const serial = readHead(buffer, entry.from);
    if (entry.tag !== tag.sequence || serial?.tag !== tag.integer || serial.length < 1 || serial.length > 40)
      throw new Error('an entry of it is malformed');
    let first = serial.from;
    const last = serial.from + serial.length;
    while (first < last - 1 && buffer[first] === 0) first++;
    const next = entry.from + entry.length;
    const time = readHead(buffer, last);
    if (
      time === null ||
      (time.tag !== tag.utcTime && time.tag !== tag.time) ||
      time.from + time.length > next
    )
      throw new Error('an entry of it is malformed');
    if (time.from + time.length < next && hasCritical(buffer, time.from + time.length, next))
      throw new Error('an entry of it has a critical extension: it is of another authority');
    serials.add(buffer, first, last);
    start = next;
  }
}

/** Whether the extensions of an entry hold a critical one: an object identifier, then TRUE. */
function hasCritical(buffer: Uint8Array, at: number, end: number): boolean {
  const all = readHead(buffer, at);
  for (let start = all?.from ?? end; start < end; ) {
    const extension = readHead(buffer, start);
    const id = extension === null ? null : readHead(buffer, extension.from);
    if (extension === null || id === null) return true;
    const value = readHead(buffer, id.from + id.length);
    if (value === null || value.tag === 0x01) return true;
    start = extension.from + extension.length;
  }
  return false;
}
