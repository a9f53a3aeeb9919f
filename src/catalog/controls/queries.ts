import { AppError } from '../../base/errors.ts';
import { frameworkTitle } from '../../base/framework-title.ts';
import { cut, fold } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { prepareList } from '../../http/paging.ts';
import { createControlAssessments } from './assessment.ts';
import { createCciRecords } from './ccis.ts';
import { createExportedCatalog } from './export.ts';
import { createControlLookup } from './find-control.ts';
import { compareVersions } from './frameworks.ts';
import type { Assessment, ControlFilter, Frameworks, ListedControl, ShownControl } from './schema.ts';
import { createControlVersions } from './versions.ts';

const matching = `FROM controls
 WHERE framework = @framework AND version = @version AND status = 'active'
   AND instr(search_text, @search) > 0
   AND (@family IS NULL OR @family IN (SELECT value FROM json_each(family_names)))
   AND NOT EXISTS (
       SELECT 1 FROM json_each(@groups) AS g WHERE NOT EXISTS (
         SELECT 1 FROM json_each(g.value) AS w WHERE w.value IN (SELECT value FROM json_each(filter_words))))`;

export type ControlService = ReturnType<typeof createControlService>;
/** A catalog with the served version, the number of its controls, and the other imported versions. */
export type LoadedCatalog = ReturnType<ControlService['loaded']>[number];

/** The queries of the control catalogs (rule D6). */
export function createControlService(db: Database) {
  const { sqlite, read } = db;
  const versions = createControlVersions(db);
  const { versionOf, searchedVersions } = versions;
  const assessments = createControlAssessments(db);
  const { publishedForm } = createControlLookup(db);
  const listed = prepareList<{ json: string }>(db, {
    columns: 'list_json AS json',
    matching,
    order: 'ordinal',
  });
  const familiesOf = sqlite
    .prepare<[string, string], string>(
      `SELECT family FROM controls WHERE framework = ? AND version = ? AND status = 'active' AND family <> ''
        GROUP BY family ORDER BY min(ordinal)`,
    )
    .pluck();
  const countedByVersion = sqlite
    .prepare<[], [key: string, total: number]>(
      `SELECT framework || ' ' || version, count(*) FROM controls WHERE status = 'active' GROUP BY framework, version`,
    )
    .raw();
  // Of the served version before others, of its catalogs the newest.
  const statedTitle = sqlite
    .prepare<[string], string>(
      `SELECT t.title FROM framework_titles AS t JOIN framework_versions AS v USING (framework, version)
        WHERE t.framework = ? ORDER BY v.is_default DESC, v.is_newest DESC, t.edition DESC, t.title LIMIT 1`,
    )
    .pluck();
  /** Every framework with its imported versions, newest first, and their numbers of active controls. */
  function catalogs() {
    const totals = new Map(countedByVersion.all());
    return versions.known().map((framework) => ({
      framework,
      versions: versions.versions(framework).map((each) => {
        return { ...each, controls: totals.get(`${framework} ${each.version}`) ?? 0 };
      }),
    }));
  }

  const identifierOf = sqlite
    .prepare<[string, string], string>('SELECT identifier FROM control_keys WHERE id = ? AND framework = ?')
    .pluck();
  const stored = sqlite
    .prepare<[string, string, string], string>(
      `SELECT json_set(json_remove(c.record_json, '$.assessment'), '$.edition', nullif(v.edition, ''))
         FROM controls AS c JOIN framework_versions AS v USING (framework, version)
        WHERE framework = ? AND version = ? AND c.identifier = ?`,
    )
    .pluck();
  const versionsOf = sqlite
    .prepare<[string, string], string>(
      `SELECT c.version FROM control_keys AS k JOIN controls AS c ON c.control_id = k.id
        WHERE k.framework = ? AND k.identifier = ?`,
    )
    .pluck();
  const withEnhancements = sqlite.prepare<object, { identifier: string; title: string }>(
    `SELECT identifier, title FROM controls
      WHERE framework = 'nist-800-53' AND version = @version AND status = 'active'
        AND (identifier = @base OR (identifier >= @base || '(' AND identifier < @base || ')'))
      ORDER BY ordinal`,
  );
  const neighbors = sqlite.prepare<[string, string, string], { before: string | null; after: string | null }>(
    `SELECT (SELECT identifier FROM controls
              WHERE framework = c.framework AND version = c.version AND status = 'active' AND ordinal < c.ordinal
              ORDER BY ordinal DESC LIMIT 1) AS before,
            (SELECT identifier FROM controls
              WHERE framework = c.framework AND version = c.version AND status = 'active' AND ordinal > c.ordinal
              ORDER BY ordinal LIMIT 1) AS after
       FROM controls AS c WHERE c.framework = ? AND c.version = ? AND c.identifier = ?`,
  );

  const publishedOf = (framework: string, controlId: string): string =>
    identifierOf.get(controlId.toLowerCase(), framework) ?? publishedForm(framework, controlId) ?? '';

  /** The imported versions that have a control, newest first. */
  const versionsWith = (framework: string, controlId: string): string[] =>
    versionsOf.all(framework, publishedOf(framework, controlId)).sort((a, b) => compareVersions(b, a));

  /**
   * One control by id or identifier (D6.1), with the edition of its version (rule D6.5); null where the version, by default
   * the served one, does not have it.
   */
  const find = (framework: string, controlId: string, label?: string): ShownControl | null =>
    read(() => {
      const identifier = publishedOf(framework, controlId);
      for (const version of searchedVersions(framework, label)) {
        const found = stored.get(framework, version, identifier);
        if (found === undefined) continue;
        const record = JSON.parse(found) as Omit<ShownControl, keyof Assessment>;
        return { ...record, ...assessments.assessments(framework, version, [identifier]).get(identifier)! };
      }
      return null;
    });

  return {
    ...versions,
    ...assessments,
    ...createCciRecords(db, versions),
    exported: createExportedCatalog(db, versions, assessments),

    /**
     * A page of the active controls of a framework; all of them on one page where the filter has no limit. Throws NOT_FOUND
     * for a version that is not imported, 400 for an unknown baseline.
     */
    page(framework: string, { words, baseline, ...filter }: ControlFilter) {
      const version = versionOf(framework, filter.version) ?? '';
      versions.checkBaselines(framework, baseline);
      const groups = [baseline, ...words].flatMap((group) => (group ? [[...group].map(fold)] : []));
      const requested = {
        framework,
        version,
        search: fold(filter.search ?? ''),
        family: filter.family === undefined ? null : fold(filter.family.trim()),
        groups: JSON.stringify(groups),
      };
      const { rows, pagination } = listed(requested, filter);
      const controls = rows.map(({ json }) => JSON.parse(json) as ListedControl);
      return { framework, version, total: pagination.total, controls, pagination };
    },

    /** The families of a version, in the order of its catalog. Throws NOT_FOUND for a version that is not imported. */
    families: (framework: string, requested: string | undefined): string[] =>
      familiesOf.all(framework, versionOf(framework, requested) ?? ''),

    /** Every framework with its imported versions and baselines (rule D54.1). */
    frameworks: (): Frameworks => ({
      frameworks: catalogs().map(({ framework, versions: all }) => ({
        framework,
        title: statedTitle.get(framework) ?? frameworkTitle(framework),
        versions: all.map(({ version, isServed: current, controls }) => ({ version, current, controls })),
        baselines: versions.namedBaselines(framework),
      })),
    }),

    /** The control catalogs, loaded or not, with their numbers of controls. */
    loaded: () =>
      catalogs().map(({ framework, versions: all }) => {
        const served = all.find(({ isServed }) => isServed);
        return {
          framework,
          version: served?.label ?? '',
          otherVersions: all.filter((each) => each !== served).map(({ label }) => label),
          total: served?.controls ?? 0,
        };
      }),

    find,
    versionsWith,

    /** As `find`, but throws NOT_FOUND, and names the versions that have the control. */
    one(framework: string, controlId: string, label?: string): ShownControl {
      const found = find(framework, controlId, label);
      if (found !== null) return found;
      versionOf(framework, label);
      const [version = ''] = searchedVersions(framework, label);
      const others = versionsWith(framework, controlId);
      const elsewhere =
        others.length === 0
          ? ''
          : ` is not in ${cut(version)}. It is in ${others.map((each) => cut(each)).join(', ')}`;
      throw new AppError('NOT_FOUND', `Control not found: ${cut(controlId)}${elsewhere}`);
    },

    /** The active controls before and after one in the order of its version; null at the ends. */
    neighbors: ({ framework, version, identifier }: ShownControl) =>
      neighbors.get(framework, version, identifier)!,

    /** A base control of 800-53 and its active enhancements, in catalog order. */
    enhancements: (
      identifier: string,
      requested: string | undefined,
    ): { identifier: string; title: string }[] =>
      read(() => {
        const [base] = identifier.split('(', 1);
        return withEnhancements.all({ base, version: versionOf('nist-800-53', requested) ?? '' });
      }),
  };
}
