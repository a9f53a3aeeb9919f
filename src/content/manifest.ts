import { z } from 'zod';
import { CommandError } from '../base/errors.ts';
import { sha256 } from '../base/ids.ts';
import { largestZip } from '../base/zip.ts';

/** What is signed: a list of names, sizes and hashes, and no more than that. */
export const longestManifest = 16 * 1024 * 1024;
/** A bundle is one zip without the extensions for large ones. */
export const largestBundle = largestZip;
/** What a bundle may unpack to; as much as the archives of one import (rule S2.4). */
export const largestContent = 8 * 1024 * 1024 * 1024;

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const size = z.int().min(0).max(largestContent);
const line = z
  .string()
  .min(1)
  .max(1024)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u);
/** The name of a file in a folder that we made: none that leads out of it, or that a system takes for something else. */
const fileName = line
  .max(200)
  .regex(/^[^./\\:*?"<>|][^/\\:*?"<>|]*$/u)
  .regex(/[^. ]$/);

/** What a channel may be called. */
export const channelName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    'must be 1 to 64 of a-z, 0-9, dot, hyphen and underscore, and begin with a letter or a digit',
  );

/** The channel of whoever names none. */
export const defaultChannel = 'main';

/** One member of the zip, compressed with Zstandard; `bytes` and `sha256` of what is in the zip, `unpacked` the bytes of what it holds. */
const part = { bytes: size.min(1), sha256: hash, unpacked: size };

const fields = z.strictObject({
  format: z.literal('gapstone-bundle-1'),
  channel: channelName,
  sequence: z.int().min(1),
  builtAt: z.iso.datetime(),
  /** A warning comes after it; it stops nothing: clocks of enclaves are wrong. */
  expiresAt: z.iso.datetime().nullable(),
  /** Of the Gapstone that built it. */
  version: line.max(64),
  /** Of the catalog: the number of its last migration. */
  schema: z.int().min(1),
  /** Of the catalog that is there once the bundle is applied. */
  digest: hash,
  /** Of the catalog that a difference is to be applied to; null of a whole one. */
  before: z.strictObject({ digest: hash, bundle: hash }).nullable(),
  /** All sources of the catalog afterwards, by hash. */
  sources: z.array(z.strictObject({ sha256: hash, kind: line, target: line.nullable() })).max(1_000_000),
  /** All slug overrides of the catalog afterwards, by benchmark id. */
  overrides: z.array(z.strictObject({ benchmarkId: line, slug: line })).max(100_000),
  parts: z
    .array(
      z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('catalog'), ...part }),
        /** A file of a source that the other side lacks; `source` is the hash of the source, which may have several files. */
        z.strictObject({ kind: z.literal('source'), source: hash, file: fileName, ...part }),
      ]),
    )
    .max(60_000),
});

/** `manifest.json` of a bundle (rule D32.2): everything that its signature speaks for. */
export const Manifest = fields.refine(isConsistent);
export type Manifest = z.infer<typeof Manifest>;
export type Part = Manifest['parts'][number];

/** A whole bundle is a catalog and nothing else, a difference has none; no name and no hash comes twice. */
function isConsistent({ before, parts, sources, overrides }: z.infer<typeof fields>): boolean {
  const catalogs = parts.filter(({ kind }) => kind === 'catalog').length;
  const isUnique = (keys: string[]) => new Set(keys).size === keys.length;
  return (
    (before === null ? catalogs === 1 && parts.length === 1 : catalogs === 0) &&
    isUnique(sources.map((each) => each.sha256)) &&
    isUnique(overrides.map(({ benchmarkId }) => benchmarkId)) &&
    isUnique(parts.map((each) => (each.kind === 'source' ? `${each.source} ${each.file.toLowerCase()}` : '')))
  );
}

/**
 * The bytes of a manifest, equal for equal manifests: the members in the order of the schema, and an end of line. Throws
 * `CommandError` for what a manifest cannot say.
 */
export function manifestBytes(manifest: Manifest): Buffer {
  const read = Manifest.safeParse(manifest);
  if (read.success) return Buffer.from(`${JSON.stringify(read.data, null, 1)}\n`);
  const [issue] = read.error.issues;
  throw new CommandError(`no bundle can say this: ${issue!.path.join('.')}: ${issue!.message}`);
}

/** What a bundle is known by: SHA-256 over its manifest. */
export const bundleId = (bytes: Uint8Array): string => sha256(bytes);

/** Reads a manifest whose signature was checked. Throws `CommandError`. */
export function readManifest(bytes: Buffer, name: string): Manifest {
  let manifest: Manifest;
  try {
    manifest = Manifest.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch {
    throw new CommandError(`${name}: manifest.json is no manifest that this version of Gapstone reads`);
  }
  if (!manifestBytes(manifest).equals(bytes))
    throw new CommandError(`${name}: manifest.json is not written as Gapstone writes it`);
  return manifest;
}

/** The name that a part has in the zip: by what it is and where it stands, never one from outside. */
export function memberOf(part: Part, index: number): string {
  return part.kind === 'catalog' ? 'catalog.db.zst' : `source-${String(index + 1).padStart(5, '0')}.zst`;
}
