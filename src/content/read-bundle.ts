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
import { requireBytes } from '../db/copy.ts';
import {
  bundleId,
  largestContent,
  longestManifest,
  type Manifest,
  memberOf,
  readManifest,
} from './manifest.ts';
import { openPieces, type PieceReader } from './pieces.ts';
import { isSignedBy, type PublicKey } from './signing-keys.ts';
import { isSource } from './sources.ts';
import { damaged, placeOf, readPart } from './unpack.ts';

/** A trusted key and the channel that it may sign; `name` is null for a key of the command line. */
export interface TrustedKey extends PublicKey {
  name: string | null;
  /** Null: any channel. */
  channel: string | null;
}

/** A bundle that passed every check which needs no catalog. */
export type VerifiedBundle = Awaited<ReturnType<typeof readBundle>>;

/** The members before the parts. */
export const manifestName = 'manifest.json';
export const signatureName = 'manifest.sig';
/** The most bytes of a P-384 signature in DER. */
export const longestSignature = 104;

/**
 * Reads and checks a bundle in one pass (`file`: the name with or without the first piece's number): signature and
 * channel before anything else is trusted, then every byte. With `unpackTo`, a private folder, it also unpacks the
 * parts (`catalog.db`, or `<SHA-256 of the source>/<file>`, mode 0600); do not use them before this function returned.
 * Throws `CommandError` with one line.
 */
export async function readBundle(
  file: string,
  keys: TrustedKey[],
  { now, unpackTo }: { now: Date; unpackTo?: string },
) {
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
    /** Problems that are no errors, a line each: expired, or built in the future. */
    warnings: warningsOf(manifest, now),
    /** The unpacked files, in the order of the manifest's parts; empty without `unpackTo`. */
    unpacked,
  };
}

/** The manifest of a bundle as the base of a difference, without checking its signature. Throws `CommandError`. */
export function readUnverified(file: string): { id: string; manifest: Manifest } {
  using reader = openPieces(file);
  const { bytes } = readFront(reader);
  return { id: bundleId(bytes), manifest: readManifest(bytes, reader.name) };
}

/** Reads the first two members, each with a size limit. */
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
  if (needed > largestContent) throw new CommandError(`${name} is refused: it unpacks to ${needed} bytes`);
  requireBytes(name, needed, folder);
}

/** Each source of the bundle must be one of the catalog, with the right content. */
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

function warningsOf({ expiresAt, builtAt }: Manifest, now: Date) {
  const time = now.toISOString();
  const warnings = [];
  if (expiresAt !== null && Date.parse(expiresAt) < now.getTime())
    warnings.push(`the bundle expired at ${expiresAt}; by the clock of this machine it is ${time}`);
  if (Date.parse(builtAt) > now.getTime())
    warnings.push(`the bundle was built at ${builtAt}; by the clock of this machine it is ${time}`);
  return warnings;
}
