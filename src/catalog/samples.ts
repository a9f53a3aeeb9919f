import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { and, eq, notInArray } from 'drizzle-orm';
import { sha256 } from '../base/ids.ts';
import { packageRoot } from '../base/root.ts';
import type { Database } from '../db/database.ts';
import { sources } from '../db/tables.ts';

/** Makes the function that says whether the catalog has no STIGs but the samples of the package. */
export function createOnlySamples({ orm }: Database): () => boolean {
  const folder = join(packageRoot, 'data', 'stigs');
  const samples = readdirSync(folder).map((name) => sha256(readFileSync(join(folder, name))));
  return () =>
    orm
      .select({ id: sources.id })
      .from(sources)
      .where(and(eq(sources.kind, 'xccdf'), notInArray(sources.sha256, samples)))
      .limit(1)
      .get() === undefined;
}
