import { and, asc, eq, gte, lt, or, sql } from 'drizzle-orm';
import { AppError, badRequest } from '../../base/errors.ts';
import { arrayText, type JsonText, objectText } from '../../base/json.ts';
import { withoutFolder } from '../../base/source-name.ts';
import { cut, fold } from '../../base/text.ts';
import {
  baselines,
  controlFacts,
  controlKeys,
  controls,
  frameworkVersions,
} from '../../db/control-tables.ts';
import type { Database } from '../../db/database.ts';
import { sources } from '../../db/tables.ts';
import { paginationOf, slice } from '../../http/paging.ts';
import {
  type CatalogFramework,
  compareVersions,
  frameworks,
  nistBaselines,
  versionKey,
  withEdition,
  withoutEndingZeros,
} from './frameworks.ts';
import { canonicalIdentifier } from './identifier.ts';
import { type ExportedCatalog, type ExportedControl, familyCode } from './interchange.ts';
import type { Baselines } from './schema.ts';

/** Pages show the CCIs as well. */
export type ShownFramework = CatalogFramework | 'cci';

/** A version, and how it is shown: with the date of its edition. */
export interface NamedVersion {
  version: string;
  label: string;
  isServed: boolean;
}

/** The filters of the control lists; `words` are groups of which each must match one (type, mac, impact). */
export interface ControlFilter {
  search?: string | undefined;
  family?: string | undefined;
  version?: string | undefined;
  page?: number | undefined;
  limit?: number | undefined;
  /** Names of baselines, folded; one that nothing names is a 400. */
  baseline?: Set<string> | undefined;
  words: (Set<string> | undefined)[];
}

/** The text of a record with the edition of its version, null where none is stated (rule D6.5). */
function dated(record: string, edition: string): JsonText<never> {
  return `${record.slice(0, -1)},"edition":${JSON.stringify(edition || null)}}` as JsonText<never>;
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
  const { name, title, controls: members } = baselines;
  const baselineColumns = { name, title, controls: members };
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
    .select({ recordJson, edition: frameworkVersions.edition })
    .from(controls)
    .innerJoin(
      frameworkVersions,
      and(
        eq(frameworkVersions.framework, controls.framework),
        eq(frameworkVersions.version, controls.version),
      ),
    )
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

  const withEnhancements = orm
    .select({ identifier: controls.identifier, title: controls.title })
    .from(controls)
    .where(
      and(
        eq(controls.framework, 'nist-800-53'),
        eq(controls.version, version),
        eq(controls.status, 'active'),
        or(
          eq(controls.identifier, sql.placeholder('base')),
          and(
            gte(controls.identifier, sql.placeholder('from')),
            lt(controls.identifier, sql.placeholder('to')),
          ),
        ),
      ),
    )
    .orderBy(asc(controls.ordinal))
    .prepare();
  const { identifier: key, status, family, statement, withdrawnInto } = controls;
  const everyControl = orm
    .select({
      ...{
        identifier: key,
        status,
        title: controls.title,
        family,
        familyNames,
        filterWords,
        statement,
        withdrawnInto,
      },
      recordJson: sql<string>`${recordJson}`,
    })
    .from(controls)
    .where(ofVersion)
    .orderBy(asc(controls.ordinal))
    .prepare();
  const editions = orm
    .selectDistinct({ edition: controlFacts.edition })
    .from(controlFacts)
    .where(and(eq(controlFacts.framework, framework), eq(controlFacts.version, version)))
    .prepare();
  const baselineRows = orm
    .select({ ...baselineColumns, source: sources.source })
    .from(baselines)
    .innerJoin(sources, eq(sources.id, baselines.sourceId))
    .where(and(eq(baselines.framework, framework), eq(baselines.version, version)))
    .orderBy(asc(baselines.ordinal))
    .prepare();
  const baselineNames = orm
    .selectDistinct({ name: baselines.name })
    .from(baselines)
    .where(eq(baselines.framework, framework))
    .orderBy(asc(baselines.name))
    .prepare();

  /** Throws a 400 for a name that no baseline of any version has (rule D31). */
  function checkBaselines(framework: string, names: Set<string> | undefined): void {
    if (names === undefined) return;
    const named = baselineNames.all({ framework }).map(({ name }) => name);
    const known = new Set([...nistBaselines, ...named]);
    if ([...names].every((name) => known.has(name))) return;
    throw badRequest(`baseline must be one or more of: ${[...known].join(', ')}`.slice(0, 300));
  }

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

    checkBaselines,

    /** The version of a framework that is asked for, or the default; null where none is imported. Throws NOT_FOUND. */
    versionOf,

    /** The names of the baselines that imported profiles make of a framework, in any version of it. */
    namedBaselines: (framework: string): string[] => baselineNames.all({ framework }).map(({ name }) => name),

    /** The baselines of a version of a framework, NIST's first. Throws NOT_FOUND for a framework that nothing states. */
    baselines(framework: string, wanted?: string): Baselines {
      return db.read(() => {
        const version = versionOf(framework, wanted);
        if (version === null && !(frameworks as readonly string[]).includes(framework))
          throw new AppError('NOT_FOUND', `Framework not found: ${cut(framework)}`);
        const rows = version === null ? [] : baselineRows.all({ framework, version });
        return { baselines: rows.map((row) => ({ ...row, source: withoutFolder(row.source) })) };
      });
    },

    /**
     * Everything that is served of one version of a framework, or of the controls of one of its baselines. Throws NOT_FOUND for
     * a framework that nothing states, or a baseline without controls in the version.
     */
    exported(framework: string, wanted?: string, name?: string): ExportedCatalog {
      return db.read(() => {
        const version = versionOf(framework, wanted);
        if (version === null) throw new AppError('NOT_FOUND', `Framework not found: ${cut(framework)}`);
        if (name !== undefined) checkBaselines(framework, new Set([name]));
        const baseline = baselineRows.all({ framework, version }).find((row) => row.name === name) ?? null;
        if (name !== undefined && (baseline?.controls ?? 0) === 0)
          throw new AppError('NOT_FOUND', `No control of ${cut(version)} is in the baseline ${cut(name)}`);
        const changed = editions
          .all({ framework, version })
          .map(({ edition }) => edition)
          .filter((edition) => /^\d{4}-\d\d-\d\d(?:T|$)/.test(edition));
        const all = everyControl.all({ framework, version });
        const chosen = name === undefined ? all : all.filter((row) => row.filterWords.includes(name));
        const rows = chosen.map(({ filterWords: _, recordJson, familyNames, ...row }) => {
          const { statementParts, guidance, ...record } = JSON.parse(recordJson) as Partial<ExportedControl>;
          const { related, baselines, requirementType, macLevels, confidentialityLevels } = record;
          return {
            ...row,
            familyCode: familyCode(framework, row.identifier, row.family, familyNames),
            statementParts: statementParts ?? [],
            guidance: guidance ?? '',
            textFrom: record.textFrom ?? '',
            related: related ?? [],
            baselines: baselines ?? [],
            requirementType: requirementType ?? null,
            macLevels: macLevels ?? [],
            confidentialityLevels: confidentialityLevels ?? [],
            impactCode: record.impactCode ?? null,
            threat: record.threat ?? '',
            resources: record.resources ?? '',
          };
        });
        return { framework, version, changed: changed.sort().at(-1) ?? null, controls: rows, baseline };
      });
    },

    /** The controls of a framework as JSON text in the form of its list (D6.5); texts were made at import. */
    list(framework: ShownFramework, filter: ControlFilter): JsonText<never> {
      return db.read(() => {
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

    /** A base control of 800-53 and its active enhancements, in catalog order. */
    enhancements(identifier: string, wanted: string | undefined): { identifier: string; title: string }[] {
      return db.read(() => {
        const [base] = identifier.split('(', 1) as [string];
        const version = versionOf('nist-800-53', wanted) ?? '';
        return withEnhancements.all({ version, base, from: `${base}(`, to: `${base})` });
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
          if (found) return dated(found.recordJson, found.edition);
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
