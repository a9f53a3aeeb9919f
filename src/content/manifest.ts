import { z } from 'zod';
import { CommandError } from '../base/errors.ts';

/** The members of a bundle, in order. */
export const manifestName = 'manifest.json';
export const signatureName = 'manifest.sig';
export const catalogName = 'catalog.db.zst';

/** The most bytes of a manifest: it contains only names, sizes and hashes. */
export const longestManifest = 16 * 1024 * 1024;
/** The most bytes of a P-384 signature in DER. */
export const longestSignature = 104;
/** The most bytes of an unpacked bundle; as for the archives of one import (rule S2.4). */
const largestContent = 8 * 1024 * 1024 * 1024;

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const size = z.int().min(1).max(largestContent);
const line = z
  .string()
  .min(1)
  .max(1024)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u);

export const channelName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    'must be 1 to 64 of a-z, 0-9, dot, hyphen and underscore, and begin with a letter or a digit',
  );

export const defaultChannel = 'main';

/** `manifest.json` of a bundle (rule D32.2): all that the signature covers. */
const Manifest = z.strictObject({
  format: z.literal('gapstone-bundle-1'),
  channel: channelName,
  sequence: z.int().min(1),
  builtAt: z.iso.datetime(),
  /** Bundles of older versions may have it: applying them later gives a warning. */
  expiresAt: z.iso.datetime().nullable(),
  version: line.max(64),
  /** The schema of the catalog: the number of its last migration. */
  schema: z.int().min(1),
  /** The digest of the catalog. */
  digest: hash,
  /** Not null in a difference, which an older version made. */
  before: z.null(),
  sources: z.array(z.strictObject({ sha256: hash, kind: line, target: line.nullable() })).max(1_000_000),
  overrides: z.array(z.strictObject({ benchmarkId: line, slug: line })).max(100_000),
  /** The catalog: `bytes` and `sha256` as compressed by Zstandard, `unpacked` its bytes before. */
  parts: z.tuple([
    z.strictObject({
      kind: z.literal('catalog'),
      bytes: size,
      sha256: hash,
      unpacked: size,
    }),
  ]),
});
export type Manifest = z.infer<typeof Manifest>;

/** The bytes of a manifest. Throws `CommandError` for an invalid one, and for one that no site would read. */
export function manifestBytes(manifest: Manifest): Buffer {
  const read = Manifest.safeParse(manifest);
  const [issue] = read.error?.issues ?? [];
  if (issue)
    throw new CommandError(`the manifest would not be valid: ${issue.path.join('.')}: ${issue.message}`);
  const bytes = Buffer.from(`${JSON.stringify(read.data, null, 1)}\n`);
  if (bytes.length > longestManifest)
    throw new CommandError(`the catalog has too many sources: the manifest would have ${bytes.length} bytes`);
  return bytes;
}

/** Parses a manifest whose signature was checked; `name` is that of the bundle. Throws `CommandError`. */
export function readManifest(bytes: Buffer, name: string): Manifest {
  let given: { before?: unknown };
  try {
    given = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (given.before == null) return Manifest.parse(given);
  } catch {
    throw new CommandError(`${name}: manifest.json is no manifest that this version of Gapstone reads`);
  }
  throw new CommandError(
    `${name} is refused: it is a difference to another bundle. This version of Gapstone applies whole bundles: have one built`,
  );
}
