import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdDecompress } from 'node:zlib';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { CommandError } from '../base/errors.ts';
import { isThere, statIfThere, syncPath, whyRefused } from '../base/files.ts';
import { sha256 } from '../base/ids.ts';
import { connectReadOnly } from '../db/connect.ts';
import { requireBytes, seal } from '../db/copy.ts';
import { digestOf, storedDigest } from '../db/digest.ts';
import { newestSchema } from '../db/schema.ts';
import { windowLog } from './bundle.ts';
import {
  catalogName,
  longestManifest,
  longestSignature,
  type Manifest,
  manifestName,
  readManifest,
  signatureName,
} from './manifest.ts';
import { isSignedBy } from './signing-keys.ts';

/** A trusted key and the channel that it may sign; `name` is null for a key of the command line. */
export interface TrustedKey {
  name: string | null;
  /** Null: any channel. */
  channel: string | null;
  fingerprint: string;
  /** PEM. */
  publicKey: string;
}

/** A bundle that passed every check which needs no other catalog. */
export interface VerifiedBundle {
  file: string;
  /** SHA-256 over manifest.json. */
  id: string;
  bytes: number;
  manifest: Manifest;
  signer: TrustedKey;
  /** Problems that are no errors, a line each: expired, or built in the future. */
  warnings: string[];
}

/**
 * Reads and checks a bundle: signature and channel before anything else is trusted, then every byte of the catalog.
 * `unpackTo`, where given, is the file that the catalog is unpacked to (mode 0600): do not use it before this function
 * returned. Throws `CommandError` with one line.
 */
export async function readBundle(
  file: string,
  keys: TrustedKey[],
  { now, unpackTo }: { now: Date; unpackTo?: string },
): Promise<VerifiedBundle> {
  const zip = await openZip(file);
  try {
    const [first, second, third, ...others] = await orNoBundle(file, () => firstEntries(zip));
    const front = (entry: Entry | undefined, name: string, longest: number) =>
      orNoBundle(file, () => readFront(zip, entry, name, longest));
    const bytes = await front(first, manifestName, longestManifest);
    const signature = await front(second, signatureName, longestSignature);
    const signers = signersOf(file, keys, bytes, signature);
    const manifest = readManifest(bytes, file);
    const signer = requireChannel(file, signers, manifest.channel);
    const [part] = manifest.parts;
    if (!isStored(third, catalogName) || third.uncompressedSize !== part.bytes || others.length > 0)
      throw damaged(file, 'it does not contain what its manifest says');
    if (unpackTo !== undefined) requireBytes(file, part.unpacked, join(unpackTo, '..'));
    await readCatalog(zip, file, third, part, unpackTo);
    return {
      file,
      id: sha256(bytes),
      bytes: statIfThere(file)!.size,
      manifest,
      signer,
      warnings: warningsOf(manifest, now),
    };
  } finally {
    zip.close();
  }
}

async function openZip(file: string): Promise<ZipFile> {
  if (!isThere(file) && isThere(`${file}.001`)) throw isPiece(file);
  try {
    // Opening a pipe would block.
    if (statIfThere(file)?.isFile() === false) throw new CommandError(`${file} is not a file`);
    return await yauzl.openPromise(file, { autoClose: false, strictFileNames: true });
  } catch (error) {
    if (error instanceof CommandError) throw error;
    if ((error as NodeJS.ErrnoException).code === undefined) throw noBundle(file);
    throw new CommandError(`${file} cannot be read: ${whyRefused(file, error)}`);
  }
}

async function orNoBundle<T>(file: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch {
    throw noBundle(file);
  }
}

const noBundle = (file: string) =>
  /\.\d{3}$/.test(file) ? isPiece(file) : new CommandError(`${file} is no bundle of Gapstone`);

const isPiece = (file: string) =>
  damaged(file, 'it is a piece of a split bundle. Join all pieces to one file first (cat, copy /b)');

/** The entries of a zip, of many the first four. */
async function firstEntries(zip: ZipFile): Promise<Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of zip.eachEntry()) if (entries.push(entry) > 3) break;
  return entries;
}

const isStored = (entry: Entry | undefined, name: string): entry is Entry =>
  entry?.fileName === name && entry.compressionMethod === 0 && !entry.isEncrypted();

/** Reads one of the members before the catalog. */
async function readFront(
  zip: ZipFile,
  entry: Entry | undefined,
  name: string,
  longest: number,
): Promise<Buffer> {
  if (!isStored(entry, name) || entry.uncompressedSize > longest) throw new Error(`no ${name}`);
  return buffer(await zip.openReadStreamPromise(entry));
}

function signersOf(file: string, keys: TrustedKey[], bytes: Buffer, signature: Buffer): TrustedKey[] {
  if (signature.length === 0) throw damaged(file, 'it is not signed');
  if (keys.length === 0)
    throw new CommandError('this site trusts no key yet: add one with "gapstone content trust add"');
  const signers = keys.filter(({ publicKey }) => isSignedBy(publicKey, bytes, signature));
  if (signers.length === 0)
    throw damaged(file, `its manifest is not signed by ${keys.map(nameOf).join(' or ')}, or was changed`);
  return signers;
}

const nameOf = ({ name, fingerprint }: TrustedKey) => name ?? `the key ${fingerprint.slice(0, 12)}`;

function requireChannel(file: string, signers: TrustedKey[], channel: string): TrustedKey {
  const signer = signers.find((each) => each.channel === null || each.channel === channel);
  if (signer) return signer;
  const may = signers.map((each) => `${nameOf(each)} may sign ${each.channel}`).join(', ');
  throw damaged(file, `it is of the channel ${channel}, but ${may}`);
}

/** Reads the compressed catalog, checks it, and unpacks it to a file, where one is given. */
async function readCatalog(
  zip: ZipFile,
  file: string,
  entry: Entry,
  part: Manifest['parts'][0],
  unpackTo: string | undefined,
): Promise<void> {
  const hash = createHash('sha256');
  let unpacked = 0;
  const hashed = inspected((chunk) => hash.update(chunk));
  const counted = inspected((chunk) => {
    unpacked += chunk.length;
    if (unpacked > part.unpacked) throw damaged(file, 'its catalog has more bytes than the manifest says');
  });
  const decompressor = createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: windowLog } });
  const to = unpackTo === undefined ? drain : createWriteStream(unpackTo, { flags: 'wx', mode: 0o600 });
  try {
    await pipeline(await zip.openReadStreamPromise(entry), hashed, decompressor, counted, to);
  } catch (error) {
    if (error instanceof CommandError || (error as NodeJS.ErrnoException).syscall !== undefined) throw error;
    throw damaged(file, 'its catalog cannot be unpacked');
  }
  if (hash.digest('hex') !== part.sha256)
    throw damaged(file, 'its catalog does not have the SHA-256 that the manifest states');
  if (unpacked !== part.unpacked) throw damaged(file, 'its catalog has fewer bytes than the manifest says');
  if (unpackTo !== undefined) syncPath(unpackTo);
}

/** A step of a pipeline that passes on each chunk after a function has seen it. */
function inspected(look: (chunk: Buffer) => void) {
  return async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      look(chunk);
      yield chunk;
    }
  };
}

async function drain(chunks: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of chunks);
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

const damaged = (file: string, why: string) => new CommandError(`${file} is refused: ${why}`);

/**
 * Checks the catalog that a bundle was unpacked to: its schema is the one of this version, and its digest the signed
 * one. Throws `CommandError`.
 */
export function requireCatalog({ file, manifest }: VerifiedBundle, catalog: string): void {
  const newest = newestSchema('catalog');
  if (manifest.schema !== newest)
    throw new CommandError(
      `${file} holds a catalog of schema ${manifest.schema}, this version of Gapstone needs ${newest}: ` +
        (manifest.schema > newest ? 'use a newer Gapstone' : 'have it built again by this version'),
    );
  // The signature covers the bytes, so checking the schema is enough; the digest then reads all content.
  const { kind, schema } = seal(catalog, 'schema', file);
  if (kind !== 'catalog' || schema !== newest)
    throw new CommandError(`${file} does not contain the catalog that its manifest describes`);
  using sqlite = connectReadOnly(catalog, 'catalog');
  const digest = digestOf(sqlite);
  if (digest !== manifest.digest)
    throw new CommandError(
      `${file} gives a catalog of the digest ${digest}, its manifest says ${manifest.digest}: nothing was changed`,
    );
  const stored = storedDigest(sqlite);
  if (stored !== null && stored !== digest)
    throw new CommandError(
      `${file} holds a catalog with the stored digest ${stored}, and its digest is ${digest}: nothing was changed`,
    );
}
