import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from '@hono/zod-openapi';
import { sha256 } from '../base/ids.ts';
import { packageRoot } from '../base/root.ts';
import type { Database } from '../db/database.ts';
import { catalogDigest, storedDigest } from '../db/digest.ts';
import { perCatalogVersion } from '../db/per-catalog-version.ts';
import { counts, named } from '../http/schema.ts';

/** The contents of the catalog, with a digest that is equal on each machine with the same contents (rule D32.5). */
export const CatalogSummary = named('CatalogSummary', {
  digest: z.string().describe('SHA-256 over what the sources state, and the slug overrides.'),
  changedAt: z.iso.datetime(),
  ...counts('sources', 'stigs'),
  rules: z.int().describe('Of the current releases.'),
  bundle: z
    .strictObject({
      channel: z.string(),
      sequence: z.int(),
      signedBy: z.string(),
      appliedAt: z.iso.datetime(),
    })
    .nullable()
    .describe('The bundle that the catalog came in.'),
});
export type CatalogSummary = z.infer<typeof CatalogSummary>;
type Counts = Omit<CatalogSummary, 'digest' | 'bundle'>;

export type CatalogSummaryService = ReturnType<typeof createCatalogSummaryService>;

/** What the catalog holds, its digest, and the bundle that it came in (rule D32.5). */
export function createCatalogSummaryService(db: Database) {
  const { sqlite } = db;
  const counts = sqlite.prepare<[], Counts>(
    `SELECT c.changed_at AS changedAt, (SELECT count(*) FROM sources) AS sources, (SELECT count(*) FROM stigs) AS stigs,
            (SELECT coalesce(sum(r.finding_count), 0)
               FROM stigs AS s JOIN stig_releases AS r ON r.id = s.current_release_id) AS rules
       FROM catalog AS c`,
  );
  // The newest bundle that was not rolled back: the digest says whether it is the present catalog.
  const bundle = sqlite.prepare<[string], NonNullable<CatalogSummary['bundle']>>(
    `SELECT channel, sequence, signed_by AS signedBy, applied_at AS appliedAt FROM content_bundles
      WHERE digest = ? AND state <> 'rolled-back' ORDER BY id DESC LIMIT 1`,
  );
  /** The digest that the last change stored; null where it stored none. */
  const digest = perCatalogVersion(db, () => storedDigest(sqlite));

  /** The summary without the bundle. Without a stored digest this reads the whole catalog. */
  const ofCatalog = perCatalogVersion(db, () =>
    db.read(() => ({ digest: digest() ?? catalogDigest(db), ...counts.get()! })),
  );

  return {
    digest,
    ofCatalog,

    /** An operator may roll a bundle back while the catalog stays: it is read each time. */
    summary(): CatalogSummary {
      const catalog = ofCatalog();
      return { ...catalog, bundle: bundle.get(catalog.digest) ?? null };
    },
  };
}

/** Makes the function that says whether the catalog has no STIGs but the samples of the package. */
export function createOnlySamples({ sqlite }: Database): () => boolean {
  const folder = join(packageRoot, 'data', 'stigs');
  const samples = JSON.stringify(readdirSync(folder).map((name) => sha256(readFileSync(join(folder, name)))));
  const others = sqlite.prepare<[string]>(
    "SELECT 1 FROM sources WHERE kind = 'xccdf' AND sha256 NOT IN (SELECT value FROM json_each(?)) LIMIT 1",
  );
  return () => others.get(samples) === undefined;
}
