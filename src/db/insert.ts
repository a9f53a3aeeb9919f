import type { Database } from './database.ts';

/**
 * Prepares an INSERT into a table. The function that it gives takes the values by the names of the columns in camel case,
 * objects and lists as JSON, and gives the id of the row; it throws for a column without a value.
 */
export function prepareInsert({ sqlite }: Pick<Database, 'sqlite'>, table: string) {
  const columns = sqlite.pragma(`table_info(${table})`) as { name: string }[];
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  const keys = columns.map(({ name }) => name.replace(/_./g, ([, letter]) => letter!.toUpperCase()));
  const places = columns.map(() => '?').join(', ');
  const insert = sqlite.prepare(`INSERT INTO ${table} (${names}) VALUES (${places})`);
  return (row: object): number => {
    const given = row as Record<string, unknown>;
    const values = keys.map((key) => {
      const value = given[key];
      // The driver would store a missing value as NULL.
      if (value === undefined) throw new Error(`${table} needs a value for ${key}`);
      const isJson = typeof value === 'object' && value !== null && !Buffer.isBuffer(value);
      return isJson ? JSON.stringify(value) : value;
    });
    return Number(insert.run(values).lastInsertRowid);
  };
}
