import type { Database } from '../../db/database.ts';
import { type Page, prepareList } from '../../http/paging.ts';
import type { StigNameIndex } from './name-index.ts';
import type { ChangelogQuery, StigChangelog, StigStats } from './schema.ts';

/** What the last import brought: when, and the run of the ledger, null where that is not here. */
export type LastImport = StigChangelog & { at: string; run: number | null };

export type StigNewsService = ReturnType<typeof createStigNewsService>;

const releases = `
   FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id
  WHERE (@since IS NULL OR r.release_date >= @since) AND (@slug IS NULL OR s.slug = @slug)
    AND (@importedAt IS NULL OR r.source_id IN (SELECT id FROM sources WHERE imported_at = @importedAt))`;

// Newest date first, releases without a date last, then slug; newest release last resort.
const newestFirst = 'r.release_date IS NULL, r.release_date DESC, s.slug, r.release_order DESC';

/** The releases that a page is of; null does not narrow them. */
type WantedReleases = Partial<Record<'since' | 'slug' | 'importedAt', string | null>>;

/** Statistics and changelog of the STIG catalog (rules D4.7, D4.9). */
export function createStigNewsService(db: Database, { slugOf }: StigNameIndex) {
  const { sqlite, read } = db;
  const totals = sqlite.prepare<[], StigStats['catalog'] & StigStats['severity']>(
    `SELECT count(*) AS totalBenchmarks, coalesce(sum(r.finding_count), 0) AS totalFindings,
            coalesce(sum(r.profile_count), 0) AS totalProfiles, coalesce(sum(r.high), 0) AS high,
            coalesce(sum(r.medium), 0) AS medium, coalesce(sum(r.low), 0) AS low
       FROM stigs AS s JOIN stig_releases AS r ON r.id = s.current_release_id`,
  );
  const latest = sqlite.prepare<[], NonNullable<StigStats['latestRelease']>>(
    `SELECT s.slug, r.title, r.release_date AS releaseDate FROM stig_releases AS r JOIN stigs AS s ON s.id = r.stig_id
      ORDER BY ${newestFirst} LIMIT 1`,
  );
  const lastRun = sqlite.prepare<[], { at: string; run: number | null; isAll: number }>(
    `SELECT last.at, (SELECT max(id) FROM import_runs WHERE started_at = last.at) AS run,
            NOT EXISTS (SELECT 1 FROM stig_releases AS r JOIN sources AS f ON f.id = r.source_id
                         WHERE f.imported_at < last.at) AS isAll
       FROM (SELECT max(f.imported_at) AS at FROM stig_releases AS r JOIN sources AS f ON f.id = r.source_id) AS last
      WHERE last.at IS NOT NULL`,
  );
  const changes = prepareList<StigChangelog['changes'][number]>(db, {
    columns: `s.slug, r.title, r.version AS newVersion,
              (SELECT older.version FROM stig_releases AS older
                WHERE older.stig_id = r.stig_id AND older.release_order < r.release_order
                ORDER BY older.release_order DESC LIMIT 1) AS previousVersion,
              r.release_date AS releaseDate`,
    matching: releases,
    order: newestFirst,
  });

  function pageOf(requested: WantedReleases, page: Page): StigChangelog {
    const { rows, pagination } = changes({ since: null, slug: null, importedAt: null, ...requested }, page);
    return { changes: rows, pagination };
  }

  return {
    /** Counts over the current releases. */
    stats: (): StigStats =>
      read(() => {
        const { high, medium, low, ...catalog } = totals.get()!;
        return { catalog, severity: { high, medium, low }, latestRelease: latest.get() ?? null };
      }),

    changelog({ since, slug, ...page }: ChangelogQuery): StigChangelog {
      return pageOf({ since: since ?? null, slug: slug === undefined ? null : slugOf(slug) }, page);
    },

    /** The releases of the last import that added any, as in the changelog; null where it added all releases. */
    lastImport(page: Page): LastImport | null {
      const last = lastRun.get();
      if (last === undefined || last.isAll === 1) return null;
      const { at, run } = last;
      return { at, run, ...pageOf({ importedAt: at }, page) };
    },
  };
}
