import type { Database } from '../db/database.ts';
import type { Pagination } from './schema.ts';

/** The requested page of a list. */
export interface Page {
  page: number;
  limit: number;
}

/** The pagination object of rule D3.1. */
export function paginationOf({ page, limit }: Page, total: number): Pagination {
  return { page, limit, total, totalPages: Math.ceil(total / limit) };
}

/** The offset of a page's first row, at most the total, so that SQL gets no huge number. */
export function offsetOf({ page, limit }: Page, total: number): number {
  return Math.min((page - 1) * limit, total);
}

export function slice<T>(rows: T[], page: Page): T[] {
  const from = offsetOf(page, rows.length);
  return rows.slice(from, from + page.limit);
}

/** The page that has the row at a place, and how many of its rows are before it. */
export function pageAt(at: number, limit = 100): { page: number; limit: number; skip: number } {
  return { page: Math.floor(at / limit) + 1, limit, skip: at % limit };
}

/**
 * Prepares a list in SQL. `matching` is its FROM and WHERE, with the filters as named parameters. The list gives a page of
 * rows; all of them on one page where no limit is asked for.
 */
export function prepareList<Row>(
  { sqlite, read }: Pick<Database, 'sqlite' | 'read'>,
  { columns, matching, order }: { columns: string; matching: string; order: string },
) {
  const counted = sqlite.prepare<object, number>(`SELECT count(*) ${matching}`).pluck();
  const selected = sqlite.prepare<object, Row>(
    `SELECT ${columns} ${matching} ORDER BY ${order} LIMIT @limit OFFSET @offset`,
  );
  return (filter: object, asked: { page?: number | undefined; limit?: number | undefined }) =>
    read(() => {
      const total = counted.get(filter)!;
      const page = { page: asked.page ?? 1, limit: asked.limit ?? Math.max(1, total) };
      const rows = selected.all({ ...filter, limit: page.limit, offset: offsetOf(page, total) });
      return { rows, pagination: paginationOf(page, total) };
    });
}
