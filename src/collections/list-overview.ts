import type { Viewer } from '../auth/viewer.ts';
import type { Database } from '../db/database.ts';
import { offsetOf, type Page, paginationOf } from '../http/paging.ts';
import { createVisible } from './collections.ts';
import { createListRows, type OverviewSort } from './list-rows.ts';
import type { ListSheetRow } from './lists-schema.ts';

export type ListOverviewService = ReturnType<typeof createListOverviewService>;
export type Overview = ReturnType<ListOverviewService['overview']>;

/** A list as a whole: every STIG with its release, its age and its counts. */
export function createListOverviewService(db: Database) {
  const lists = createVisible(db, 'list');
  const rows = createListRows(db);
  return {
    /** A page of the STIGs of a list, and the counts of all of them together. Throws the one 404. */
    overview(viewer: Viewer, id: string, { sort, ...page }: Page & { sort?: OverviewSort | undefined }) {
      return db.read(() => {
        lists.find(viewer, id);
        const totals = rows.totals(id);
        const entries = rows.overview(id, sort, page.limit, offsetOf(page, totals.stigs));
        return { entries, totals, pagination: paginationOf(page, totals.stigs) };
      });
    },

    /** All STIGs of a list with their notes, as a sheet has them. Throws the one 404. */
    sheet(viewer: Viewer, id: string): ListSheetRow[] {
      return db.read(() => {
        lists.find(viewer, id);
        return rows.overview(id);
      });
    },
  };
}
