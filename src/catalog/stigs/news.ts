import { and, desc, eq, gte, sql } from 'drizzle-orm';
import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Database } from '../../db/database.ts';
import { createSlugOf } from '../../db/stig-slugs.ts';
import { stigReleases, stigs } from '../../db/tables.ts';
import { offsetOf, paginationOf } from '../../http/paging.ts';
import type { ChangelogQuery, StigChangelog, StigStats } from './schema.ts';

const memoMilliseconds = 5 * 60 * 1000;

export type StigNewsService = ReturnType<typeof createStigNewsService>;

/** Statistics and changelog of the STIG catalog (rules D4.7, D4.9). */
export function createStigNewsService(db: Database, now: () => Date) {
  const { orm } = db;
  const slugOf = createSlugOf(db);
  let memo: { stats: StigStats; generation: number; until: number } | null = null;

  // The changelog's order: newest date first, releases without a date last, then slug; newest release last resort.
  const newestFirst = [
    sql`${stigReleases.releaseDate} IS NULL`,
    desc(stigReleases.releaseDate),
    stigs.slug,
    desc(stigReleases.releaseOrder),
  ];

  function compute(): StigStats {
    const sum = (column: AnySQLiteColumn) => sql<number>`coalesce(sum(${column}), 0)`;
    const onlyCurrent = eq(stigReleases.id, stigs.currentReleaseId);
    const totals = orm
      .select({
        totalBenchmarks: sql<number>`count(*)`,
        totalFindings: sum(stigReleases.findingCount),
        totalProfiles: sum(stigReleases.profileCount),
        high: sum(stigReleases.high),
        medium: sum(stigReleases.medium),
        low: sum(stigReleases.low),
      })
      .from(stigs)
      .innerJoin(stigReleases, onlyCurrent)
      .get()!;
    const latest = orm
      .select({ slug: stigs.slug, title: stigReleases.title, releaseDate: stigReleases.releaseDate })
      .from(stigReleases)
      .innerJoin(stigs, eq(stigs.id, stigReleases.stigId))
      .orderBy(...newestFirst)
      .limit(1)
      .get();
    const { totalBenchmarks, totalFindings, totalProfiles, high, medium, low } = totals;
    return {
      catalog: { totalBenchmarks, totalFindings, totalProfiles },
      severity: { high, medium, low },
      latestRelease: latest ?? null,
    };
  }

  return {
    /** Counts over the current releases; kept for five minutes, or until the catalog changes. */
    stats(): StigStats {
      return db.read(() => {
        const time = now().getTime();
        const generation = db.generation();
        if (
          !memo ||
          memo.generation !== generation ||
          time >= memo.until ||
          time < memo.until - memoMilliseconds
        ) {
          memo = { stats: compute(), generation, until: time + memoMilliseconds };
        }
        return memo.stats;
      });
    },

    changelog({ since, slug, ...page }: ChangelogQuery): StigChangelog {
      const where = and(
        since === undefined ? undefined : gte(stigReleases.releaseDate, since),
        slug === undefined ? undefined : eq(stigs.slug, slugOf(slug)),
      );
      const previous = sql<string | null>`(
        SELECT older.version FROM stig_releases AS older
         WHERE older.stig_id = ${stigReleases.stigId} AND older.release_order < ${stigReleases.releaseOrder}
         ORDER BY older.release_order DESC LIMIT 1)`;
      return db.read(() => {
        const joined = eq(stigs.id, stigReleases.stigId);
        const total = orm
          .select({ total: sql<number>`count(*)` })
          .from(stigReleases)
          .innerJoin(stigs, joined)
          .where(where)
          .get()!.total;
        const changes = orm
          .select({
            slug: stigs.slug,
            title: stigReleases.title,
            newVersion: stigReleases.version,
            previousVersion: previous,
            releaseDate: stigReleases.releaseDate,
          })
          .from(stigReleases)
          .innerJoin(stigs, joined)
          .where(where)
          .orderBy(...newestFirst)
          .limit(page.limit)
          .offset(offsetOf(page, total))
          .all();
        return { changes, pagination: paginationOf(page, total) };
      });
    },
  };
}
