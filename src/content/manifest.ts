import { z } from 'zod';
import { CommandError } from '../base/errors.ts';
import { sha256 } from '../base/ids.ts';
import { spoken } from '../base/text.ts';
import { largestZip } from '../base/zip.ts';

/** The most bytes of a manifest, which contains only names, sizes and hashes. */
export const longestManifest = 16 * 1024 * 1024;
/** A bundle is one zip without ZIP64. */
export const largestBundle = largestZip;
/** The most bytes of an unpacked bundle; as for the archives of one import (rule S2.4). */
export const largestContent = 8 * 1024 * 1024 * 1024;

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const size = z.int().min(0).max(largestContent);
const line = z
  .string()
  .min(1)
  .max(1024)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u);
/** A file name that cannot leave its folder, and that no operating system treats specially. */
const fileName = line
  .max(200)
  .regex(/^[^./\\:*?"<>|][^/\\:*?"<>|]*$/u)
  .regex(/[^. ]$/);

export const channelName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    'must be 1 to 64 of a-z, 0-9, dot, hyphen and underscore, and begin with a letter or a digit',
  );

export const defaultChannel = 'main';

/** A Zstandard member of the zip: `bytes` and `sha256` compressed, `unpacked` the bytes of its content. */
const part = { bytes: size.min(1), sha256: hash, unpacked: size };

const fields = z.strictObject({
  format: z.literal('gapstone-bundle-1'),
  channel: channelName,
  sequence: z.int().min(1),
  builtAt: z.iso.datetime(),
  /** After it there is a warning, but no error: clocks of enclaves are often wrong. */
  expiresAt: z.iso.datetime().nullable(),
  version: line.max(64),
  /** The catalog's schema: the number of its last migration. */
  schema: z.int().min(1),
  /** The catalog's digest once the bundle is applied. */
  digest: hash,
  /** The catalog that a difference applies to; null for a whole bundle. */
  before: z
    .strictObject({
      digest: hash,
      bundle: hash,
      /** How people call that bundle; absent in bundles of versions before 1.0. */
      channel: channelName.optional(),
      sequence: z.int().min(1).optional(),
    })
    .nullable(),
  /** All sources of the resulting catalog, by hash. */
  sources: z.array(z.strictObject({ sha256: hash, kind: line, target: line.nullable() })).max(1_000_000),
  /** All slug overrides of the resulting catalog, by benchmark id. */
  overrides: z.array(z.strictObject({ benchmarkId: line, slug: line })).max(100_000),
  parts: z
    .array(
      z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('catalog'), ...part }),
        /** A file of a source that the other side lacks; `source` is the hash of all its files. */
        z.strictObject({ kind: z.literal('source'), source: hash, file: fileName, ...part }),
      ]),
    )
    .max(60_000),
});

/** `manifest.json` of a bundle (rule D32.2): all that the signature covers. */
export const Manifest = fields.refine(isConsistent);
export type Manifest = z.infer<typeof Manifest>;

/** How a difference names the catalog that it needs: channel, sequence and digest. */
export function baseName({ digest, channel, sequence }: NonNullable<Manifest['before']>): string {
  return channel === undefined ? spoken(digest) : `${channel} ${sequence} (${spoken(digest)})`;
}
export type Part = Manifest['parts'][number];

/** A whole bundle has exactly one catalog, a difference has none; names and hashes are unique. */
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

/** The bytes of a manifest, equal for equal manifests. Throws `CommandError` for an invalid manifest. */
export function manifestBytes(manifest: Manifest): Buffer {
  const read = Manifest.safeParse(manifest);
  if (read.success) return Buffer.from(`${JSON.stringify(read.data, null, 1)}\n`);
  const [issue] = read.error.issues;
  throw new CommandError(`the manifest would not be valid: ${issue!.path.join('.')}: ${issue!.message}`);
}

/** The id of a bundle: SHA-256 over its manifest. */
export const bundleId = (bytes: Uint8Array): string => sha256(bytes);

/** Parses a manifest after its signature was checked. Throws `CommandError`. */
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

/** The name of a part in the zip, from its kind and position, never from outside. */
export function memberOf(part: Part, index: number): string {
  return part.kind === 'catalog' ? 'catalog.db.zst' : `source-${String(index + 1).padStart(5, '0')}.zst`;
}
