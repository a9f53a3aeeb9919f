import { createControlLookup } from '../catalog/controls/find-control.ts';
import type { CatalogFramework } from '../catalog/controls/frameworks.ts';
import { canonicalIdentifier } from '../catalog/controls/identifier.ts';
import type { StigByName, StigNameIndex } from '../catalog/stigs/name-index.ts';
import type { Database } from '../db/database.ts';

/** What an entry or a favorite refers to: its key in the list, and what is stored of it; null if the catalog has none. */
export interface Reference<Seen extends object = object> {
  key: string;
  seen: Seen | null;
}

/**
 * SQL for the id of the STIG that a row of a table refers to, null where it is gone: the STIG of its slug if one of its
 * releases has the row's benchmark id; else the STIG with the benchmark id as an alias; else the STIG of the slug, present
 * or former.
 */
export function stigOf(table: string): string {
  const leadsTo = (name: string) =>
    `(SELECT stig_id FROM stig_aliases WHERE alias = ${name}), (SELECT id FROM stigs WHERE slug = ${name})`;
  return `coalesce(
    (SELECT s.id FROM stigs AS s WHERE s.slug = ${table}.slug AND EXISTS (SELECT 1 FROM stig_releases AS r
      WHERE r.stig_id = s.id AND r.benchmark_id = ${table}.benchmark_id COLLATE NOCASE)),
    ${leadsTo(`lower(${table}.benchmark_id)`)}, ${leadsTo(`${table}.slug`)})`;
}

/** SQL for the slug of a row: that of its STIG, or the stored one. */
export const slugOf = (table: string): string =>
  `coalesce((SELECT slug FROM stigs WHERE id = ${stigOf(table)}), ${table}.slug)`;

export const controlOf = (table: string): string => `${table}.framework || ' ' || ${table}.identifier`;

/** SQL for the current version of the STIG of a row, or the stored one. */
export const versionOf = (table: string): string =>
  `coalesce((SELECT r.version FROM stigs AS s JOIN stig_releases AS r ON r.id = s.current_release_id
    WHERE s.id = ${stigOf(table)}), ${table}.version)`;

/** The keys of references, as `json_each` takes them. */
export const keysOf = (references: Reference[]): string => JSON.stringify(references.map(({ key }) => key));

type SeenStig = Pick<StigByName, 'slug' | 'benchmarkId' | 'title' | 'version'>;

/** STIGs by their slugs, present or former, or benchmark ids, in the order asked (rule D24.2). */
export function referencesToStigs({ ofSlug }: StigNameIndex, names: string[]) {
  return names.map((name): Reference<SeenStig> & { name: string } => {
    const stig = ofSlug(name);
    if (stig === null) return { name, key: name, seen: null };
    const { slug, benchmarkId, title, version } = stig;
    return { name, key: slug, seen: { slug, benchmarkId, title, version } };
  });
}

/** Finds in the catalog what users' data refers to (rule D23.2). */
export function createReferences(db: Database) {
  const { findControls } = createControlLookup(db);
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

    /** Controls as the catalog has them, or else as they were stored, without a statement. */
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
  };
}

const byIdentifier = ({ framework, identifier }: Pick<SeenControl, 'framework' | 'identifier'>) => {
  return { framework, controlId: identifier };
};

type SeenControl = { framework: CatalogFramework; identifier: string; title: string; family: string };
