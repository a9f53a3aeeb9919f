import { dirname, join } from 'node:path';
import { runImport } from '../../importers/run.ts';
import { CommandError } from '../base/errors.ts';
import { connectReadOnly } from '../db/connect.ts';
import { copyDatabase, seal } from '../db/copy.ts';
import { openCatalog } from '../db/database.ts';
import { digestOf, storedDigest } from '../db/digest.ts';
import { newestSchema } from '../db/schema.ts';
import type { VerifiedBundle } from './read-bundle.ts';

/**
 * Gives the catalog of an unpacked bundle as a sealed file in its folder. A difference is imported into a copy of
 * `current`, to which no one may write meanwhile (null: there is none). Throws `CommandError` for another schema than
 * this version's, and for another digest than the signed one.
 */
export async function makeCatalog(
  { file, manifest, unpacked }: VerifiedBundle,
  current: string | null,
  folder: string,
): Promise<string> {
  const newest = newestSchema('catalog');
  if (manifest.schema !== newest)
    throw new CommandError(
      `${file} holds a catalog of schema ${manifest.schema}, this version of Gapstone needs ${newest}: ` +
        (manifest.schema > newest ? 'use a newer Gapstone' : 'have it built again by this version'),
    );
  const whole = unpacked[manifest.parts.findIndex(({ kind }) => kind === 'catalog')];
  const made = whole ?? (await importDifference(file, manifest, unpacked, current, folder));
  // The signature or the copy covers the bytes, so checking the schema is enough; the digest then reads all content.
  const { kind, schema } = seal(made, 'schema', file);
  if (kind !== 'catalog' || schema !== newest)
    throw new CommandError(`${file} does not contain the catalog that its manifest describes`);
  const { digest, stored } = digestsOfFile(made);
  if (digest !== manifest.digest)
    throw new CommandError(
      `${file} gives a catalog of the digest ${digest}, its manifest says ${manifest.digest}: nothing was changed`,
    );
  if (stored !== null && stored !== digest)
    throw new CommandError(
      `${file} holds a catalog with the stored digest ${stored}, and its digest is ${digest}: nothing was changed`,
    );
  return made;
}

async function importDifference(
  file: string,
  { before, builtAt, overrides, digest }: VerifiedBundle['manifest'],
  unpacked: string[],
  current: string | null,
  folder: string,
): Promise<string> {
  if (before === null) throw new CommandError(`${file} holds no catalog`);
  const own = current === null ? null : digestsOfFile(current).digest;
  if (current === null || own !== before.digest) throw wrongBase(file, before, own);
  const copy = join(folder, 'made.db');
  {
    using sqlite = connectReadOnly(current, 'catalog');
    await copyDatabase(sqlite, copy);
  }
  if (digest === before.digest) return copy;
  using db = openCatalog(copy);
  const rows = db.sqlite.prepare<[], string>('SELECT benchmark_id FROM stig_overrides').pluck().all();
  const wanted = new Map([
    ...rows.map((benchmarkId): [string, string] => [benchmarkId, '']),
    ...overrides.map(({ benchmarkId, slug }): [string, string] => [benchmarkId, slug]),
  ]);
  const paths = [...new Set(unpacked.map((each) => dirname(each)))];
  // Use the publisher's time: clients see it, and it must be equal on all sites.
  const { lines } = await runImport(db, paths, { overrides: wanted, now: () => new Date(builtAt) });
  const rejected = lines.find(({ outcome }) => outcome === 'rejected');
  if (rejected) throw new CommandError(`${file}: a source cannot be imported: ${rejected.reason}`);
  return copy;
}

/** The error for a difference to another catalog than this site's (`own`; null: there is none). */
export function wrongBase(
  file: string,
  before: NonNullable<VerifiedBundle['manifest']['before']>,
  own: string | null,
): CommandError {
  const here = own === null ? 'there is no catalog here' : `the one here has ${own}`;
  const { channel, sequence, bundle } = before;
  const called =
    channel === undefined || sequence === undefined
      ? bundle
      : `with sequence ${sequence} of channel ${channel} (${bundle})`;
  return new CommandError(
    `${file} is refused: it is a difference to the catalog of the digest ${before.digest}, and ${here}: ` +
      `apply the bundle ${called} first, or a whole one`,
  );
}

/** The digest of a catalog file, and the one stored in it. Throws `CommandError` where it cannot be read. */
function digestsOfFile(file: string): { digest: string; stored: string | null } {
  using sqlite = connectReadOnly(file, 'catalog');
  return { digest: digestOf(sqlite), stored: storedDigest(sqlite) };
}
