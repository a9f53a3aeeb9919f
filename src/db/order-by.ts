import { asc, desc, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { type Sort, sortOf } from '../base/sort.ts';

/** The terms of ORDER BY: the requested column with nulls last, then the usual order. */
export function orderBy<T extends string>(
  sort: Sort<T> | undefined,
  columns: Record<T, SQL | SQLiteColumn>,
  usual: SQL[],
): SQL[] {
  if (sort === undefined) return usual;
  const { column, down } = sortOf(sort);
  const by = columns[column];
  return [sql`${by} IS NULL`, down ? desc(by) : asc(by), ...usual];
}
