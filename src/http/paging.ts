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
