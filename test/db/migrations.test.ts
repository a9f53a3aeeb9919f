import { toSnakeCase } from 'drizzle-orm/casing';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import * as assert from 'uvu/assert';
import { openCatalog } from '../../src/db/database.ts';
import { listMigrations } from '../../src/db/schema.ts';
import * as userTables from '../../src/db/user-tables.ts';
import { suite } from '../support/harness.ts';

const migrations = suite('Migrations');

migrations(
  'the Drizzle mirror equals the migrated schema of the data of users, column by column',
  async () => {
    const db = openCatalog(':memory:', { create: true });
    const list = db.sqlite.pragma('table_list') as {
      schema: string;
      name: string;
      strict: number;
      type: string;
    }[];
    const stored = list.filter(
      ({ schema, name, type }) => schema === 'main' && type === 'table' && !name.startsWith('sqlite_'),
    );
    const mirrors = Object.values(userTables)
      .filter((value) => value instanceof SQLiteTable)
      .map((table) => getTableConfig(table));
    assert.ok(mirrors.length > 8);
    for (const { name, strict } of stored) assert.is(strict, 1, `${name} is not STRICT`);
    for (const mirror of mirrors) {
      const { name } = mirror;
      assert.ok(
        stored.some((table) => table.name === name),
        `there is no table ${name}`,
      );
      const columns = db.sqlite.pragma(`table_info(${name})`) as {
        name: string;
        type: string;
        notnull: number;
        pk: number;
      }[];
      const described = mirror.columns.map((column) => ({
        name: toSnakeCase(column.name),
        type: column.getSQLType().toUpperCase(),
        notNull: column.notNull,
      }));
      // A primary key is never null, whether or not it says so.
      const actual = columns.map((column) => ({
        name: column.name,
        type: column.type,
        notNull: column.notnull === 1 || column.pk > 0,
      }));
      assert.equal(described, actual, name);
      const keys = mirror.columns
        .filter((column) => column.primary)
        .map((column) => toSnakeCase(column.name));
      const primary = columns.filter((column) => column.pk > 0).map((column) => column.name);
      // A key of several columns is stated by the migration alone.
      assert.equal(keys, primary.length === 1 ? primary : [], `${name}: the primary key`);
    }
    db.close();
  },
);

migrations('are numbered one after the other', () => {
  for (const kind of ['catalog', 'users'] as const) {
    const numbers = listMigrations(kind).map(({ number }) => number);
    assert.equal(
      numbers,
      numbers.map((_, index) => numbers[0]! + index),
    );
  }
});

migrations.run();
