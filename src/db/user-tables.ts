import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

// The Drizzle mirror of migrations/users; a test compares the two column by column.

export type CollectionKind = 'list' | 'control-collection' | 'regdoc-collection' | 'role-collection';

export const collections = sqliteTable('bundles', {
  id: text().primaryKey(),
  kind: text().$type<CollectionKind>().notNull(),
  name: text().notNull(),
  description: text().notNull(),
  tags: text({ mode: 'json' }).$type<string[]>().notNull(),
  color: text().notNull(),
  icon: text().notNull(),
  visibility: text().$type<'PRIVATE' | 'SHARED'>().notNull(),
  createdById: text().notNull(),
  createdByEmail: text(),
  organizationId: text(),
  createdAt: text().notNull(),
  updatedAt: text().notNull(),
  deletedAt: text(),
  revision: integer().notNull(),
});

const placed = { position: integer().notNull(), addedAt: text().notNull() };
const annotated = { position: placed.position, notes: text().notNull(), addedAt: placed.addedAt };

/** How users' data refers to the catalog, with the values last seen there (rule D23.2). */
const stig = {
  slug: text().notNull(),
  benchmarkId: text().notNull(),
  title: text().notNull(),
};
const control = {
  framework: text({ enum: ['nist-800-53', 'nist-800-171', 'dod-8500'] }).notNull(),
  identifier: text().notNull(),
  title: text().notNull(),
  family: text().notNull(),
};

export const listStigs = sqliteTable('list_stigs', {
  collectionId: text('list_id').notNull(),
  ...stig,
  version: text().notNull(),
  ...annotated,
  release: text(),
});

export const collectionControls = sqliteTable('collection_controls', {
  collectionId: text().notNull(),
  ...control,
  ...annotated,
});

export const favoriteStigs = sqliteTable('favorite_stigs', {
  subject: text().notNull(),
  ...stig,
  addedAt: text().notNull(),
});

export const favoriteControls = sqliteTable('favorite_controls', {
  id: text().primaryKey(),
  subject: text().notNull(),
  ...control,
  addedAt: text().notNull(),
});

export const integrationTokens = sqliteTable('integration_tokens', {
  id: text().primaryKey(),
  hash: text().notNull(),
  name: text().notNull(),
  organizationId: text().notNull(),
  scope: text().$type<'lists:read'>().notNull(),
  createdAt: text().notNull(),
  expiresAt: text(),
  revokedAt: text(),
});

export const integrationTokenLists = sqliteTable('integration_token_lists', {
  tokenId: text().notNull(),
  listId: text().notNull(),
});

/** Who a session or token speaks for. */
const person = {
  subject: text().notNull(),
  email: text(),
  organization: text(),
  entitlements: text({ mode: 'json' }).$type<('regdoc' | 'occ')[]>().notNull(),
};

export const sessions = sqliteTable('sessions', {
  hash: text().primaryKey(),
  ...person,
  createdAt: text().notNull(),
  usedAt: text().notNull(),
  endsAt: text().notNull(),
  certificate: text(),
});

export const userTokens = sqliteTable('user_tokens', {
  id: text().primaryKey(),
  hash: text().notNull(),
  name: text().notNull(),
  ...person,
  certificate: text(),
  createdAt: text().notNull(),
  expiresAt: text().notNull(),
  revokedAt: text(),
});
