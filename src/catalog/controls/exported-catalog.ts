import { and, asc, eq, sql } from 'drizzle-orm';
import { AppError, badRequest } from '../../base/errors.ts';
import { cut } from '../../base/text.ts';
import { controlFacts, controls } from '../../db/control-tables.ts';
import type { Database } from '../../db/database.ts';
import type { ControlAssessments } from './assessment.ts';
import type { ControlBaselines } from './baselines.ts';
import { isNistBaseline } from './frameworks.ts';
import { type ExportedCatalog, type ExportedControl, familyCode } from './interchange.ts';
import type { ControlVersions } from './versions.ts';

/** Gives a function that reads a catalog, or one of its baselines, for a download. */
export function createExportedCatalog(
  db: Database,
  { versionOf }: ControlVersions,
  { checkBaselines, baselineOf }: ControlBaselines,
  assessments: ControlAssessments,
) {
  const [framework, version] = [sql.placeholder('framework'), sql.placeholder('version')];
  const { identifier, status, title, family, familyNames, filterWords } = controls;
  const { statement, withdrawnInto, recordJson } = controls;
  const everyControl = db.orm
    .select({
      ...{ identifier, status, title, family, familyNames, filterWords, statement, withdrawnInto },
      recordJson: sql<string>`${recordJson}`,
    })
    .from(controls)
    .where(and(eq(controls.framework, framework), eq(controls.version, version)))
    .orderBy(asc(controls.ordinal))
    .prepare();
  const editions = db.orm
    .selectDistinct({ edition: controlFacts.edition })
    .from(controlFacts)
    .where(and(eq(controlFacts.framework, framework), eq(controlFacts.version, version)))
    .prepare();

  /** Throws NOT_FOUND for an unknown framework or version, a 400 for a baseline without controls in the version. */
  return (framework: string, wanted?: string, name?: string): ExportedCatalog =>
    db.read(() => {
      const version = versionOf(framework, wanted);
      if (version === null) throw new AppError('NOT_FOUND', `Framework not found: ${cut(framework)}`);
      if (name !== undefined) checkBaselines(framework, new Set([name]));
      const baseline = baselineOf(framework, version, name);
      if (name !== undefined && (baseline?.controls ?? 0) === 0)
        throw badRequest(`baseline: no control of ${cut(version)} is in ${cut(name)}`, 'baseline');
      const changed = editions
        .all({ framework, version })
        .map(({ edition }) => edition)
        .filter((edition) => /^\d{4}-\d\d-\d\d(?:T|$)/.test(edition));
      const all = everyControl.all({ framework, version });
      const chosen = name === undefined ? all : all.filter((row) => row.filterWords.includes(name));
      const rows = chosen.map(({ filterWords: _, recordJson, familyNames, ...row }) => {
        const record = JSON.parse(recordJson) as Partial<ExportedControl>;
        return {
          ...row,
          familyCode: familyCode(framework, row.identifier, row.family, familyNames),
          statementParts: record.statementParts ?? [],
          guidance: record.guidance ?? '',
          textFrom: record.textFrom ?? '',
          related: record.related ?? [],
          // A profile carries each of the others.
          baselines: (record.baselines ?? []).filter(isNistBaseline),
          requirementType: record.requirementType ?? null,
          macLevels: record.macLevels ?? [],
          confidentialityLevels: record.confidentialityLevels ?? [],
          impactCode: record.impactCode ?? null,
          threat: record.threat ?? '',
          resources: record.resources ?? '',
          assessment: record.assessment ?? {},
        };
      });
      return {
        framework,
        version,
        changed: changed.sort().at(-1) ?? null,
        controls: rows,
        baseline: baseline && { ...baseline, values: assessments.setBy(framework, version, baseline.name) },
      };
    });
}
