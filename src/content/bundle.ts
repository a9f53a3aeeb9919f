import type { KeyObject } from 'node:crypto';
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CommandError } from '../base/errors.ts';
import { inPrivateFolder } from '../base/files.ts';
import { packageVersion } from '../base/root.ts';
import { compareCodePoints, printable } from '../base/text.ts';
import { crcOf, directory, localHeader, type Member, sizeOfZip } from '../base/zip.ts';
import { connectReadOnly } from '../db/connect.ts';
import { asCopyError } from '../db/copy.ts';
import { digestOf } from '../db/digest.ts';
import { newestSchema } from '../db/schema.ts';
import { writeCanonical } from './canonical.ts';
import { compressor, createCounter } from './compress.ts';
import { bundleId, largestBundle, type Manifest, manifestBytes, memberOf, type Part } from './manifest.ts';
import { createPieces, refuseTakenPieces } from './pieces.ts';
import { manifestName, readUnverified, signatureName } from './read-bundle.ts';
import { sign } from './signing-keys.ts';
import { findSources } from './sources.ts';

export interface BuildOptions {
  channel: string;
  sequence: number;
  /** Recorded as the time of the build: the same catalog, key and time give the same bytes. */
  time: Date;
  expires: Date | null;
  /** Null for a bundle that is signed elsewhere. */
  key: KeyObject | null;
  /** Bytes of each piece; null for one file. */
  split: number | null;
  /** A bundle whose catalog the other side has, and the paths to search for the sources that it lacks. */
  since: { bundle: string; sources: string[] } | null;
}

export interface Built {
  /** The file, or its pieces in order. */
  files: string[];
  bytes: number;
  id: string;
  manifest: Manifest;
}

interface Packed {
  file: string;
  part: Part;
  crc: number;
}

/**
 * Builds a bundle of a whole catalog, or of the sources that another bundle lacks (rule D32.2). Reads one state of the
 * catalog. Throws `CommandError`, and then leaves no file behind.
 */
export async function buildBundle(catalog: string, out: string, options: BuildOptions): Promise<Built> {
  refuseTakenPieces(out);
  const { since, time } = options;
  try {
    return await inPrivateFolder(out, async (temporary) => {
      const folder = dirname(temporary);
      const state = readState(catalog);
      const base = since === null ? null : readUnverified(since.bundle);
      const packed =
        base === null
          ? [await packCatalog(catalog, state.digest, time, folder)]
          : await packSources(since!.sources, lacking(state, base.manifest), folder);
      const manifest: Manifest = {
        format: 'gapstone-bundle-1',
        channel: options.channel,
        sequence: options.sequence,
        builtAt: time.toISOString(),
        expiresAt: options.expires?.toISOString() ?? null,
        version: packageVersion,
        schema: newestSchema('catalog'),
        digest: state.digest,
        before: base === null ? null : baseOf(base),
        sources: state.sources,
        overrides: state.overrides,
        parts: packed.map(({ part }) => part),
      };
      const bytes = manifestBytes(manifest);
      const signature = options.key === null ? Buffer.alloc(0) : sign(bytes, options.key);
      const files = await writeZip(temporary, out, bytes, signature, packed, options.split);
      return {
        files,
        bytes: files.reduce((sum, file) => sum + statSync(file).size, 0),
        id: bundleId(bytes),
        manifest,
      };
    });
  } catch (error) {
    throw asCopyError(out, error as NodeJS.ErrnoException);
  }
}

const baseOf = ({ id, manifest }: ReturnType<typeof readUnverified>) => ({
  digest: manifest.digest,
  bundle: id,
  channel: manifest.channel,
  sequence: manifest.sequence,
});

type State = Pick<Manifest, 'digest' | 'sources' | 'overrides'>;

function readState(catalog: string): State {
  using sqlite = connectReadOnly(catalog, 'catalog', { checkUnclean: true });
  sqlite.exec('BEGIN');
  return {
    digest: digestOf(sqlite),
    sources: sqlite
      .prepare<[], State['sources'][0]>('SELECT sha256, kind, target FROM sources ORDER BY sha256')
      .all()
      .map((source) => ({ ...source, target: source.target && printable(source.target, 300) })),
    overrides: sqlite
      .prepare<[], State['overrides'][0]>(
        'SELECT benchmark_id AS benchmarkId, slug FROM stig_overrides ORDER BY benchmark_id',
      )
      .all(),
  };
}

/** The sources that a base lacks: hash to name for messages. */
function lacking({ digest, sources }: State, base: Manifest): Map<string, string> {
  if (digest === base.digest)
    throw new CommandError('the bundle of --since has this very catalog: there is no difference');
  const known = new Set(base.sources.map(({ sha256 }) => sha256));
  return new Map(
    sources
      .filter(({ sha256 }) => !known.has(sha256))
      .map(({ sha256, kind, target }) => [sha256, target ?? kind]),
  );
}

async function packCatalog(catalog: string, digest: string, time: Date, folder: string): Promise<Packed> {
  const file = join(folder, 'catalog.db');
  if (writeCanonical(catalog, file, time.toISOString()) !== digest)
    throw new CommandError(`${catalog} was changed while the bundle was built: build it again`);
  const { size } = statSync(file);
  const to = `${file}.zst`;
  return pack(createReadStream(file), size, to, (packed) => ({ kind: 'catalog', ...packed }));
}

async function packSources(paths: string[], wanted: Map<string, string>, folder: string): Promise<Packed[]> {
  const packed: Packed[] = [];
  await findSources(paths, wanted, async ({ source, file, bytes }) => {
    const to = join(folder, `source-${packed.length}.zst`);
    const from = Readable.from([bytes], { objectMode: false });
    packed.push(await pack(from, bytes.length, to, (rest) => ({ kind: 'source', source, file, ...rest })));
  });
  const key = ({ part }: Packed) => (part.kind === 'source' ? `${part.source} ${part.file}` : '');
  // Sort, because the bytes must not depend on where the sources were found.
  return packed.sort((a, b) => compareCodePoints(key(a), key(b)));
}

async function pack(
  from: Readable,
  unpacked: number,
  file: string,
  partOf: (packed: Pick<Part, 'bytes' | 'sha256' | 'unpacked'>) => Part,
): Promise<Packed> {
  const packed = createCounter();
  const to = createWriteStream(file, { flags: 'wx', mode: 0o600 });
  await pipeline(from, compressor(unpacked) as Transform, packed.stream, to);
  const { crc, ...rest } = packed.totals();
  return { file, crc, part: partOf({ ...rest, unpacked }) };
}

/** Writes the zip: manifest, signature, then the parts in order. Gives the names of its pieces. */
async function writeZip(
  temporary: string,
  out: string,
  manifest: Buffer,
  signature: Buffer,
  packed: Packed[],
  split: number | null,
): Promise<string[]> {
  const front = [
    { name: manifestName, content: manifest },
    { name: signatureName, content: signature },
  ].map(({ name, content }) => ({ name, content, bytes: content.length, crc: crcOf(content) }));
  const parts = packed.map(({ part, crc, file }, index) => ({
    name: memberOf(part, index),
    ...{ bytes: part.bytes, crc, file },
  }));
  const members: Member[] = [...front, ...parts];
  const size = sizeOfZip(members);
  if (size > largestBundle)
    throw new CommandError(
      `the bundle would have ${size} bytes: more than ${largestBundle} are too many for a zip`,
    );
  const pieces = createPieces(temporary, split);
  for (const member of front) {
    pieces.write(localHeader(member));
    pieces.write(member.content);
  }
  for (const member of parts) {
    pieces.write(localHeader(member));
    for await (const chunk of createReadStream(member.file)) pieces.write(chunk as Buffer);
  }
  pieces.write(directory(members));
  return pieces.publish(out);
}
