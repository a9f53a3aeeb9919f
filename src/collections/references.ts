import { eq, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { CatalogFramework } from '../catalog/controls/frameworks.ts';
import { canonicalIdentifier } from '../catalog/controls/identifier.ts';
import { createFindControl } from '../catalog/controls/keys.ts';
import type { Database } from '../db/database.ts';
import { documents, occupations } from '../db/role-tables.ts';
import { createSlugOf } from '../db/stig-slugs.ts';
import { stigReleases, stigs } from '../db/tables.ts';
import type { collectionControls, favoriteControls, favoriteStigs, listStigs } from '../db/user-tables.ts';

/**
 * How an entry or a favorite refers to the catalog: `key` tells it from others of its list, `seen` is what is kept of it, null
 * where the catalog does not have it.
 */
export interface Reference<Seen extends object = object> {
  key: string;
  seen: Seen | null;
}

type StigRow = typeof listStigs | typeof favoriteStigs;
type ControlRow = typeof collectionControls | typeof favoriteControls;

/**
 * The id of the STIG that a row means, null where it is gone: that of its slug if it has a release of the row's benchmark id;
 * else the one that the benchmark id leads to; else that of the slug, or the one that it leads to now.
 */
export function stigOf(row: StigRow): SQL<number | null> {
  const [slug, benchmarkId] = [sql`${row}.slug`, sql`${row}.benchmark_id`];
  const leadsTo = (name: SQL) =>
    sql`(SELECT stig_id FROM stig_aliases WHERE alias = ${name}), (SELECT id FROM stigs WHERE slug = ${name})`;
  return sql`coalesce(
    (SELECT s.id FROM stigs AS s WHERE s.slug = ${slug} AND EXISTS (SELECT 1 FROM stig_releases AS r
      WHERE r.stig_id = s.id AND r.benchmark_id = ${benchmarkId} COLLATE NOCASE)),
    ${leadsTo(sql`lower(${benchmarkId})`)}, ${leadsTo(slug)})`;
}

/** The slug under which a row is shown, and found: that of its STIG, or the one that was seen. */
export function slugOf(row: StigRow): SQL<string> {
  return sql`coalesce((SELECT slug FROM stigs WHERE id = ${stigOf(row)}), ${row}.slug)`;
}

/** The key of a control that a row is of. */
export function controlOf(row: ControlRow): SQL<string> {
  return sql`${row}.framework || ' ' || ${row}.identifier`;
}

/** The release that the STIG of a row has now, or the one that was seen. */
export function versionOf(row: typeof listStigs): SQL<string> {
  return sql`coalesce((SELECT r.version FROM stigs AS s JOIN stig_releases AS r ON r.id = s.current_release_id
    WHERE s.id = ${stigOf(row)}), ${row}.version)`;
}

/** Whether a key is one of some. */
export function isAmong(key: SQL, keys: string[]): SQL {
  return sql`${key} IN (SELECT value FROM json_each(${JSON.stringify(keys)}))`;
}

/** Looks up in the catalog what users' data refers to. This file alone knows how it does (rule D23.2). */
export function createReferences(db: Database) {
  const { orm } = db;
  const bySlug = orm
    .select({
      slug: stigs.slug,
      benchmarkId: stigReleases.benchmarkId,
      title: stigs.title,
      version: stigReleases.version,
    })
    .from(stigs)
    .innerJoin(stigReleases, eq(stigReleases.id, stigs.currentReleaseId))
    .where(eq(stigs.slug, sql.placeholder('slug')))
    .prepare();
  const nameToSlug = createSlugOf(db);
  const findControl = createFindControl(db);
  const document = prepareSummary(db, documents, documents.documentId);
  const occupation = prepareSummary(db, occupations, occupations.occupationCode);
  return {
    /** By its slug or an alias. */
    stig(name: string): Reference<{ slug: string; benchmarkId: string; title: string; version: string }> {
      const slug = nameToSlug(name);
      return { key: slug, seen: bySlug.get({ slug }) ?? null };
    },

    /** By its id, or its identifier in any usual spelling. */
    control(framework: CatalogFramework, controlId: string) {
      const known = findControl(framework, controlId);
      const identifier = known?.identifier ?? canonicalIdentifier(framework, controlId) ?? controlId;
      const seen = known && { framework, identifier, title: known.title, family: known.family };
      return { key: `${framework} ${identifier}`, seen, identifier };
    },

    /** What is shown of a control: as the catalog has it, or else as it was seen, without a statement. */
    shownControl({ framework, identifier, ...seen }: SeenControl) {
      const { title, family, statement } = findControl(framework, identifier) ?? { ...seen, statement: '' };
      return { identifier, title, family, statement };
    },

    hasControl: (of: Pick<SeenControl, 'framework' | 'identifier'>) =>
      findControl(of.framework, of.identifier) !== null,

    document: (documentId: string): Reference => {
      const row = document.get({ key: documentId });
      return { key: documentId, seen: row ? { documentId, ...row } : null };
    },

    occupation: (occupationCode: string): Reference => {
      const row = occupation.get({ key: occupationCode });
      return { key: occupationCode, seen: row ? { occupationCode, ...row } : null };
    },
  };
}

type SeenControl = { framework: CatalogFramework; identifier: string; title: string; family: string };

function prepareSummary({ orm }: Database, table: typeof documents | typeof occupations, key: SQLiteColumn) {
  return orm
    .select({ summary: table.summary })
    .from(table)
    .where(eq(key, sql.placeholder('key')))
    .prepare();
}
