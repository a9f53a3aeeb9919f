import { blob, integer, real, sqliteTable, sqliteView, text } from 'drizzle-orm/sqlite-core';

// The Drizzle mirror of migrations/catalog/0001_stigs.sql, 0004_rule_search.sql and 0005_digest.sql; a test compares the two column by column.

export const catalog = sqliteTable('catalog', {
  only: integer('only').primaryKey(),
  generation: integer('generation').notNull(),
  changedAt: text('changed_at').notNull(),
  shippedData: text('shipped_data').notNull(),
  digest: text('digest'),
});

export const importRuns = sqliteTable('import_runs', {
  id: integer('id').primaryKey(),
  startedAt: text('started_at').notNull(),
  finishedAt: text('finished_at').notNull(),
  generation: integer('generation').notNull(),
  summary: text('summary', { mode: 'json' }).notNull(),
});

export const importLedger = sqliteTable('import_ledger', {
  runId: integer('run_id').notNull(),
  ordinal: integer('ordinal').notNull(),
  source: text('source').notNull(),
  kind: text('kind').notNull(),
  sha256: text('sha256'),
  outcome: text('outcome', {
    enum: ['imported', 'unchanged', 'superseded', 'skipped', 'rejected'],
  }).notNull(),
  reason: text('reason'),
  warnings: text('warnings', { mode: 'json' }).$type<string[]>().notNull(),
  target: text('target'),
  counts: text('counts', { mode: 'json' }).$type<Record<string, number>>().notNull(),
  ms: real('ms').notNull(),
});

export const sources = sqliteTable('sources', {
  id: integer('id').primaryKey(),
  sha256: text('sha256').notNull(),
  kind: text('kind').notNull(),
  importerVersion: integer('importer_version').notNull(),
  source: text('source').notNull(),
  target: text('target'),
  importedAt: text('imported_at').notNull(),
});

export const stigs = sqliteTable('stigs', {
  id: integer('id').primaryKey(),
  slug: text('slug').notNull(),
  kind: text('kind').$type<'stig' | 'srg'>().notNull(),
  title: text('title').notNull(),
  titleFold: text('title_fold').notNull(),
  currentReleaseId: integer('current_release_id').notNull(),
});

const releaseColumns = {
  sourceId: integer('source_id').notNull(),
  idKey: text('id_key').notNull(),
  benchmarkId: text('benchmark_id').notNull(),
  version: text('version').notNull(),
  releaseOrder: text('release_order').notNull(),
  releaseInfo: text('release_info').notNull(),
  title: text('title').notNull(),
  description: text('description').notNull(),
  status: text('status').notNull(),
  statusDate: text('status_date'),
  benchmarkDate: text('benchmark_date'),
  releaseDate: text('release_date'),
  findingCount: integer('finding_count').notNull(),
  high: integer('high').notNull(),
  medium: integer('medium').notNull(),
  low: integer('low').notNull(),
  profileCount: integer('profile_count').notNull(),
};

export const stigPrintings = sqliteTable('stig_printings', {
  id: integer('id').primaryKey(),
  stigId: integer('stig_id'),
  ...releaseColumns,
  supersededBy: integer('superseded_by'),
});

export const stigReleases = sqliteView('stig_releases', {
  id: integer('id').notNull(),
  stigId: integer('stig_id').notNull(),
  ...releaseColumns,
}).existing();

export const stigEvidence = sqliteTable('stig_evidence', {
  releaseId: integer('release_id').primaryKey(),
  stigIds: blob('stig_ids', { mode: 'buffer' }).notNull(),
  rules: blob('rules', { mode: 'buffer' }).notNull(),
  numbers: blob('numbers', { mode: 'buffer' }).notNull(),
});

export const ruleMarks = sqliteTable('rule_marks', {
  releaseId: integer('release_id').primaryKey(),
  marks: text('marks').notNull(),
});

export const ruleIds = sqliteTable('rule_ids', {
  id: text('id').notNull(),
  releaseId: integer('release_id').notNull(),
});

export const stigProfiles = sqliteTable('stig_profiles', {
  releaseId: integer('release_id').notNull(),
  ordinal: integer('ordinal').notNull(),
  profileId: text('profile_id').notNull(),
  title: text('title').notNull(),
  description: text('description').notNull(),
  unselected: text('unselected', { mode: 'json' }).$type<string[]>().notNull(),
});

export const findings = sqliteTable('findings', {
  id: integer('id').primaryKey(),
  releaseId: integer('release_id').notNull(),
  ordinal: integer('ordinal').notNull(),
  groupId: text('group_id').notNull(),
  ruleId: text('rule_id').notNull(),
  ruleVersion: text('rule_version').notNull(),
  severity: text('severity').$type<'high' | 'medium' | 'low'>().notNull(),
  weight: text('weight').notNull(),
  ccis: text('ccis', { mode: 'json' }).$type<string[]>().notNull(),
  legacyIds: text('legacy_ids', { mode: 'json' }).$type<string[]>().notNull(),
  groupTitle: text('group_title').notNull(),
  groupDescription: text('group_description').notNull(),
  ruleTitle: text('rule_title').notNull(),
  fixId: text('fix_id').notNull(),
  checkSystem: text('check_system').notNull(),
  checkRefHref: text('check_ref_href'),
  checkRefName: text('check_ref_name'),
  referenceIdentifier: text('reference_identifier'),
  documentable: text('documentable').notNull(),
  responsibility: text('responsibility').notNull(),
  iaControls: text('ia_controls').notNull(),
  falsePositives: text('false_positives').notNull(),
  falseNegatives: text('false_negatives').notNull(),
  mitigations: text('mitigations').notNull(),
  severityOverrideGuidance: text('severity_override_guidance').notNull(),
  potentialImpacts: text('potential_impacts').notNull(),
  thirdPartyTools: text('third_party_tools').notNull(),
  mitigationControl: text('mitigation_control').notNull(),
  vulnDiscussion: text('vuln_discussion').notNull(),
  checkContent: text('check_content').notNull(),
  fixText: text('fix_text').notNull(),
});

export const ruleCcis = sqliteTable('rule_ccis', {
  cci: text('cci').notNull(),
  findingId: integer('finding_id').notNull(),
});
