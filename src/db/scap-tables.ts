import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

// The Drizzle mirror of migrations/catalog/0007_scap.sql; a test compares the two column by column.

export const scapFacts = sqliteTable('scap_facts', {
  sourceId: integer('source_id').notNull(),
  ordinal: integer('ordinal').notNull(),
  benchmarkId: text('benchmark_id').notNull(),
  name: text('name').notNull(),
  publisher: text('publisher').notNull(),
  version: text('version').notNull(),
  date: text('date'),
  scapVersion: text('scap_version').notNull(),
  rules: text('rules', { mode: 'json' })
    .$type<[ruleId: string, groupId: string, automated: 0 | 1][]>()
    .notNull(),
});

export const scapContents = sqliteTable('scap_contents', {
  sourceId: integer('source_id').notNull(),
  ordinal: integer('ordinal').notNull(),
  stigId: integer('stig_id'),
});
