import { eq } from 'drizzle-orm';
import { compareCodePoints, fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { createSlugOf } from '../../db/stig-slugs.ts';
import { stigPrintings, stigs } from '../../db/tables.ts';

export type StigNames = ReturnType<typeof createStigNames>;

interface Named {
  slug: string;
  title: string;
}

/** Finds STIGs by the benchmark ids that they were ever printed under, and the other way round. */
export function createStigNames(db: Database) {
  const slugOf = createSlugOf(db);
  const printed = db.orm
    .selectDistinct({ slug: stigs.slug, title: stigs.title, benchmarkId: stigPrintings.benchmarkId })
    .from(stigs)
    .innerJoin(stigPrintings, eq(stigPrintings.stigId, stigs.id))
    .orderBy(stigs.slug, stigPrintings.benchmarkId)
    .prepare();
  let made: { generation: number; idsOf: Map<string, string[]>; called: Map<string, Named[]> } | null = null;

  /** All names, read once for each generation: an upload may ask for thousands. */
  function all() {
    const generation = db.generation();
    if (made?.generation === generation) return made;
    const rows = printed.all();
    const bySlug = Map.groupBy(rows, ({ slug }) => slug);
    const idsOf = [...bySlug].map(([slug, of]) => [slug, of.map(({ benchmarkId }) => benchmarkId)] as const);
    const called = Map.groupBy(rows, ({ benchmarkId }) => fold(benchmarkId));
    made = { generation, idsOf: new Map(idsOf), called };
    return made;
  }

  return {
    /** Every benchmark id under which a STIG was published; none for an unknown slug. */
    benchmarkIds: (name: string): string[] => db.read(() => all().idsOf.get(slugOf(name)) ?? []),

    /** The STIGs that were published under one of some benchmark ids, whatever their case, each once, by slug. */
    named(benchmarkIds: string[]): Named[] {
      const { called } = db.read(all);
      const found = benchmarkIds.flatMap((id) => called.get(fold(id)) ?? []);
      const each = new Map(found.map(({ slug, title }) => [slug, { slug, title }]));
      return [...each.values()].sort((a, b) => compareCodePoints(a.slug, b.slug));
    },
  };
}
