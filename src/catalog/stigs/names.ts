import { eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../db/database.ts';
import { stigAliases, stigReleases, stigs } from '../../db/tables.ts';

export type StigNames = ReturnType<typeof createStigNames>;

/** Finds STIGs by the benchmark ids that they were published under, and the other way round: of releases and of aliases. */
export function createStigNames({ orm, read }: Database) {
  const published = (benchmarkId: typeof stigReleases.benchmarkId | typeof stigAliases.benchmarkId) => ({
    slug: stigs.slug,
    title: stigs.title,
    benchmarkId: sql<string>`${benchmarkId}`.as('benchmark_id'),
  });

  function matching(ofRelease: SQL, ofAlias: SQL) {
    const byRelease = orm
      .select(published(stigReleases.benchmarkId))
      .from(stigs)
      .innerJoin(stigReleases, eq(stigReleases.stigId, stigs.id))
      .where(ofRelease);
    const byAlias = orm
      .select(published(stigAliases.benchmarkId))
      .from(stigs)
      .innerJoin(stigAliases, eq(stigAliases.stigId, stigs.id))
      .where(ofAlias);
    return read(() => byRelease.union(byAlias).orderBy(stigs.slug).all());
  }

  return {
    /** Every benchmark id under which a STIG was published; none for an unknown slug. */
    benchmarkIds(slug: string): string[] {
      return matching(eq(stigs.slug, slug), eq(stigs.slug, slug)).map(({ benchmarkId }) => benchmarkId);
    },

    /** The STIGs that were published under one of some benchmark ids, whatever their case, each once. */
    named(benchmarkIds: string[]): { slug: string; title: string }[] {
      const ids = [...new Set(benchmarkIds.map((id) => id.toLowerCase()))];
      const found = matching(
        inArray(sql`lower(${stigReleases.benchmarkId})`, ids),
        inArray(sql`lower(${stigAliases.benchmarkId})`, ids),
      );
      return [...new Map(found.map(({ slug, title }) => [slug, { slug, title }])).values()];
    },
  };
}
