import { and, asc, count, eq, min, ne, sql } from 'drizzle-orm';
import { frameworkTitle } from '../../base/framework-title.ts';
import { arrayText, type JsonText, objectText } from '../../base/json.ts';
import { fold } from '../../base/text.ts';
import { controls } from '../../db/control-tables.ts';
import type { Database } from '../../db/database.ts';
import { perGeneration } from '../../db/one-generation.ts';
import { paginationOf, slice } from '../../http/paging.ts';
import type { ControlBaselines } from './baselines.ts';
import type { Frameworks } from './ccis-schema.ts';
import type { ListedControl } from './schema.ts';
import type { ControlVersions } from './versions.ts';

/** The filters of the control lists; a control must match one word of each group of `words` (type, mac, impact). */
export interface ControlFilter {
  search?: string | undefined;
  family?: string | undefined;
  version?: string | undefined;
  page?: number | undefined;
  limit?: number | undefined;
  /** Names of baselines, folded; an unknown one is a 400. */
  baseline?: Set<string> | undefined;
  words: (Set<string> | undefined)[];
}

/** A catalog with the served version, the number of its controls, and the other imported versions. */
export interface LoadedCatalog {
  framework: string;
  version: string;
  total: number;
  otherVersions: string[];
}

const [framework, version] = [sql.placeholder('framework'), sql.placeholder('version')];
const isListed = and(
  eq(controls.framework, framework),
  eq(controls.version, version),
  eq(controls.status, 'active'),
);

/** The lists of active controls of a framework. */
export function createControlLists(db: Database, versions: ControlVersions, baselines: ControlBaselines) {
  const matching = createMatching(db, versions, baselines);
  const { versionOf } = versions;
  const { family } = controls;
  const familiesOf = db.orm
    .select({ family })
    .from(controls)
    .where(and(isListed, ne(family, '')))
    .groupBy(family)
    .orderBy(min(controls.ordinal))
    .prepare();
  const counted = db.orm
    .select({ framework: controls.framework, version: controls.version, total: count() })
    .from(controls)
    .where(eq(controls.status, 'active'))
    .groupBy(controls.framework, controls.version)
    .prepare();
  // Of the served version before others, of its catalogs the newest.
  const statedTitle = db.sqlite
    .prepare<[string], string>(
      `SELECT t.title FROM framework_titles AS t JOIN framework_versions AS v USING (framework, version)
        WHERE t.framework = ? ORDER BY v.is_default DESC, v.is_newest DESC, t.edition DESC, t.title LIMIT 1`,
    )
    .pluck();
  const totals = perGeneration(
    db,
    () => new Map(counted.all().map((each) => [`${each.framework} ${each.version}`, each.total])),
  );
  const totalOf = (framework: string, version: string) => totals().get(`${framework} ${version}`) ?? 0;

  return {
    /** The controls of a framework as JSON text in the form of its list (D6.5), from texts that the import made. */
    list(framework: string, filter: ControlFilter): JsonText<never> {
      const { version, total, shown, pagination } = matching(framework, filter);
      const isPaged = filter.page !== undefined || filter.limit !== undefined;
      return objectText<unknown>([
        ['framework', JSON.stringify(framework)],
        ['version', JSON.stringify(version)],
        ['total', String(total)],
        ['controls', arrayText(shown.map((row) => row.listJson))],
        ...(isPaged ? [['pagination', JSON.stringify(pagination)] as [string, string]] : []),
      ]) as JsonText<never>;
    },

    /** A page of the controls of a framework as rows; all of them on one page without a limit. */
    page(framework: string, filter: ControlFilter) {
      const { shown, ...found } = matching(framework, filter);
      return { ...found, controls: shown.map((row) => JSON.parse(row.listJson) as ListedControl) };
    },

    /** The families of a version, in the order of its catalog. Throws NOT_FOUND for a version that is not imported. */
    families: (framework: string, wanted: string | undefined): string[] =>
      db.read(() => {
        const version = versionOf(framework, wanted) ?? '';
        return familiesOf.all({ framework, version }).map(({ family }) => family);
      }),

    /** Every framework with its imported versions and baselines (rule D54.1). */
    frameworks: (): Frameworks =>
      db.read(() => ({
        frameworks: versions.known().map((framework) => ({
          framework,
          title: statedTitle.get(framework) ?? frameworkTitle(framework),
          versions: versions.versions(framework).map(({ version, isServed: current }) => {
            return { version, current, controls: totalOf(framework, version) };
          }),
          baselines: baselines.namedBaselines(framework),
        })),
      })),

    /** The control catalogs, loaded or not, with their numbers of controls. */
    loaded: (): LoadedCatalog[] =>
      db.read(() =>
        versions.known().map((framework) => {
          const labels = (isServed: boolean) =>
            versions
              .versions(framework)
              .filter((each) => each.isServed === isServed)
              .map(({ label }) => label);
          const total = totalOf(framework, versionOf(framework, undefined) ?? '');
          return { framework, version: labels(true).join(), otherVersions: labels(false), total };
        }),
      ),
  };
}

/** Gives a function that reads the rows that match a filter, and those of the requested page. */
function createMatching(db: Database, { versionOf }: ControlVersions, { checkBaselines }: ControlBaselines) {
  const { listJson, filterWords, familyNames, searchText } = controls;
  // Words and names stay the JSON text of their columns: the filter searches for each with its quotes.
  const listRows = db.orm
    .select({
      ...{ listJson, searchText },
      filterWords: sql<string>`${filterWords}`,
      familyNames: sql<string>`${familyNames}`,
    })
    .from(controls)
    .where(isListed)
    .orderBy(asc(controls.ordinal))
    .prepare();

  return (framework: string, filter: ControlFilter) =>
    db.read(() => {
      const version = versionOf(framework, filter.version) ?? '';
      const wanted = fold(filter.search ?? '');
      const family = filter.family === undefined ? null : JSON.stringify(fold(filter.family.trim()));
      checkBaselines(framework, filter.baseline);
      const words = [filter.baseline, ...filter.words]
        .filter((group) => group !== undefined)
        .map((group) => [...group].map((word) => JSON.stringify(fold(word))));
      const rows = listRows
        .all({ framework, version })
        .filter((row) => row.searchText.includes(wanted))
        .filter((row) => family === null || row.familyNames.includes(family))
        .filter((row) => words.every((group) => group.some((word) => row.filterWords.includes(word))));
      const page = { page: filter.page ?? 1, limit: filter.limit ?? Math.max(1, rows.length) };
      const pagination = paginationOf(page, rows.length);
      return { version, total: rows.length, shown: slice(rows, page), pagination };
    });
}
