import { and, asc, eq, sql } from 'drizzle-orm';
import { AppError } from '../../base/errors.ts';
import { arrayText, type JsonText, objectText } from '../../base/json.ts';
import { cut, fold } from '../../base/text.ts';
import { controlKeys, controls, frameworkVersions } from '../../db/control-tables.ts';
import type { Database } from '../../db/database.ts';
import { paginationOf, slice } from '../../http/paging.ts';
import {
  type CatalogFramework,
  compareVersions,
  versionKey,
  withEdition,
  withoutEndingZeros,
} from './frameworks.ts';
import { canonicalIdentifier } from './identifier.ts';

/** Pages show the CCIs as well. */
export type ShownFramework = CatalogFramework | 'cci';

/** A version, and how it is shown: with the date of its edition. */
export interface NamedVersion {
  version: string;
  label: string;
  isServed: boolean;
}

/** The filters of the control lists; `words` are groups of which each must match one (baseline, type, mac, impact). */
export interface ControlFilter {
  search?: string | undefined;
  family?: string | undefined;
  version?: string | undefined;
  page?: number | undefined;
  limit?: number | undefined;
  words: (Set<string> | undefined)[];
}

export type ControlService = ReturnType<typeof createControlService>;

/** The queries of the control catalogs (rule D6). */
export function createControlService(db: Database) {
  const { orm } = db;
  const framework = sql.placeholder('framework');
  const version = sql.placeholder('version');
  const identifier = sql.placeholder('identifier');
  const versionRows = orm
    .select()
    .from(frameworkVersions)
    .where(eq(frameworkVersions.framework, framework))
    .prepare();
  const { listJson, recordJson, filterWords, familyNames, searchText } = controls;
  const ofVersion = and(eq(controls.framework, framework), eq(controls.version, version));
  // Words and names as the JSON text that they are stored as: each is looked for with its quotes.
  const listRows = orm
    .select({
      ...{ listJson, searchText },
      filterWords: sql<string>`${filterWords}`,
      familyNames: sql<string>`${familyNames}`,
    })
    .from(controls)
    .where(and(ofVersion, eq(controls.status, 'active')))
    .orderBy(asc(controls.ordinal))
    .prepare();
  const byIdentifier = orm
    .select({ recordJson })
    .from(controls)
    .where(and(ofVersion, eq(controls.identifier, identifier)))
    .prepare();
  const versionsWith = orm
    .select({ version: controls.version })
    .from(controlKeys)
    .innerJoin(controls, eq(controls.controlId, controlKeys.id))
    .where(and(eq(controlKeys.framework, framework), eq(controlKeys.identifier, identifier)))
    .prepare();
  const keyOfId = orm
    .select({ identifier: controlKeys.identifier })
    .from(controlKeys)
    .where(and(eq(controlKeys.id, sql.placeholder('id')), eq(controlKeys.framework, framework)))
    .prepare();

  /** The version asked for, or the default. Throws NOT_FOUND for one that is not imported. */
  function versionOf(framework: string, wanted: string | undefined): string | null {
    const rows = versionRows.all({ framework });
    if (wanted === undefined) return rows.find((row) => row.isDefault)?.version ?? null;
    const bare = (label: string) =>
      withoutEndingZeros(fold(label.trim()).replace(/^rev(?:ision)?\.?\s*/, ''));
    const exact = rows.find((row) => bare(row.version) === bare(wanted));
    const sameKey = rows
      .filter(
        (row) =>
          versionKey(framework, row.version) === versionKey(framework, wanted) && !/\d\.\d/.test(wanted),
      )
      .sort((a, b) => compareVersions(b.version, a.version))[0];
    const found = exact ?? sameKey;
    if (!found) throw new AppError('NOT_FOUND', `Version not found: ${cut(wanted)}`);
    return found.version;
  }

  return {
    /** The imported versions of a framework, newest first; one is served when none is asked for. */
    versions(framework: ShownFramework): NamedVersion[] {
      return versionRows
        .all({ framework })
        .sort((a, b) => compareVersions(b.version, a.version))
        .map(({ version, edition, isDefault }) => ({
          version,
          label: withEdition(version, edition),
          isServed: isDefault === 1,
        }));
    },

    /** The controls of a framework as JSON text in the form of its list (D6.5); texts were made at import. */
    list(framework: ShownFramework, filter: ControlFilter): JsonText<never> {
      return db.read(() => {
        const version = versionOf(framework, filter.version) ?? '';
        const wanted = fold(filter.search ?? '');
        const family = filter.family === undefined ? null : JSON.stringify(fold(filter.family.trim()));
        const words = filter.words
          .filter((group) => group !== undefined)
          .map((group) => [...group].map((word) => JSON.stringify(fold(word))));
        const rows = listRows
          .all({ framework, version })
          .filter((row) => row.searchText.includes(wanted))
          .filter((row) => family === null || row.familyNames.includes(family))
          .filter((row) => words.every((group) => group.some((word) => row.filterWords.includes(word))));
        const page =
          filter.page === undefined && filter.limit === undefined
            ? null
            : { page: filter.page ?? 1, limit: filter.limit ?? Math.max(1, rows.length) };
        const shown = page === null ? rows : slice(rows, page);
        const entries: [string, string][] = [
          ['framework', JSON.stringify(framework)],
          ['version', JSON.stringify(version)],
          ['total', String(rows.length)],
          ['controls', arrayText(shown.map((row) => row.listJson))],
        ];
        if (page !== null) entries.push(['pagination', JSON.stringify(paginationOf(page, rows.length))]);
        return objectText(entries) as JsonText<never>;
      });
    },

    /** One control by identifier in any usual spelling, or by id (D6.1). Throws NOT_FOUND. */
    record(framework: ShownFramework, controlId: string, wanted: string | undefined): JsonText<never> {
      return db.read(() => {
        const identifier =
          keyOfId.get({ id: controlId.toLowerCase(), framework })?.identifier ??
          canonicalIdentifier(framework, controlId);
        const versions = wanted === undefined ? versionsToSearch() : [versionOf(framework, wanted) ?? ''];
        for (const version of versions) {
          const found =
            identifier === null ? undefined : byIdentifier.get({ framework, version, identifier });
          if (found) return found.recordJson;
        }
        const others =
          identifier === null ? [] : versionsWith.all({ framework, identifier }).map((row) => row.version);
        const named = others.sort((a, b) => compareVersions(b, a)).map((version) => cut(version));
        const elsewhere =
          named.length === 0 ? '' : ` is not in ${cut(versions[0] ?? '')}. It is in ${named.join(', ')}`;
        throw new AppError('NOT_FOUND', `Control not found: ${cut(controlId)}${elsewhere}`);

        // Without a version 800-171 is searched in all its revisions: they name different controls (D6.2).
        function versionsToSearch(): string[] {
          const rows = versionRows
            .all({ framework })
            .sort((a, b) => b.isDefault - a.isDefault || compareVersions(b.version, a.version));
          return (framework === 'nist-800-171' ? rows : rows.slice(0, 1)).map((row) => row.version);
        }
      });
    },
  };
}
