import { integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';

// The Drizzle mirror of migrations/catalog/0003_guidance.sql; a test compares the two column by column.

export const occupations = sqliteTable('occupations', {
  occupationCode: text('occupation_code').primaryKey(),
  title: text('title').notNull(),
  titleFold: text('title_fold').notNull(),
  familyFold: text('family_fold').notNull(),
  jobZone: integer('job_zone'),
  summary: text('summary_json', { mode: 'json' }).$type<object>().notNull(),
  details: text('details_json', { mode: 'json' }).notNull(),
});

export const workRoles = sqliteTable('work_roles', {
  workRoleId: text('work_role_id').primaryKey(),
  name: text('name').notNull(),
  categoryCode: text('category_code').notNull(),
  categoryName: text('category_name').notNull(),
});

export const roleMappings = sqliteTable('role_mappings', {
  id: integer('id').primaryKey(),
  stigId: integer('stig_id').notNull(),
  relevanceRank: integer('relevance_rank').notNull(),
  occupationCode: text('occupation_code').notNull(),
  confidenceScore: real('confidence_score').notNull(),
  responsibilityLevel: text('responsibility_level').notNull(),
  mappingSource: text('mapping_source', { enum: ['automated', 'curated'] }).notNull(),
  mappingReason: text('mapping_reason').notNull(),
  workRoleId: text('work_role_id'),
  rule: text('rule').notNull(),
});

export const mappingProducts = sqliteTable('mapping_products', {
  name: text('name').primaryKey(),
  product: text('product').notNull(),
});

export const mappingCandidates = sqliteTable('mapping_candidates', {
  occupationCode: text('occupation_code').primaryKey(),
  jobZone: integer('job_zone'),
  commodities: text('commodities').notNull(),
});

export const documents = sqliteTable('documents', {
  documentId: text('document_id').primaryKey(),
  title: text('title').notNull(),
  titleFold: text('title_fold').notNull(),
  publisherFold: text('publisher_fold').notNull(),
  publisherIdFold: text('publisher_id_fold').notNull(),
  doctypeFold: text('doctype_fold').notNull(),
  summary: text('summary_json', { mode: 'json' }).$type<object>().notNull(),
  record: text('record_json', { mode: 'json' }).notNull(),
});
