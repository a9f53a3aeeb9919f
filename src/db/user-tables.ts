import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

// The Drizzle mirror of the tables of migrations/0003_users.sql; a test compares the two column by column.

export type BundleKind = 'list' | 'control-collection' | 'regdoc-collection' | 'role-collection';

export const bundles = sqliteTable('bundles', {
  id: text('id').primaryKey(),
  kind: text('kind').$type<BundleKind>().notNull(),
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

export const listStigs = sqliteTable(
  'list_stigs',
  {
    listId: text('list_id').notNull(),
    stigId: integer('stig_id').notNull(),
    position: integer('position').notNull(),
    notes: text('notes').notNull(),
    addedAt: text('added_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.listId, table.stigId] })],
);

export const collectionControls = sqliteTable(
  'collection_controls',
  {
    collectionId: text('collection_id').notNull(),
    controlId: text('control_id').notNull(),
    position: integer('position').notNull(),
    notes: text('notes').notNull(),
    addedAt: text('added_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.collectionId, table.controlId] })],
);

export const favoriteStigs = sqliteTable(
  'favorite_stigs',
  {
    subject: text('subject').notNull(),
    stigId: integer('stig_id').notNull(),
    addedAt: text('added_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.subject, table.stigId] })],
);

export const favoriteControls = sqliteTable('favorite_controls', {
  id: text('id').primaryKey(),
  subject: text('subject').notNull(),
  controlId: text('control_id').notNull(),
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

export const integrationTokenLists = sqliteTable(
  'integration_token_lists',
  {
    tokenId: text('token_id').notNull(),
    listId: text('list_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tokenId, table.listId] })],
);

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

export const auditHead = sqliteTable('audit_head', {
  only: integer('only').primaryKey(),
  seq: integer('seq').notNull(),
  hash: text('hash').notNull(),
});
