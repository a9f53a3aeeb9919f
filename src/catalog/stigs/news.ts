import { and, desc, eq, gte, inArray, type SQL, sql } from 'drizzle-orm';
import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Database } from '../../db/database.ts';
import { sources, stigReleases, stigs } from '../../db/tables.ts';
import { offsetOf, type Page, paginationOf } from '../../http/paging.ts';
import type { StigNameIndex } from './name-index.ts';
import type { ChangelogQuery, StigChangelog, StigStats } from './schema.ts';

const memoMilliseconds = 5 * 60 * 1000;

/** What the last import brought: when, and the run of the ledger, null where that is not here. */
export type LastImport = StigChangelog & { at: string; run: number | null };

export type StigNewsService = ReturnType<typeof createStigNewsService>;

// Newest date first, releases without a date last, then slug; newest release last resort.
const newestFirst = [
  sql`${stigReleases.releaseDate} IS NULL`,
  desc(stigReleases.releaseDate),
  stigs.slug,
  desc(stigReleases.releaseOrder),
];

/** Statistics and changelog of the STIG catalog (rules D4.7, D4.9). */
export function createStigNewsService(db: Database, { slugOf }: StigNameIndex) {
  let memo: { stats: StigStats; catalogVersion: string; until: number } | null = null;
  const lastRun = db.sqlite.prepare<[], { at: string; run: number | null; isAll: number }>(
    `SELECT last.at, (SELECT max(id) FROM import_runs WHERE started_at = last.at) AS run,
            NOT EXISTS (SELECT 1 FROM stig_releases AS r JOIN sources AS f ON f.id = r.source_id
                         WHERE f.imported_at < last.at) AS isAll
       FROM (SELECT max(f.imported_at) AS at FROM stig_releases AS r JOIN sources AS f ON f.id = r.source_id) AS last
      WHERE last.at IS NOT NULL`,
  );

  return {
    /** Counts over the current releases; kept for five minutes from `now`, or until the catalog changes. */
    stats(now: Date): StigStats {
      return db.read(() => {
        const time = now.getTime();
        const catalogVersion = db.catalogVersion();
        if (
          !memo ||
          memo.catalogVersion !== catalogVersion ||
          time >= memo.until ||
          time < memo.until - memoMilliseconds
        ) {
          memo = { stats: countStats(db), catalogVersion, until: time + memoMilliseconds };
        }
        return memo.stats;
      });
    },

    changelog({ since, slug, ...page }: ChangelogQuery): StigChangelog {
      return releasesOf(
        db,
        and(
          since === undefined ? undefined : gte(stigReleases.releaseDate, since),
          slug === undefined ? undefined : eq(stigs.slug, slugOf(slug)),
        ),
        page,
      );
    },

    /** The releases of the last import that added any, as in the changelog; null where it added all releases. */
    lastImport(page: Page): LastImport | null {
      return db.read(() => {
        const last = lastRun.get();
        if (last === undefined || last.isAll === 1) return null;
        const brought = inArray(
          stigReleases.sourceId,
          db.orm.select({ id: sources.id }).from(sources).where(eq(sources.importedAt, last.at)),
        );
        return { ...last, ...releasesOf(db, brought, page) };
      });
    },
  };
}

function countStats({ orm }: Database): StigStats {
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

function releasesOf({ orm, read }: Database, where: SQL | undefined, page: Page): StigChangelog {
  const previous = sql<string | null>`(
      SELECT older.version FROM stig_releases AS older
       WHERE older.stig_id = ${stigReleases.stigId} AND older.release_order < ${stigReleases.releaseOrder}
       ORDER BY older.release_order DESC LIMIT 1)`;
  return read(() => {
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
}
