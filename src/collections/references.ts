import { eq, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { createFindControls } from '../catalog/controls/find-control.ts';
import type { CatalogFramework } from '../catalog/controls/frameworks.ts';
import { canonicalIdentifier } from '../catalog/controls/identifier.ts';
import type { StigByName, StigNameIndex } from '../catalog/stigs/name-index.ts';
import type { Database } from '../db/database.ts';
import { documents, occupations } from '../db/role-tables.ts';
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

type SeenStig = Pick<StigByName, 'slug' | 'benchmarkId' | 'title' | 'version'>;

/** STIGs by their slugs, present or former, or benchmark ids, in the order asked (rule D24.2). */
export function referencesToStigs(stigNames: Pick<StigNameIndex, 'ofSlug'>, names: string[]) {
  return names.map((name): Reference<SeenStig> & { name: string } => {
    const stig = stigNames.ofSlug(name);
    if (stig === null) return { name, key: name, seen: null };
    const { slug, benchmarkId, title, version } = stig;
    return { name, key: slug, seen: { slug, benchmarkId, title, version } };
  });
}

/** Looks up in the catalog what users' data refers to. This file alone knows how it does (rule D23.2). */
export function createReferences(db: Database) {
  const findControls = createFindControls(db);
  const document = prepareSummary(db, documents, documents.documentId);
  const occupation = prepareSummary(db, occupations, occupations.occupationCode);
  return {
    /** Controls by their ids, or their identifiers in any usual spelling, in the order asked: one query for all. */
    controls<T extends { framework: CatalogFramework; controlId: string }>(asked: T[]) {
      const found = findControls(asked);
      return asked.map((each, at) => {
        const { framework, controlId } = each;
        const known = found[at] ?? null;
        const identifier = known?.identifier ?? canonicalIdentifier(framework, controlId) ?? controlId;
        const seen = known && { framework, identifier, title: known.title, family: known.family };
        return { ...each, key: `${framework} ${identifier}`, seen, identifier };
      });
    },

    /** What is shown of controls: as the catalog has each, or else as it was seen, without a statement. */
    shownControls(rows: SeenControl[]) {
      const found = findControls(rows.map(byIdentifier));
      return rows.map(({ identifier, ...seen }, at) => {
        const { title, family, statement } = found[at] ?? { ...seen, statement: '' };
        return { identifier, title, family, statement };
      });
    },

    /** Which of some controls the catalog has. */
    knownControls<T extends Pick<SeenControl, 'framework' | 'identifier'>>(rows: T[]): Set<T> {
      const found = findControls(rows.map(byIdentifier));
      return new Set(rows.filter((_, at) => found[at] !== null));
    },

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

const byIdentifier = ({ framework, identifier }: Pick<SeenControl, 'framework' | 'identifier'>) => {
  return { framework, controlId: identifier };
};

type SeenControl = { framework: CatalogFramework; identifier: string; title: string; family: string };

function prepareSummary({ orm }: Database, table: typeof documents | typeof occupations, key: SQLiteColumn) {
  return orm
    .select({ summary: table.summary })
    .from(table)
    .where(eq(key, sql.placeholder('key')))
    .prepare();
}
