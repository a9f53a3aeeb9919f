import { type Sort, sortOf } from '../base/sort.ts';
import type { Database } from '../db/database.ts';
import type { EntryState } from './lists-schema.ts';
import { stigOf } from './references.ts';

/** The columns by which the overview of a list can be sorted. */
export const listRowColumns = ['position', 'title', 'version', 'date', 'rules', 'high', 'notes'] as const;
export type ListRowSort = Sort<(typeof listRowColumns)[number]>;

/**
 * A STIG of a list with the release that counts, and how that differs from the added one. One that is gone is shown as it
 * was seen (rule D23.2).
 */
export interface ListRow {
  slug: string;
  title: string;
  version: string;
  status: string;
  statusDate: string | null;
  findingCount: number;
  catI: number;
  catII: number;
  catIII: number;
  addedAt: string;
  position: number;
  notes: string;
  /** The release to which it is pinned. */
  release: string | null;
  newest: string;
  state: EntryState;
  /** The newest release when it was added. */
  addedVersion: string;
  releaseId: number | null;
  releaseDate: string | null;
  /** Whether the catalog has a newer release than the pinned or added one. */
  isNewer: boolean;
  /** Whether the catalog still has the release of when it was added. */
  isAddedRetained: boolean;
}

interface ListTotals {
  stigs: number;
  findingCount: number;
  catI: number;
  catII: number;
  catIII: number;
  newer: number;
  gone: number;
  /** The most rules of one STIG. */
  most: number;
  oldest: string | null;
}

/**
 * The STIGs of a list. The release that counts is the pinned one, or the newest; none where it is gone (rule D36.1).
 * `severities`, joined by commas, leave out those without a rule of them; '' leaves out none.
 */
const rows = `
  FROM list_stigs AS entry
  LEFT JOIN stigs ON stigs.id = ${stigOf('entry')}
  LEFT JOIN stig_releases AS newest ON newest.id = stigs.current_release_id
  LEFT JOIN stig_releases AS counted ON counted.id = iif(entry.release IS NULL, stigs.current_release_id,
       (SELECT pinned.id FROM stig_releases AS pinned
         WHERE pinned.stig_id = stigs.id AND pinned.version = entry.release))
 WHERE entry.list_id = :list
   AND (:severities = ''
        OR instr(:severities, 'high') > 0 AND counted.high > 0
        OR instr(:severities, 'medium') > 0 AND counted.medium > 0
        OR instr(:severities, 'low') > 0 AND counted.low > 0)`;

const slug = 'coalesce(stigs.slug, entry.slug)';
const title = 'coalesce(counted.title, newest.title, entry.title)';
const state = `CASE WHEN counted.id IS NULL THEN 'gone'
  WHEN counted.release_order < newest.release_order THEN 'outdated' ELSE 'current' END`;
const addedOrder = `(SELECT added.release_order FROM stig_releases AS added
  WHERE added.stig_id = stigs.id AND added.version = entry.version)`;
// A release that the catalog no longer has is older than the current one.
const isNewer = `coalesce(iif(entry.release IS NULL,
  counted.version <> entry.version AND coalesce(${addedOrder}, '') < counted.release_order, ${state} = 'outdated'), 0)`;

const columns = `
  ${slug} AS slug,
  ${title} AS title,
  coalesce(counted.version, '') AS version,
  coalesce(counted.status, '') AS status,
  counted.status_date AS statusDate,
  coalesce(counted.finding_count, 0) AS findingCount,
  coalesce(counted.high, 0) AS catI,
  coalesce(counted.medium, 0) AS catII,
  coalesce(counted.low, 0) AS catIII,
  entry.added_at AS addedAt,
  entry.position,
  entry.notes,
  entry.release,
  coalesce(newest.version, '') AS newest,
  ${state} AS state,
  entry.version AS addedVersion,
  counted.id AS releaseId,
  counted.release_date AS releaseDate,
  ${isNewer} AS isNewer,
  ${addedOrder} IS NOT NULL AS isAddedRetained`;

const totals = `
  count(*) AS stigs,
  coalesce(sum(counted.finding_count), 0) AS findingCount,
  coalesce(sum(counted.high), 0) AS catI,
  coalesce(sum(counted.medium), 0) AS catII,
  coalesce(sum(counted.low), 0) AS catIII,
  coalesce(sum(${isNewer}), 0) AS newer,
  coalesce(sum(counted.id IS NULL), 0) AS gone,
  coalesce(max(counted.finding_count), 0) AS most,
  min(counted.release_date) AS oldest`;

const sortable: Record<(typeof listRowColumns)[number], string> = {
  position: 'entry.position',
  title: `lower(${title})`,
  version: 'counted.release_order',
  date: 'counted.release_date',
  rules: 'counted.finding_count',
  high: 'counted.high',
  notes: "nullif(entry.notes, '')",
};
const byPosition = `entry.position, ${slug}`;

function orderOf(sort: ListRowSort): string {
  const { column, down } = sortOf(sort);
  return `${sortable[column]} ${down ? 'DESC' : 'ASC'} NULLS LAST, ${byPosition}`;
}

interface RowSelection {
  list: string;
  severities: string;
}

/** Which rows are read, and in which order; all by position, where nothing is given. */
interface RowOptions {
  severities?: string;
  sort?: ListRowSort | undefined;
  limit?: number;
  offset?: number;
}

/** Reads the STIGs of lists. */
export function createListRows({ sqlite }: Database) {
  const count = sqlite.prepare<[RowSelection], number>(`SELECT count(*) ${rows}`).pluck();
  const totalsOf = sqlite.prepare<[RowSelection], ListTotals>(`SELECT ${totals} ${rows}`);
  const prepareEntries = (order: string) =>
    sqlite.prepare<[RowSelection & { limit: number; offset: number }], ListRow>(
      `SELECT ${columns} ${rows} ORDER BY ${order} LIMIT :limit OFFSET :offset`,
    );
  const inPlace = prepareEntries(byPosition);
  return {
    count: (list: string, severities = '') => count.get({ list, severities })!,
    totals: (list: string) => totalsOf.get({ list, severities: '' })!,

    entries(list: string, { severities = '', sort, limit = -1, offset = 0 }: RowOptions = {}): ListRow[] {
      const query = sort === undefined ? inPlace : prepareEntries(orderOf(sort));
      return query.all({ list, severities, limit, offset }).map((row) => ({
        ...row,
        isNewer: Boolean(row.isNewer),
        isAddedRetained: Boolean(row.isAddedRetained),
      }));
    },
  };
}
