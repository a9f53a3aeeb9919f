import { setImmediate as turn } from 'node:timers/promises';
import { count, eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { connectReadOnly } from '../db/connect.ts';
import type { Database } from '../db/database.ts';
import { catalogDigest, digesting } from '../db/digest.ts';
import { catalog, sources, stigReleases, stigs } from '../db/tables.ts';
import type { CatalogSummary } from './schema.ts';
import { fileStatus } from './status.ts';

/** As long as the digest may be worked on before others have their turn, in milliseconds. */
const sliceMilliseconds = 10;

export type CatalogSummaryService = ReturnType<typeof createCatalogSummaryService>;

/** What the catalog holds, and its digest (rule D32.5). */
export function createCatalogSummaryService(db: Database) {
  let made: { generation: number; summary: Promise<CatalogSummary> } | null = null;

  async function make(): Promise<CatalogSummary> {
    const { file } = fileStatus(db, 'catalog');
    const attached = () => ({ digest: catalogDigest(db), ...db.read(() => countsOf(db.orm)) });
    if (file === ':memory:') return attached();
    // Another file that has the name must not be opened beside the log of this one.
    try {
      db.renewCatalog();
    } catch {
      return attached();
    }
    // Of a connection of its own: one that reads a row at a time could do nothing else meanwhile.
    const sqlite = connectReadOnly(file, 'catalog');
    try {
      sqlite.exec('BEGIN');
      const steps = digesting(sqlite);
      let until = performance.now() + sliceMilliseconds;
      for (;;) {
        const step = steps.next();
        // Of the same state.
        if (step.done) return { digest: step.value, ...countsOf(drizzle(sqlite)) };
        if (performance.now() < until) continue;
        await turn();
        until = performance.now() + sliceMilliseconds;
      }
    } finally {
      sqlite.close();
    }
  }

  return {
    /** The digest is made once for each state of the catalog, in pieces: the first who ask wait for it. */
    async summary(): Promise<CatalogSummary> {
      for (;;) {
        const generation = db.generation();
        if (made?.generation !== generation) made = { generation, summary: make() };
        const { summary } = made;
        try {
          const answer = await summary;
          if (db.generation() === generation) return answer;
        } catch (error) {
          if (made.summary === summary) made = null;
          throw error;
        }
      }
    },
  };
}

const countsOf = (orm: Database['orm']): Omit<CatalogSummary, 'digest'> => ({
  changedAt: orm.select().from(catalog).get()!.changedAt,
  sources: orm.select({ rows: count() }).from(sources).get()!.rows,
  ...orm
    .select({ stigs: count(), rules: sql<number>`coalesce(sum(${stigReleases.findingCount}), 0)` })
    .from(stigs)
    .innerJoin(stigReleases, eq(stigReleases.id, stigs.currentReleaseId))
    .get()!,
  bundle: null,
});
