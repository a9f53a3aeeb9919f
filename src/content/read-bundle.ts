import { CommandError } from '../base/errors.ts';
import {
  bytesBefore,
  crcOf,
  directory,
  localHeader,
  type Member,
  sizeOfZip,
  statedBytes,
} from '../base/zip.ts';
import { freeBytes } from '../db/copy.ts';
import {
  bundleId,
  largestContent,
  longestManifest,
  type Manifest,
  memberOf,
  readManifest,
} from './manifest.ts';
import { openPieces, type PieceReader } from './pieces.ts';
import { isSignedBy } from './signing-keys.ts';
import { isSource } from './sources.ts';
import { damaged, placeOf, readPart } from './unpack.ts';

/** A key whose signature is taken, and the channel that it may sign; the `name` null is one given on the command line. */
export interface TrustedKey {
  name: string | null;
  /** Null: any channel. */
  channel: string | null;
  fingerprint: string;
  /** PEM. */
  publicKey: string;
}

/** A bundle of which everything was checked that can be checked without the catalog of this site. */
export interface VerifiedBundle {
  file: string;
  /** SHA-256 over manifest.json: the very bundle. */
  id: string;
  bytes: number;
  manifest: Manifest;
  signer: TrustedKey;
  /** A line for each thing that stops nothing: it expired, it is from the future. */
  warnings: string[];
  /** Where each part of the manifest was unpacked to, in that order; empty without `unpackTo`. */
  unpacked: string[];
}

/** The members that stand before the parts. */
export const manifestName = 'manifest.json';
export const signatureName = 'manifest.sig';
/** A P-384 signature in DER has 104 bytes at most. */
export const longestSignature = 104;

/**
 * Opens a bundle (of several pieces: the first, or the name without its number) and checks it in one pass: signature and
 * channel before anything else of it is believed, then every byte. With `unpackTo`, a folder that is ours alone, its parts
 * are unpacked there meanwhile (`catalog.db`, or `<SHA-256 of the source>/<file>`, mode 0600), of use only once this function returned.
 * Throws `CommandError` with one line.
 */
export async function readBundle(
  file: string,
  keys: TrustedKey[],
  { now, unpackTo }: { now: Date; unpackTo?: string },
): Promise<VerifiedBundle> {
  using reader = openPieces(file);
  const { members, bytes, signature } = readFront(reader);
  const signers = signersOf(reader.name, keys, bytes, signature);
  const manifest = readManifest(bytes, reader.name);
  const signer = requireChannel(reader.name, signers, manifest.channel);
  requireSize(reader, members, manifest);
  if (unpackTo !== undefined) requireRoom(reader.name, manifest, unpackTo);

  const unpacked: string[] = [];
  const hashes: string[] = [];
  for (const [index, part] of manifest.parts.entries()) {
    const name = memberOf(part, index);
    const place = unpackTo === undefined ? null : placeOf(unpackTo, part);
    const read = await readPart(reader, name, part, place);
    members.push(read.member);
    hashes.push(read.sha256);
    if (place !== null) unpacked.push(place);
  }
  requireSources(reader.name, manifest, hashes);
  const tail = directory(members);
  if (!reader.read(tail.length).equals(tail)) throw damaged(reader.name, 'its directory is another one');
  return {
    file,
    id: bundleId(bytes),
    bytes: reader.size,
    manifest,
    signer,
    warnings: warningsOf(manifest, now),
    unpacked,
  };
}

/** The manifest of a bundle whose signature nobody looks at: what a difference is built against. Throws `CommandError`. */
export function readUnverified(file: string): { id: string; manifest: Manifest } {
  using reader = openPieces(file);
  const { bytes } = readFront(reader);
  return { id: bundleId(bytes), manifest: readManifest(bytes, reader.name) };
}

/** The first two members, each within its bound. */
export function readFront(reader: PieceReader): { members: Member[]; bytes: Buffer; signature: Buffer } {
  const members: Member[] = [];
  const read = (name: string, longest: number): Buffer => {
    const header = reader.read(bytesBefore({ name }));
    const length = statedBytes(header);
    if (header.readUInt32LE(0) !== 0x04034b50 || header.toString('latin1', 30) !== name || length > longest)
      throw new CommandError(`${reader.name} is no bundle of Gapstone`);
    const content = reader.read(length);
    const member = { name, bytes: length, crc: crcOf(content) };
    if (!localHeader(member).equals(header)) throw damaged(reader.name, `${name} is not as it was written`);
    members.push(member);
    return content;
  };
  const bytes = read(manifestName, longestManifest);
  return { members, bytes, signature: read(signatureName, longestSignature) };
}

/** The keys that the signature is of. */
function signersOf(name: string, keys: TrustedKey[], bytes: Buffer, signature: Buffer): TrustedKey[] {
  if (signature.length === 0)
    throw new CommandError(`${name} is not signed: add a signature with "gapstone content attach"`);
  if (keys.length === 0)
    throw new CommandError('this site trusts no key yet: add one with "gapstone content trust add"');
  const signers = keys.filter(({ publicKey }) => isSignedBy(publicKey, bytes, signature));
  if (signers.length === 0)
    throw new CommandError(
      `${name} is refused: its manifest is not signed by ${keys.map(nameOf).join(' or ')}, or was changed`,
    );
  return signers;
}

const nameOf = ({ name, fingerprint }: TrustedKey) => name ?? `the key ${fingerprint.slice(0, 12)}`;

function requireChannel(name: string, signers: TrustedKey[], channel: string): TrustedKey {
  const signer = signers.find((each) => each.channel === null || each.channel === channel);
  if (signer) return signer;
  const may = signers.map((each) => `${nameOf(each)} may sign ${each.channel}`).join(', ');
  throw new CommandError(`${name} is refused: it is of the channel ${channel}, but ${may}`);
}

/** What follows the front has the size that the manifest states, to the byte. */
function requireSize(reader: PieceReader, front: Member[], { parts }: Manifest): void {
  const wanted = sizeOfZip([
    ...front,
    ...parts.map((part, index) => ({ name: memberOf(part, index), bytes: part.bytes })),
  ]);
  const { name, size, pieces } = reader;
  if (size === wanted) return;
  const where = pieces === 0 ? '' : ` in ${pieces} pieces, of which one may be missing or be another's`;
  throw new CommandError(`${name} is refused: it has ${size} bytes${where}; its manifest says ${wanted}`);
}

function requireRoom(name: string, { parts }: Manifest, folder: string): void {
  const needed = parts.reduce((sum, { unpacked }) => sum + unpacked, 0);
  const free = freeBytes(folder);
  if (needed > largestContent) throw new CommandError(`${name} is refused: it unpacks to ${needed} bytes`);
  if (free < needed)
    throw new CommandError(
      `there is not enough space for ${name}: it needs ${needed} bytes, ${free} are free`,
    );
}

/** Each source that is in the bundle is one of the catalog, and is the very one. */
function requireSources(name: string, { parts, sources }: Manifest, hashes: string[]): void {
  const files = new Map<string, { name: string; sha256: string }[]>();
  for (const [index, part] of parts.entries()) {
    if (part.kind !== 'source') continue;
    files.set(part.source, [...(files.get(part.source) ?? []), { name: part.file, sha256: hashes[index]! }]);
  }
  const known = new Set(sources.map((source) => source.sha256));
  for (const [source, held] of files)
    if (!known.has(source) || !isSource(source, held))
      throw damaged(name, `it holds something else as the source ${source}`);
}

function warningsOf({ expiresAt, builtAt }: Manifest, now: Date): string[] {
  const time = now.toISOString();
  const warnings = [];
  if (expiresAt !== null && Date.parse(expiresAt) < now.getTime())
    warnings.push(`the bundle expired at ${expiresAt}; by the clock of this machine it is ${time}`);
  if (Date.parse(builtAt) > now.getTime())
    warnings.push(`the bundle was built at ${builtAt}; by the clock of this machine it is ${time}`);
  return warnings;
}
