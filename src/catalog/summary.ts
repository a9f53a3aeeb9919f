import { and, desc, eq, ne, sql } from 'drizzle-orm';
import { runInSlices } from '../base/slices.ts';
import { connectReadOnly } from '../db/connect.ts';
import type { Database } from '../db/database.ts';
import { catalogDigest, digesting, storedDigest } from '../db/digest.ts';
import { perGeneration } from '../db/one-generation.ts';
import { contentBundles } from '../db/user-tables.ts';
import { fileStatus } from './loaded-status.ts';
import type { CatalogSummary } from './schema.ts';

export type CatalogSummaryService = ReturnType<typeof createCatalogSummaryService>;

/** What the catalog holds, its digest, and the bundle that it came in (rule D32.5). */
export function createCatalogSummaryService(db: Database) {
  let made: { catalogVersion: string; summary: Promise<Omit<CatalogSummary, 'bundle'>> } | null = null;
  // The newest exchange that was not undone: the digest says whether it is the present catalog.
  const bundle = db.orm
    .select({
      channel: contentBundles.channel,
      sequence: contentBundles.sequence,
      signedBy: contentBundles.signedBy,
      appliedAt: contentBundles.appliedAt,
    })
    .from(contentBundles)
    .where(and(eq(contentBundles.digest, sql.placeholder('digest')), ne(contentBundles.state, 'rolled-back')))
    .orderBy(desc(contentBundles.id))
    .limit(1)
    .prepare();

  /** Reads the stored summary, or makes the digest. */
  async function make(): Promise<Omit<CatalogSummary, 'bundle'>> {
    const known = db.read(() => ({ digest: storedDigest(db.sqlite), ...countsOf(db.sqlite) }));
    return known.digest === null ? makeDigest() : { ...known, digest: known.digest };
  }

  async function makeDigest(): Promise<Omit<CatalogSummary, 'bundle'>> {
    const { file } = fileStatus(db, 'catalog');
    if (file === ':memory:') return { digest: catalogDigest(db), ...db.read(() => countsOf(db.sqlite)) };
    // On its own connection: one that reads row by row cannot do anything else.
    const sqlite = connectReadOnly(file, 'catalog');
    try {
      sqlite.exec('BEGIN');
      const counts = countsOf(sqlite);
      return { digest: await runInSlices(digesting(sqlite)), ...counts };
    } finally {
      sqlite.close();
    }
  }

  /** Makes the summary once for each state of the catalog. Without a stored digest, the first requests wait. */
  async function ofCatalog(): Promise<Omit<CatalogSummary, 'bundle'>> {
    for (;;) {
      const catalogVersion = db.catalogVersion();
      if (made?.catalogVersion !== catalogVersion) made = { catalogVersion, summary: make() };
      const { summary } = made;
      try {
        const answer = await summary;
        if (db.catalogVersion() === catalogVersion) return answer;
      } catch (error) {
        if (made.summary === summary) made = null;
        throw error;
      }
    }
  }

  return {
    /** The digest that the last change stored; null where it stored none. Read once for each state of the catalog. */
    digest: perGeneration(db, () => storedDigest(db.sqlite)),

    ofCatalog,

    /** The same with the bundle, which an operator may take back while the catalog stays. */
    async summary(): Promise<CatalogSummary> {
      const answer = await ofCatalog();
      return { ...answer, bundle: bundle.get({ digest: answer.digest }) ?? null };
    },
  };
}

function countsOf(sqlite: Database['sqlite']): Omit<CatalogSummary, 'digest' | 'bundle'> {
  return sqlite
    .prepare<[], Omit<CatalogSummary, 'digest' | 'bundle'>>(
      `SELECT c.changed_at AS changedAt, (SELECT count(*) FROM sources) AS sources,
              (SELECT count(*) FROM stigs) AS stigs,
              (SELECT coalesce(sum(r.finding_count), 0) FROM stigs AS g JOIN stig_releases AS r ON r.id = g.current_release_id) AS rules
         FROM catalog AS c`,
    )
    .get()!;
}
