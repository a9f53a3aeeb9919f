import { eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../db/database.ts';
import { createSlugOf } from '../../db/stig-slugs.ts';
import { stigPrintings, stigs } from '../../db/tables.ts';

export type StigNames = ReturnType<typeof createStigNames>;

/** Finds STIGs by the benchmark ids that they were ever printed under, and the other way round. */
export function createStigNames(db: Database) {
  const slugOf = createSlugOf(db);
  const printed = (condition: SQL) =>
    db.read(() =>
      db.orm
        .selectDistinct({ slug: stigs.slug, title: stigs.title, benchmarkId: stigPrintings.benchmarkId })
        .from(stigs)
        .innerJoin(stigPrintings, eq(stigPrintings.stigId, stigs.id))
        .where(condition)
        .orderBy(stigs.slug, stigPrintings.benchmarkId)
        .all(),
    );

  return {
    /** Every benchmark id under which a STIG was published; none for an unknown slug. */
    benchmarkIds(name: string): string[] {
      return printed(eq(stigs.slug, slugOf(name))).map(({ benchmarkId }) => benchmarkId);
    },

    /** The STIGs that were published under one of some benchmark ids, whatever their case, each once. */
    named(benchmarkIds: string[]): { slug: string; title: string }[] {
      const ids = [...new Set(benchmarkIds.map((id) => id.toLowerCase()))];
      const found = printed(inArray(sql`lower(${stigPrintings.benchmarkId})`, ids));
      return [...new Map(found.map(({ slug, title }) => [slug, { slug, title }])).values()];
    },
  };
}
