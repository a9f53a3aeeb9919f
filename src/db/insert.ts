import { getTableColumns, getTableName } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Database } from './database.ts';

/**
 * Prepares one INSERT of the columns of a table (but those left out); `run` takes the values by their names. Drizzle
 * gives the names and says which values are JSON; the statement is bound directly, which halves what a row costs.
 */
export function prepareInsert<T extends SQLiteTable>(db: Database, table: T, without: string[] = []) {
  const columns = Object.entries(getTableColumns(table)).filter(([key]) => !without.includes(key));
  const keys = columns.map(([key]) => key);
  const isJson = columns.map(([, column]) => column.dataType === 'json');
  const names = columns.map(([, column]) => `"${column.name}"`).join(', ');
  const places = columns.map(() => '?').join(', ');
  const insert = `INSERT INTO "${getTableName(table)}" (${names}) VALUES (${places})`;
  const statement = db.sqlite.prepare(insert);
  return {
    run(row: T['$inferInsert']): void {
      const given = row as Record<string, unknown>;
      const values = keys.map((key, index) => {
        const value = given[key];
        // better-sqlite3 would store a value that was forgotten as NULL.
        if (value === undefined) throw new Error(`${getTableName(table)} needs a value for ${key}`);
        return isJson[index] ? JSON.stringify(value) : value;
      });
      statement.run(values);
    },
  };
}
