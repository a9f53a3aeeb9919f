import { AppError } from '../../base/errors.ts';
import { arrayText, type JsonText, objectText } from '../../base/json.ts';
import { cut, fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { paginationOf, slice } from '../../http/paging.ts';
import { compareVersions, versionKey, withoutEndingZeros } from './frameworks.ts';
import { canonicalIdentifier } from './identifier.ts';

/** The frameworks whose catalogs are served. */
export type CatalogFramework = 'nist-800-53' | 'nist-800-171' | 'dod-8500';

/** Pages show the CCIs as well. */
export type ShownFramework = CatalogFramework | 'cci';

/** The filters of the control lists; `words` are groups of which each must match one (baseline, type, mac, impact). */
export interface ControlFilter {
  search?: string | undefined;
  family?: string | undefined;
  version?: string | undefined;
  page?: number | undefined;
  limit?: number | undefined;
  words: (Set<string> | undefined)[];
}

interface Row {
  list_json: string;
  filter_words: string;
  family_names: string;
  search_text: string;
}

export type ControlService = ReturnType<typeof createControlService>;

/** The queries of the control catalogs (specification, "Controls"; DECISIONS D6). */
export function createControlService(db: Database) {
  const { sqlite } = db;
  const versionRows = sqlite.prepare<[string], { version: string; is_default: number }>(
    'SELECT version, is_default FROM framework_versions WHERE framework = ?',
  );
  const listRows = sqlite.prepare<[string, string], Row>(
    `SELECT list_json, filter_words, family_names, search_text FROM controls
      WHERE framework = ? AND version = ? AND status = 'active' ORDER BY ordinal`,
  );
  const byIdentifier = sqlite
    .prepare<[string, string, string], string>(
      'SELECT record_json FROM controls WHERE framework = ? AND version = ? AND identifier = ?',
    )
    .pluck();
  const versionsWith = sqlite
    .prepare<[string, string], string>(
      `SELECT c.version FROM control_keys AS k JOIN controls AS c ON c.control_id = k.id
        WHERE k.framework = ? AND k.identifier = ?`,
    )
    .pluck();
  const keyOfId = sqlite
    .prepare<[string, string], string>('SELECT identifier FROM control_keys WHERE id = ? AND framework = ?')
    .pluck();

  /** The version asked for, or the default. Throws NOT_FOUND for one that is not imported. */
  function versionOf(framework: string, wanted: string | undefined): string | null {
    const rows = versionRows.all(framework);
    if (wanted === undefined) return rows.find((row) => row.is_default === 1)?.version ?? null;
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
    /** The imported versions of a framework, newest first, and the one that is served when none is asked for. */
    versions(framework: ShownFramework): { versions: string[]; served: string } {
      const rows = versionRows.all(framework).sort((a, b) => compareVersions(b.version, a.version));
      const served = rows.find((row) => row.is_default === 1)?.version ?? '';
      return { versions: rows.map((row) => row.version), served };
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
          .all(framework, version)
          .filter((row) => row.search_text.includes(wanted))
          .filter((row) => family === null || row.family_names.includes(family))
          .filter((row) => words.every((group) => group.some((word) => row.filter_words.includes(word))));
        const page =
          filter.page === undefined && filter.limit === undefined
            ? null
            : { page: filter.page ?? 1, limit: filter.limit ?? Math.max(1, rows.length) };
        const shown = page === null ? rows : slice(rows, page);
        const entries: [string, string][] = [
          ['framework', JSON.stringify(framework)],
          ['version', JSON.stringify(version)],
          ['total', String(rows.length)],
          ['controls', arrayText(shown.map((row) => row.list_json))],
        ];
        if (page !== null) entries.push(['pagination', JSON.stringify(paginationOf(page, rows.length))]);
        return objectText(entries) as JsonText<never>;
      });
    },

    /** One control by identifier in any usual spelling, or by id (D6.1). Throws NOT_FOUND. */
    record(framework: ShownFramework, controlId: string, wanted: string | undefined): JsonText<never> {
      return db.read(() => {
        const identifier =
          keyOfId.get(controlId.toLowerCase(), framework) ?? canonicalIdentifier(framework, controlId);
        const versions = wanted === undefined ? versionsToSearch() : [versionOf(framework, wanted) ?? ''];
        for (const version of versions) {
          const record = identifier === null ? undefined : byIdentifier.get(framework, version, identifier);
          if (record !== undefined) return record;
        }
        const others = identifier === null ? [] : versionsWith.all(framework, identifier);
        const named = others.sort((a, b) => compareVersions(b, a)).map((version) => cut(version));
        const elsewhere =
          named.length === 0 ? '' : ` is not in ${cut(versions[0] ?? '')}. It is in ${named.join(', ')}`;
        throw new AppError('NOT_FOUND', `Control not found: ${cut(controlId)}${elsewhere}`);

        // Without a version 800-171 is searched in all its revisions: they name different controls (D6.2).
        function versionsToSearch(): string[] {
          const rows = versionRows
            .all(framework)
            .sort((a, b) => b.is_default - a.is_default || compareVersions(b.version, a.version));
          return (framework === 'nist-800-171' ? rows : rows.slice(0, 1)).map((row) => row.version);
        }
      });
    },
  };
}
