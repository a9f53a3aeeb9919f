import { and, asc, count, eq, type SQL, sql } from 'drizzle-orm';
import type { SelectResultFields } from 'drizzle-orm/query-builders/select.types';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Sort } from '../base/sort.ts';
import type { Database } from '../db/database.ts';
import { orderBy } from '../db/order-by.ts';
import { stigReleases, stigs } from '../db/tables.ts';
import { listStigs } from '../db/user-tables.ts';
import type { ShownColumns } from './collections.ts';
import type { EntryState } from './lists-schema.ts';
import { stigOf } from './references.ts';

/** The columns by which the overview of a list can be sorted. */
export const listRowColumns = ['position', 'title', 'version', 'date', 'rules', 'high', 'notes'] as const;
export type ListRowSort = Sort<(typeof listRowColumns)[number]>;

// The second of one view, which the query builder has no alias for.
const newest = sql`stig_releases AS newest`;
const newestVersion = sql<string>`coalesce(newest.version, '')`;
/** The release that counts: the pinned one, or the newest; null where it is gone (rule D36.1). */
const countedId = sql<number | null>`iif(${listStigs.release} IS NULL, ${stigs.currentReleaseId},
  (SELECT p.id FROM stig_releases AS p WHERE p.stig_id = ${stigs.id} AND p.version = ${listStigs.release}))`;
const state = sql<EntryState>`CASE WHEN ${stigReleases.id} IS NULL THEN 'gone'
  WHEN ${stigReleases.releaseOrder} < newest.release_order THEN 'outdated' ELSE 'current' END`;

const { version, releaseDate, status, statusDate, findingCount, high, medium, low } = stigReleases;
const number = (column: SQLiteColumn) => sql<number>`coalesce(${column}, 0)`;
const text = (column: SQLiteColumn) => sql<string>`coalesce(${column}, '')`;
const sum = (of: SQL | SQLiteColumn) => sql<number>`coalesce(sum(${of}), 0)`;
const slug = sql<string>`coalesce(${stigs.slug}, ${listStigs.slug})`;
const title = sql<string>`coalesce(${stigReleases.title}, newest.title, ${listStigs.title})`;

// The severities of a query, joined by commas; '' for all of them.
const severities = sql.placeholder('severities');
export const isWanted = (severity: SQL | string) => sql`instr(${severities}, ${severity}) > 0`;
export const allWanted = sql`${severities} = ''`;

const entry = {
  ...{ slug, title, version: text(version), status: text(status), statusDate },
  ...{ findingCount: number(findingCount), catI: number(high), catII: number(medium), catIII: number(low) },
  ...{ addedAt: listStigs.addedAt, position: listStigs.position, notes: listStigs.notes },
  addedVersion: listStigs.version,
  ...{ release: listStigs.release, newest: newestVersion, state },
};
const addedOrder = sql<string | null>`(SELECT a.release_order FROM stig_releases AS a
  WHERE a.stig_id = ${stigs.id} AND a.version = ${listStigs.version})`;
// A release that the catalog no longer has is older than the current one.
const isNewer = sql<number>`coalesce(iif(${listStigs.release} IS NULL, ${version} <> ${listStigs.version}
  AND coalesce(${addedOrder}, '') < ${stigReleases.releaseOrder}, ${state} = 'outdated'), 0)`;
const totals = {
  stigs: count(),
  ...{ findingCount: sum(findingCount), catI: sum(high), catII: sum(medium), catIII: sum(low) },
  newer: sum(isNewer),
  gone: sum(sql`${stigReleases.id} IS NULL`),
  most: sql<number>`coalesce(max(${findingCount}), 0)`,
  oldest: sql<string | null>`min(${releaseDate})`,
};
const sortable: Record<(typeof listRowColumns)[number], SQL | SQLiteColumn> = {
  position: listStigs.position,
  title: sql`lower(${title})`,
  version: stigReleases.releaseOrder,
  date: releaseDate,
  rules: findingCount,
  high,
  notes: sql`nullif(${listStigs.notes}, '')`,
};
const byPosition = [asc(listStigs.position), asc(slug)];

type ListRows = ReturnType<typeof createListRows>;
export type ListRow = ReturnType<ListRows['entries']>[number];
/** A STIG of a list, with how its current release differs from the added one. */
export type OverviewEntry = ReturnType<ListRows['overview']>[number];

/** The rows of lists, each with the release that counts; a STIG that is gone is shown as it was seen (rule D23.2). */
export function createListRows({ orm }: Database) {
  /** Prepares columns of the rows; those without a wanted finding are left out by the counts of their releases. */
  function prepare<Columns extends ShownColumns>(columns: Columns, order: SQL[] = []) {
    const query = orm
      .select<ShownColumns>(columns)
      .from(listStigs)
      .leftJoin(stigs, eq(stigs.id, stigOf(listStigs)))
      .leftJoin(newest, sql`newest.id = ${stigs.currentReleaseId}`)
      .leftJoin(stigReleases, eq(stigReleases.id, countedId))
      .where(
        and(
          eq(listStigs.collectionId, sql.placeholder('list')),
          sql`(${allWanted} OR ${isWanted('high')} AND ${high} > 0
            OR ${isWanted('medium')} AND ${medium} > 0 OR ${isWanted('low')} AND ${low} > 0)`,
        ),
      )
      .orderBy(...order)
      .limit(sql.placeholder('limit'))
      .offset(sql.placeholder('offset'))
      .prepare();
    return (list: string, severities = '', limit = -1, offset = 0) =>
      query.all({ list, severities, limit, offset }) as SelectResultFields<Columns>[];
  }
  const counts = prepare({ total: count() });
  const totalsOf = prepare(totals);
  const withRelease = { ...entry, releaseId: sql<number | null>`${stigReleases.id}` };
  const withAge = { ...entry, releaseDate, isNewer, isAddedKept: sql<number>`${addedOrder} IS NOT NULL` };

  return {
    count: (list: string, severities = '') => counts(list, severities)[0]!.total,
    totals: (list: string) => totalsOf(list)[0]!,
    entries: prepare(withRelease, byPosition),

    /** Entries with their age: whether the catalog has a newer release than the pinned or added one, and still has the added. */
    overview: (list: string, sort?: ListRowSort, limit?: number, offset?: number) =>
      prepare(withAge, orderBy(sort, sortable, byPosition))(list, '', limit, offset).map((row) => ({
        ...row,
        isNewer: row.isNewer === 1,
        isAddedKept: row.isAddedKept === 1,
      })),
  };
}
