import { integer, sqliteTable, sqliteView, text } from 'drizzle-orm/sqlite-core';

// The Drizzle mirror of migrations/catalog/0002_controls.sql; a test compares the two column by column.

export const mappingStatuses = ['auto', 'verified', 'rejected'] as const;

export const controlFacts = sqliteTable('control_facts', {
  sourceId: integer('source_id').notNull(),
  framework: text('framework').notNull(),
  version: text('version').notNull(),
  edition: text('edition').notNull(),
  identifier: text('identifier').notNull(),
  record: text('record').notNull(),
});

export const baselineFacts = sqliteTable('baseline_facts', {
  sourceId: integer('source_id').notNull(),
  framework: text('framework').notNull(),
  version: text('version').notNull(),
  edition: text('edition').notNull(),
  baseline: text('baseline').notNull(),
  title: text('title').notNull(),
  identifier: text('identifier').notNull(),
});

export const mappingFacts = sqliteTable('mapping_facts', {
  sourceId: integer('source_id').notNull(),
  ordinal: integer('ordinal').notNull(),
  edition: text('edition').notNull(),
  fromFramework: text('from_framework').notNull(),
  fromVersion: text('from_version').notNull(),
  fromIdentifier: text('from_identifier').notNull(),
  toFramework: text('to_framework').notNull(),
  toVersion: text('to_version').notNull(),
  toIdentifier: text('to_identifier').notNull(),
  reference: text('reference').notNull(),
  row: integer('row'),
});

export const mappingDetails = sqliteTable('mapping_details', {
  sourceId: integer('source_id').notNull(),
  ordinal: integer('ordinal').notNull(),
  relationship: text('relationship').notNull(),
  isVerified: integer('is_verified').notNull(),
  stated: text('stated'),
});

export const frameworkVersions = sqliteTable('framework_versions', {
  framework: text('framework').notNull(),
  version: text('version').notNull(),
  edition: text('edition').notNull(),
  isDefault: integer('is_default').notNull(),
  isNewest: integer('is_newest').notNull(),
});

export const baselines = sqliteTable('baselines', {
  framework: text('framework').notNull(),
  version: text('version').notNull(),
  ordinal: integer('ordinal').notNull(),
  name: text('name').notNull(),
  title: text('title').notNull(),
  controls: integer('controls').notNull(),
  sourceId: integer('source_id').notNull(),
});

export const controlKeys = sqliteTable('control_keys', {
  id: text('id').notNull().primaryKey(),
  framework: text('framework').notNull(),
  identifier: text('identifier').notNull(),
  sortKey: text('sort_key').notNull(),
});

export const knownControls = sqliteView('known_controls', {
  id: text('id').notNull(),
  framework: text('framework', { enum: ['nist-800-53', 'nist-800-171', 'dod-8500'] }).notNull(),
  identifier: text('identifier').notNull(),
  sortKey: text('sort_key').notNull(),
  title: text('title').notNull(),
  family: text('family').notNull(),
  statement: text('statement').notNull(),
}).existing();

export const controls = sqliteTable('controls', {
  framework: text('framework').notNull(),
  version: text('version').notNull(),
  ordinal: integer('ordinal').notNull(),
  identifier: text('identifier').notNull(),
  controlId: text('control_id').notNull(),
  status: text('status', { enum: ['active', 'withdrawn'] }).notNull(),
  title: text('title').notNull(),
  family: text('family').notNull(),
  familyNames: text('family_names', { mode: 'json' }).$type<string[]>().notNull(),
  filterWords: text('filter_words', { mode: 'json' }).$type<string[]>().notNull(),
  searchText: text('search_text').notNull(),
  statement: text('statement').notNull(),
  listJson: text('list_json').notNull(),
  recordJson: text('record_json').notNull(),
  withdrawnInto: text('withdrawn_into', { mode: 'json' }).$type<string[]>().notNull(),
});

export const crosswalkNodes = sqliteTable('crosswalk_nodes', {
  id: integer('id').primaryKey(),
  framework: text('framework').notNull(),
  identifier: text('identifier').notNull(),
});

export const crosswalkEdges = sqliteTable('crosswalk_edges', {
  a: integer('a').notNull(),
  b: integer('b').notNull(),
  status: text('status', { enum: mappingStatuses }).notNull(),
});

export const crosswalkEvidence = sqliteTable('crosswalk_evidence', {
  a: integer('a').notNull(),
  b: integer('b').notNull(),
  sourceId: integer('source_id').notNull(),
  ordinal: integer('ordinal').notNull(),
});

// Of migrations/catalog/0008_parameter_values.sql.
export const parameterValueFacts = sqliteTable('parameter_value_facts', {
  sourceId: integer('source_id').notNull(),
  baseline: text('baseline').notNull(),
  parameter: text('parameter').notNull(),
  value: text('value').notNull(),
});

// Of migrations/catalog/0011_profiles.sql.
export const profileFacts = sqliteTable('profile_facts', {
  sourceId: integer('source_id').notNull().primaryKey(),
  record: text('record').notNull(),
});

export const frameworkTitles = sqliteTable('framework_titles', {
  sourceId: integer('source_id').notNull().primaryKey(),
  framework: text('framework').notNull(),
  version: text('version').notNull(),
  edition: text('edition').notNull(),
  title: text('title').notNull(),
});

export const profileValues = sqliteTable('profile_values', {
  sourceId: integer('source_id').notNull(),
  ordinal: integer('ordinal').notNull(),
  parameter: text('parameter').notNull(),
  value: text('value').notNull(),
});
