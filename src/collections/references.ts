import { eq, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { createFindControl } from '../catalog/controls/keys.ts';
import type { Database } from '../db/database.ts';
import { documentKeys, occupationKeys } from '../db/role-tables.ts';
import { createSlugOf } from '../db/stig-slugs.ts';
import { knownStigs } from '../db/user-tables.ts';

/** What users' data refers to in the catalog: the reference that is kept, and whether the catalog still holds it. */
interface Referred<T> {
  reference: T;
  isServed: boolean;
}

/**
 * The one place that knows how an entry or a favorite refers to the catalog. What is gone from the catalog keeps its
 * reference, and is shown as it was last known.
 */
export function createReferences(db: Database) {
  const bySlug = db.orm
    .select({ slug: knownStigs.slug, reference: knownStigs.id, releaseId: knownStigs.releaseId })
    .from(knownStigs)
    .where(eq(knownStigs.slug, sql.placeholder('slug')))
    .prepare();
  const slugOf = createSlugOf(db);
  const findControl = createFindControl(db);
  const document = prepareKey(db, documentKeys, documentKeys.documentId);
  const occupation = prepareKey(db, occupationKeys, occupationKeys.occupationCode);
  return {
    /** By its slug or an alias. */
    stig(name: string): (Referred<number> & { slug: string }) | null {
      const row = bySlug.get({ slug: slugOf(name) });
      return row ? { slug: row.slug, reference: row.reference, isServed: row.releaseId !== null } : null;
    },

    /** By its id, or its identifier in any usual spelling. */
    control(framework: string, controlId: string): (Referred<string> & { identifier: string }) | null {
      const row = findControl(framework, controlId);
      return row ? { reference: row.id, isServed: row.inCatalog, identifier: row.identifier } : null;
    },

    /** Of what the catalog holds or ever held. */
    document: (id: string) => document.get({ key: id }) ?? null,
    occupation: (code: string) => occupation.get({ key: code }) ?? null,
  };
}

function prepareKey({ orm }: Database, table: SQLiteTable, key: SQLiteColumn) {
  return orm
    .select({ reference: sql<string>`${key}` })
    .from(table)
    .where(eq(key, sql.placeholder('key')))
    .prepare();
}
