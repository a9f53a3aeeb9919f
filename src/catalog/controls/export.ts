import { badRequest } from '../../base/errors.ts';
import { cut, fold, guardedCell } from '../../base/text.ts';
import type { Database } from '../../db/database.ts';
import { type Column, joined } from '../../http/columns.ts';
import type { ControlAssessments } from './assessment.ts';
import type { StoredAssessment } from './assessment-record.ts';
import { isNistBaseline, noFramework } from './frameworks.ts';
import { familyCodeOf } from './identifier.ts';
import type { StatementPart } from './schema.ts';
import type { ControlVersions } from './versions.ts';

/** What a stored record leaves out where its framework has none. */
const unstated = {
  statementParts: [] as StatementPart[],
  guidance: '',
  /** The older release that the text comes from, `""` if this version has its own. */
  textFrom: '',
  related: [] as string[],
  /** Those of NIST: a profile carries each of the others. */
  baselines: [] as string[],
  requirementType: null as string | null,
  macLevels: [] as string[],
  confidentialityLevels: [] as string[],
  impactCode: null as string | null,
  threat: '',
  resources: '',
  assessment: {} as Partial<StoredAssessment>,
};

/** A control of any framework with all its fields. */
export type ExportedControl = typeof unstated & {
  identifier: string;
  title: string;
  /** The types of a CCI, the family of any other control. */
  family: string;
  /** Folded: the family, and codes of it. */
  familyNames: string[];
  /** The status of a CCI, else a family code that the identifier does not begin with. */
  familyCode: string;
  status: 'active' | 'withdrawn';
  withdrawnInto: string[];
  statement: string;
};

/** One version of a framework, withdrawn controls too; with a baseline, its controls alone. */
export type ExportedCatalog = ReturnType<ReturnType<typeof createExportedCatalog>>;

/** Gives a function that reads a catalog, or one of its baselines, for a download. */
export function createExportedCatalog(
  { sqlite }: Database,
  { versionOf, checkBaselines, baselineOf }: ControlVersions,
  { setBy }: ControlAssessments,
) {
  const rows = sqlite
    .prepare<object, string>(
      `SELECT json_set(record_json, '$.identifier', identifier, '$.status', status, '$.title', title, '$.family', family,
                       '$.statement', statement, '$.familyNames', json(family_names),
                       '$.withdrawnInto', json(withdrawn_into))
         FROM controls
        WHERE framework = @framework AND version = @version
          AND (@baseline IS NULL OR @baseline IN (SELECT value FROM json_each(filter_words)))
        ORDER BY ordinal`,
    )
    .pluck();
  const editions = sqlite
    .prepare<[string, string], string>(
      'SELECT DISTINCT edition FROM control_facts WHERE framework = ? AND version = ? ORDER BY edition DESC',
    )
    .pluck();

  /** Throws NOT_FOUND for an unknown framework or version, a 400 for a baseline without controls in the version. */
  return (framework: string, requested?: string, name?: string) => {
    const version = versionOf(framework, requested);
    if (version === null) throw noFramework(framework);
    if (name !== undefined) checkBaselines(framework, new Set([name]));
    const baseline = baselineOf(framework, version, name);
    if (name !== undefined && !baseline?.controls)
      throw badRequest(`baseline: no control of ${cut(version)} is in ${cut(name)}`, 'baseline');
    const changed = editions.all(framework, version).find((each) => /^\d{4}-\d\d-\d\d(?:T|$)/.test(each));
    const controls = rows.all({ framework, version, baseline: name ?? null }).map((json): ExportedControl => {
      const control = { ...unstated, ...JSON.parse(json) };
      const { baselines } = control;
      const familyCode = familyCodeIn(framework, control);
      return { ...control, familyCode, baselines: baselines.filter(isNistBaseline) };
    });
    return {
      framework,
      version,
      /** The newest date or time that a source states of itself; null where none does. */
      changed: changed ?? null,
      controls,
      baseline: baseline && { ...baseline, values: setBy(framework, version, baseline.name) },
    };
  };
}

function familyCodeIn(
  framework: string,
  { identifier, family, familyNames }: Pick<ExportedControl, 'identifier' | 'family' | 'familyNames'>,
): string {
  const code = familyNames.find((name) => name !== fold(family)) ?? '';
  return framework !== 'cci' && code === fold(familyCodeOf(framework, identifier)) ? '' : code;
}

/** The columns of our interchange, in order. */
export const interchangeNames = [
  'framework',
  'version',
  'identifier',
  'title',
  'family',
  'familyCode',
  'status',
  'withdrawnInto',
  'baselines',
  'requirementType',
  'macLevels',
  'confidentialityLevels',
  'impactCode',
  'type',
  'statement',
  'statementParts',
  'guidance',
  'textFrom',
  'related',
  'threat',
  'resources',
] as const;
type InterchangeRow = Record<(typeof interchangeNames)[number], string | string[] | null>;

/** The columns of our interchange (data/README.md); an import of the file gives the same controls (rule D30.1). */
export const interchangeColumns: Column<InterchangeRow>[] = interchangeNames.map((name) => ({
  name,
  value: ({ [name]: value }) => guarded(Array.isArray(value) ? joined(value) : value),
}));

/** The rows of a catalog in our interchange. */
export function interchangeRows({ framework, version, controls }: ExportedCatalog): InterchangeRow[] {
  return controls.map((control) => {
    const { family, familyCode, statementParts } = control;
    const ofCci = { family: '', familyCode: '', status: familyCode, type: family.replaceAll(', ', ';') };
    return {
      framework,
      version,
      type: '',
      ...control,
      ...(framework === 'cci' ? ofCci : {}),
      statementParts: statementParts.length === 0 ? '' : JSON.stringify(statementParts),
    };
  });
}

/** Guards a text that looks guarded: the import removes one apostrophe (rule D30.1). */
export function guarded(value: string | null): string | null {
  return value !== null && guardedCell.test(value) ? `'${value}` : value;
}
