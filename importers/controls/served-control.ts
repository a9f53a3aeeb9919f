import { stableId } from '../../src/base/ids.ts';
import { fold } from '../../src/base/text.ts';
import { type StoredAssessment, statedAssessment } from '../../src/catalog/controls/assessment-record.ts';
import { isNistBaseline, isPublished } from '../../src/catalog/controls/frameworks.ts';
import type { ControlRecord } from './control-record.ts';

/** A row of the `controls` table, without its place in the catalog. */
export interface ServedControl {
  identifier: string;
  controlId: string;
  status: 'active' | 'withdrawn';
  title: string;
  family: string;
  familyNames: string[];
  filterWords: string[];
  searchText: string;
  statement: string;
  listJson: string;
  recordJson: string;
  withdrawnInto: string[];
}

/** The codes of the 800-171 families, which are those of 800-53 (rule D6.3). */
const familyCodes171: Record<string, string> = {
  'access control': 'AC',
  'awareness and training': 'AT',
  'audit and accountability': 'AU',
  'configuration management': 'CM',
  'identification and authentication': 'IA',
  'incident response': 'IR',
  maintenance: 'MA',
  'media protection': 'MP',
  'personnel security': 'PS',
  'physical protection': 'PE',
  planning: 'PL',
  'risk assessment': 'RA',
  'security assessment': 'CA',
  'security assessment and monitoring': 'CA',
  'system and communications protection': 'SC',
  'system and information integrity': 'SI',
  'system and services acquisition': 'SA',
  'supply chain risk management': 'SR',
};

/** Prepares a control for answers (rules D6.2, D6.5). Answers name only NIST's baselines of 800-53; filters use all. */
export function serveControl(
  framework: string,
  version: string,
  control: ControlRecord,
  baselines: string[],
): ServedControl {
  const id = stableId('control', framework, control.identifier);
  const withdrawn = control.status === 'withdrawn';
  // A deprecated CCI keeps its definition: nothing replaces it.
  const statement = withdrawn && framework !== 'cci' ? '' : control.statement;
  const guidance = withdrawn ? '' : control.guidance;
  const { textFrom } = control;
  const texts = { statement, guidance, ...(textFrom === undefined ? {} : { textFrom }) };
  const { identifier, family } = control;
  const title = publishedTitle(framework, control);
  const named = isPublished(framework) ? baselines.filter(isNistBaseline) : baselines;
  const listed =
    framework === 'nist-800-171'
      ? { id, identifier, family, requirementType: control.requirementType, ...texts }
      : framework === 'dod-8500'
        ? {
            id,
            identifier,
            title,
            subjectArea: family,
            macLevels: control.macLevels ?? [],
            impactCode: control.impactCode,
            ...texts,
            threat: control.threat,
            resources: control.resources,
          }
        : { id, identifier, title, family, baselines: named, ...texts };
  return {
    identifier,
    controlId: id,
    status: control.status,
    title,
    family,
    familyNames: familyNames(framework, control),
    filterWords: [...baselines, control.requirementType, ...(control.macLevels ?? []), control.impactCode]
      .filter((word) => word !== null)
      .map((word) => fold(word)),
    // No search text contains NUL, so no match spans two fields.
    searchText: fold([identifier, title, statement].join('\0')),
    statement,
    listJson: JSON.stringify(listed),
    recordJson: JSON.stringify({
      ...listed,
      ...details(framework, version, { ...control, title }),
      ...(withdrawn ? {} : assessmentOf(control)),
    }),
    withdrawnInto: control.withdrawnInto,
  };
}

/** Kept as stated; answers add values, parts and CCIs (`src/catalog/controls/assessment.ts`). */
function assessmentOf(control: ControlRecord): { assessment?: Partial<StoredAssessment> } {
  const assessment = statedAssessment(control);
  return Object.keys(assessment).length === 0 ? {} : { assessment };
}

/** The titles of 800-171 Rev 2 in the CPRT file are those of 800-171A: the publication has none (D6.2). */
function publishedTitle(framework: string, { identifier, title }: ControlRecord): string {
  return framework === 'nist-800-171' && !identifier.startsWith('0') ? '' : title;
}

function details(framework: string, version: string, control: ControlRecord): object {
  const withdrawn =
    control.status === 'withdrawn' ? { withdrawn: { incorporatedInto: control.withdrawnInto } } : {};
  if (framework === 'dod-8500') {
    return {
      framework,
      version,
      confidentialityLevels: control.confidentialityLevels ?? [],
      ...withdrawn,
    };
  }
  const common = {
    framework,
    version,
    status: control.status,
    statementParts: control.statementParts,
  };
  if (framework === 'nist-800-171') return { ...common, title: control.title, ...withdrawn };
  return { ...common, related: control.related, ...withdrawn };
}

function familyNames(framework: string, control: ControlRecord): string[] {
  const code171 = framework === 'nist-800-171' ? familyCodes171[fold(control.family)] : undefined;
  const names = [control.family, control.familyCode, code171 ?? ''].filter((name) => name !== '');
  return [...new Set(names.map(fold))];
}
