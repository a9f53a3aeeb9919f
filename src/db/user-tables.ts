import { integer, sqliteTable, sqliteView, text } from 'drizzle-orm/sqlite-core';

// The Drizzle mirror of migrations/0003_users.sql and of the memberships of 0004_roles.sql; a test
// compares the two column by column. What an entry or a favorite is of is its `reference`, in every table.

export const knownStigs = sqliteView('known_stigs', {
  id: integer('id').notNull(),
  slug: text('slug').notNull(),
  releaseId: integer('release_id'),
  title: text('title').notNull(),
  version: text('version').notNull(),
  status: text('status').notNull(),
  statusDate: text('status_date'),
  findingCount: integer('finding_count').notNull(),
  high: integer('high').notNull(),
  medium: integer('medium').notNull(),
  low: integer('low').notNull(),
}).existing();

export const knownControls = sqliteView('known_controls', {
  id: text('id').notNull(),
  framework: text('framework', { enum: ['nist-800-53', 'nist-800-171', 'dod-8500'] }).notNull(),
  identifier: text('identifier').notNull(),
  sortKey: text('sort_key').notNull(),
  inCatalog: integer('in_catalog', { mode: 'boolean' }).notNull(),
  title: text('title').notNull(),
  family: text('family').notNull(),
  statement: text('statement').notNull(),
}).existing();

export type CollectionKind = 'list' | 'control-collection' | 'regdoc-collection' | 'role-collection';

/** Lists and the three kinds of collections. */
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
});

const placed = { position: integer('position').notNull(), addedAt: text('added_at').notNull() };
const annotated = { position: placed.position, notes: text('notes').notNull(), addedAt: placed.addedAt };

export const listStigs = sqliteTable('list_stigs', {
  collectionId: text('list_id').notNull(),
  reference: integer('stig_id').notNull(),
  ...annotated,
});

export const collectionControls = sqliteTable('collection_controls', {
  collectionId: text('collection_id').notNull(),
  reference: text('control_id').notNull(),
  ...annotated,
});

export const collectionDocuments = sqliteTable('collection_documents', {
  collectionId: text('collection_id').notNull(),
  reference: text('document_id').notNull(),
  ...placed,
});

export const collectionRoles = sqliteTable('collection_roles', {
  collectionId: text('collection_id').notNull(),
  reference: text('occupation_code').notNull(),
  ...placed,
});

export const favoriteStigs = sqliteTable('favorite_stigs', {
  subject: text('subject').notNull(),
  reference: integer('stig_id').notNull(),
  addedAt: text('added_at').notNull(),
});

export const favoriteControls = sqliteTable('favorite_controls', {
  id: text('id').primaryKey(),
  subject: text('subject').notNull(),
  reference: text('control_id').notNull(),
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

export const sessions = sqliteTable('sessions', {
  hash: text('hash').primaryKey(),
  subject: text('subject').notNull(),
  email: text('email'),
  organization: text('organization'),
  entitlements: text('entitlements', { mode: 'json' }).$type<('regdoc' | 'occ')[]>().notNull(),
  createdAt: text('created_at').notNull(),
  usedAt: text('used_at').notNull(),
  endsAt: text('ends_at').notNull(),
});

export const clock = sqliteTable('clock', {
  only: integer('only').primaryKey(),
  latest: text('latest').notNull(),
});
