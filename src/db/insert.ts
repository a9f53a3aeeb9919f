import { getTableColumns, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Database } from './database.ts';

/** Prepares one INSERT of the columns of a table (but those left out); `run` takes the values by their names. */
export function prepareInsert<T extends SQLiteTable>(db: Database, table: T, without: string[] = []) {
  const names = Object.keys(getTableColumns(table)).filter((name) => !without.includes(name));
  const values = Object.fromEntries(names.map((name) => [name, sql.placeholder(name)]));
  const statement = db.orm
    .insert(table)
    .values(values as unknown as T['$inferInsert'])
    .prepare();
  return { run: (row: T['$inferInsert']): void => void statement.run(row as Record<string, unknown>) };
}
