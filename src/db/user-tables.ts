import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { mappingStatuses } from './control-tables.ts';

// The Drizzle mirror of migrations/users; a test compares the two column by column.

export type CollectionKind = 'list' | 'control-collection' | 'regdoc-collection' | 'role-collection';

export const collections = sqliteTable('bundles', {
  id: text('id').primaryKey(),
  kind: text('kind').$type<CollectionKind>().notNull(),
  name: text('name').notNull(),
  description: text('description').notNull(),
  tags: text('tags', { mode: 'json' }).$type<string[]>().notNull(),
  color: text('color').notNull(),
  icon: text('icon').notNull(),
  visibility: text('visibility').$type<'PRIVATE' | 'SHARED'>().notNull(),
  createdById: text('created_by_id').notNull(),
  createdByEmail: text('created_by_email'),
  organizationId: text('organization_id'),
  createdAt: text('created_at').notNull(),
  updatedAt: text('updated_at').notNull(),
  deletedAt: text('deleted_at'),
  revision: integer('revision').notNull(),
});

const placed = { position: integer('position').notNull(), addedAt: text('added_at').notNull() };
const annotated = { position: placed.position, notes: text('notes').notNull(), addedAt: placed.addedAt };

/** How users' data refers to the catalog, with the values last seen there (rule D23.2). */
const stig = {
  slug: text('slug').notNull(),
  benchmarkId: text('benchmark_id').notNull(),
  title: text('title').notNull(),
};
const control = {
  framework: text('framework', { enum: ['nist-800-53', 'nist-800-171', 'dod-8500'] }).notNull(),
  identifier: text('identifier').notNull(),
  title: text('title').notNull(),
  family: text('family').notNull(),
};
const summary = text('summary_json', { mode: 'json' }).$type<object>().notNull();

export const listStigs = sqliteTable('list_stigs', {
  collectionId: text('list_id').notNull(),
  ...stig,
  version: text('version').notNull(),
  ...annotated,
  release: text('release'),
});

export const listHosts = sqliteTable('list_hosts', {
  collectionId: text('list_id').primaryKey(),
  hosts: text('hosts_json', { mode: 'json' }).$type<object[]>().notNull(),
});

export const listSeen = sqliteTable('list_seen', {
  collectionId: text('list_id').notNull(),
  subject: text('subject').notNull(),
  seenAt: text('seen_at').notNull(),
  versions: text('versions_json', { mode: 'json' }).$type<Record<string, string>>().notNull(),
});

export const removals = sqliteTable('removals', {
  subject: text('subject').primaryKey(),
  id: text('id').notNull(),
  label: text('label').notNull(),
  kind: text('kind', {
    enum: [
      'list_stigs',
      'list_notes',
      'list_hosts',
      'collection_controls',
      'favorite_stigs',
      'favorite_controls',
    ],
  }).notNull(),
  ofCollection: text('of_collection'),
  revision: integer('revision'),
  rows: text('rows_json', { mode: 'json' }).$type<Record<string, unknown>[]>().notNull(),
  removedAt: text('removed_at').notNull(),
});

export const collectionControls = sqliteTable('collection_controls', {
  collectionId: text('collection_id').notNull(),
  ...control,
  ...annotated,
});

export const collectionDocuments = sqliteTable('collection_documents', {
  collectionId: text('collection_id').notNull(),
  documentId: text('document_id').notNull(),
  summary,
  ...placed,
});

export const collectionRoles = sqliteTable('collection_roles', {
  collectionId: text('collection_id').notNull(),
  occupationCode: text('occupation_code').notNull(),
  summary,
  ...placed,
});

export const favoriteStigs = sqliteTable('favorite_stigs', {
  subject: text('subject').notNull(),
  ...stig,
  addedAt: text('added_at').notNull(),
});

export const favoriteControls = sqliteTable('favorite_controls', {
  id: text('id').primaryKey(),
  subject: text('subject').notNull(),
  ...control,
  addedAt: text('added_at').notNull(),
});

export const integrationTokens = sqliteTable('integration_tokens', {
  id: text('id').primaryKey(),
  hash: text('hash').notNull(),
  name: text('name').notNull(),
  organizationId: text('organization_id').notNull(),
  scope: text('scope').$type<'lists:read'>().notNull(),
  createdAt: text('created_at').notNull(),
  expiresAt: text('expires_at'),
  revokedAt: text('revoked_at'),
});

export const integrationTokenLists = sqliteTable('integration_token_lists', {
  tokenId: text('token_id').notNull(),
  listId: text('list_id').notNull(),
});

/** Who a session or token speaks for. */
const person = {
  subject: text('subject').notNull(),
  email: text('email'),
  organization: text('organization'),
  entitlements: text('entitlements', { mode: 'json' }).$type<('regdoc' | 'occ')[]>().notNull(),
};

export const sessions = sqliteTable('sessions', {
  hash: text('hash').primaryKey(),
  ...person,
  createdAt: text('created_at').notNull(),
  usedAt: text('used_at').notNull(),
  endsAt: text('ends_at').notNull(),
  certificate: text('certificate'),
});

export const usedNonces = sqliteTable('used_nonces', {
  hash: text('hash').primaryKey(),
  endsAt: text('ends_at').notNull(),
});

export const userTokens = sqliteTable('user_tokens', {
  id: text('id').primaryKey(),
  hash: text('hash').notNull(),
  name: text('name').notNull(),
  ...person,
  certificate: text('certificate'),
  createdAt: text('created_at').notNull(),
  expiresAt: text('expires_at').notNull(),
  revokedAt: text('revoked_at'),
});

export const clock = sqliteTable('clock', {
  only: integer('only').primaryKey(),
  latest: text('latest').notNull(),
});

export const mappingDecisions = sqliteTable('mapping_decisions', {
  aFramework: text('a_framework').notNull(),
  aIdentifier: text('a_identifier').notNull(),
  bFramework: text('b_framework').notNull(),
  bIdentifier: text('b_identifier').notNull(),
  status: text('status', { enum: mappingStatuses }).notNull(),
  reason: text('reason').notNull(),
  decidedAt: text('decided_at').notNull(),
});

export const mappingChanges = sqliteTable('mapping_changes', {
  only: integer('only').primaryKey(),
  changes: integer('changes').notNull(),
});

export const contentKeys = sqliteTable('content_keys', {
  name: text('name').primaryKey(),
  channel: text('channel').notNull(),
  fingerprint: text('fingerprint').notNull(),
  publicKey: text('public_key').notNull(),
  addedAt: text('added_at').notNull(),
});

export const contentBundles = sqliteTable('content_bundles', {
  id: integer('id').primaryKey(),
  bundle: text('bundle').notNull(),
  channel: text('channel').notNull(),
  sequence: integer('sequence').notNull(),
  digest: text('digest').notNull(),
  signedBy: text('signed_by').notNull(),
  fingerprint: text('fingerprint').notNull(),
  builtAt: text('built_at').notNull(),
  appliedAt: text('applied_at').notNull(),
  state: text('state', { enum: ['begun', 'applied', 'rolled-back'] }).notNull(),
});

export const contentSequences = sqliteTable('content_sequences', {
  channel: text('channel').primaryKey(),
  sequence: integer('sequence').notNull(),
  bundle: text('bundle').notNull(),
});

export const inboxContents = sqliteTable('inbox_contents', { sha256: text('sha256').primaryKey() });

export const site = sqliteTable('site', {
  only: integer('only').primaryKey(),
  id: text('id').notNull(),
  backupAt: text('backup_at'),
});

export const shippedSources = sqliteTable('shipped_sources', { sha256: text('sha256').primaryKey() });
