import { asc, count, eq, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Viewer } from '../auth/viewer.ts';
import type { Sort } from '../base/sort.ts';
import type { Database } from '../db/database.ts';
import { orderBy } from '../db/order-by.ts';
import { stigReleases, stigs } from '../db/tables.ts';
import { collections, listStigs } from '../db/user-tables.ts';
import { offsetOf, type Page, paginationOf } from '../http/paging.ts';
import type { Pagination } from '../http/schema.ts';
import { createCollectionService } from './collections.ts';
import type { ListSheetRow } from './lists-schema.ts';
import { stigOf } from './references.ts';

/** What the overview of a list can be sorted by. */
export const overviewColumns = ['position', 'title', 'version', 'date', 'rules', 'high', 'notes'] as const;
export type OverviewSort = Sort<(typeof overviewColumns)[number]>;

/** A STIG of a list: what its sheet says, and how its release stands to the one that it had when it was added. */
export interface OverviewEntry extends ListSheetRow {
  /** Whether a newer one came since. */
  isNewer: boolean;
  /** Whether that of then can still be compared with. */
  isAddedKept: boolean;
}

export interface OverviewTotals {
  stigs: number;
  findingCount: number;
  catI: number;
  catII: number;
  catIII: number;
  /** How many have a newer release since they were added, and how many are gone from the catalog. */
  newer: number;
  gone: number;
  /** The most rules that one of them has. */
  most: number;
  oldest: string | null;
}

export type ListOverviewService = ReturnType<typeof createListOverviewService>;

/** A list as a system's page shows it: every STIG with its release, its age and its counts (rule D23.2 for what is gone). */
export function createListOverviewService(db: Database, now: () => Date, newId: () => string) {
  const { orm } = db;
  const lists = createCollectionService(db, 'list', { id: collections.id }, now, newId);
  const isMeant = eq(stigs.id, stigOf(listStigs));
  const isCurrent = eq(stigReleases.id, stigs.currentReleaseId);
  const addedOrder = sql<string | null>`(SELECT a.release_order FROM stig_releases AS a
    WHERE a.stig_id = ${stigs.id} AND a.version = ${listStigs.version})`;
  // One that is no longer kept was followed by another, or it would be.
  const isNewer = sql<number>`coalesce(${stigReleases.version} <> ${listStigs.version}
    AND coalesce(${addedOrder}, '') < ${stigReleases.releaseOrder}, 0)`;
  const slug = sql<string>`coalesce(${stigs.slug}, ${listStigs.slug})`;
  const title = sql<string>`coalesce(${stigReleases.title}, ${listStigs.title})`;
  const number = (column: SQLiteColumn) => sql<number>`coalesce(${column}, 0)`;
  const text = (column: SQLiteColumn) => sql<string>`coalesce(${column}, '')`;
  const { version, releaseDate, status, statusDate, findingCount, high, medium, low } = stigReleases;
  const sortable: Record<(typeof overviewColumns)[number], SQL | SQLiteColumn> = {
    position: listStigs.position,
    title: sql`lower(${title})`,
    version: sql`${stigReleases.releaseOrder}`,
    date: sql`${releaseDate}`,
    rules: sql`${findingCount}`,
    high: sql`${high}`,
    notes: sql`nullif(${listStigs.notes}, '')`,
  };

  function rows(list: string, sort: OverviewSort | undefined, limit: number, offset: number) {
    return orm
      .select({
        slug,
        title,
        ...{ version: text(version), status: text(status), statusDate, releaseDate },
        ...{
          findingCount: number(findingCount),
          catI: number(high),
          catII: number(medium),
          catIII: number(low),
        },
        ...{ addedAt: listStigs.addedAt, position: listStigs.position },
        ...{ addedVersion: listStigs.version, notes: listStigs.notes },
        ...{ isNewer, isAddedKept: sql<number>`${addedOrder} IS NOT NULL` },
      })
      .from(listStigs)
      .leftJoin(stigs, isMeant)
      .leftJoin(stigReleases, isCurrent)
      .where(eq(listStigs.collectionId, list))
      .orderBy(...orderBy(sort, sortable, [asc(listStigs.position), asc(slug)]))
      .limit(limit)
      .offset(offset)
      .all()
      .map(
        (row): OverviewEntry => ({
          ...row,
          isNewer: row.isNewer === 1,
          isAddedKept: row.isAddedKept === 1,
        }),
      );
  }

  const sum = (column: SQL | SQLiteColumn) => sql<number>`coalesce(sum(${column}), 0)`;
  const totalsOf = orm
    .select({
      stigs: count(),
      ...{ findingCount: sum(findingCount), catI: sum(high), catII: sum(medium), catIII: sum(low) },
      newer: sum(isNewer),
      gone: sum(sql`${stigs.id} IS NULL`),
      most: sql<number>`coalesce(max(${findingCount}), 0)`,
      oldest: sql<string | null>`min(${releaseDate})`,
    })
    .from(listStigs)
    .leftJoin(stigs, isMeant)
    .leftJoin(stigReleases, isCurrent)
    .where(eq(listStigs.collectionId, sql.placeholder('list')))
    .prepare();

  return {
    /** A page of the STIGs of a list, and what all of them have together. Throws the one 404. */
    overview(
      viewer: Viewer,
      id: string,
      { sort, ...page }: Page & { sort?: OverviewSort | undefined },
    ): { entries: OverviewEntry[]; totals: OverviewTotals; pagination: Pagination } {
      return db.read(() => {
        lists.find(viewer, id);
        const totals = totalsOf.get({ list: id })!;
        const entries = rows(id, sort, page.limit, offsetOf(page, totals.stigs));
        return { entries, totals, pagination: paginationOf(page, totals.stigs) };
      });
    },

    /** All STIGs of a list with their notes, as a sheet has them. Throws the one 404. */
    sheet(viewer: Viewer, id: string): ListSheetRow[] {
      return db.read(() => {
        lists.find(viewer, id);
        return rows(id, undefined, -1, 0);
      });
    },
  };
}
