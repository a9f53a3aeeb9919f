import { stableId } from '../../src/base/ids.ts';
import { fold } from '../../src/base/text.ts';
import { statedAssessment } from '../../src/catalog/controls/assessment-record.ts';
import { isNistBaseline, isPublished } from '../../src/catalog/controls/frameworks.ts';
import type { ControlRecord } from './control-record.ts';

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

/**
 * Prepares a control for answers (rules D6.2, D6.5), as a row of the table `controls`. Answers name only NIST's baselines
 * of 800-53; filters use all.
 */
export function serveControl(
  framework: string,
  version: string,
  control: ControlRecord,
  baselines: string[],
) {
  const { identifier, family, status, withdrawnInto } = control;
  const controlId = stableId('control', framework, identifier);
  const isWithdrawn = status === 'withdrawn';
  const title = publishedTitle(framework, control);
  const texts = {
    // A deprecated CCI keeps its definition: nothing replaces it.
    statement: isWithdrawn && framework !== 'cci' ? '' : control.statement,
    guidance: isWithdrawn ? '' : control.guidance,
    textFrom: control.textFrom,
  };
  const { listed, details } = answerFields(framework, version, { ...control, title }, baselines, texts);
  const answer = { id: controlId, identifier, ...listed };
  const assessment = statedAssessment(control);
  const hasAssessment = !isWithdrawn && Object.keys(assessment).length > 0;
  return {
    identifier,
    controlId,
    status,
    title,
    family,
    familyNames: familyNames(framework, control),
    filterWords: [...baselines, control.requirementType, ...(control.macLevels ?? []), control.impactCode]
      .filter((word) => word !== null)
      .map((word) => fold(word)),
    // No search text contains NUL, so no match spans two fields.
    searchText: fold([identifier, title, texts.statement].join('\0')),
    statement: texts.statement,
    listJson: JSON.stringify(answer),
    recordJson: JSON.stringify({
      ...answer,
      ...details,
      // Answers add values, parts and CCIs (`src/catalog/controls/assessment.ts`).
      assessment: hasAssessment ? assessment : undefined,
    }),
    withdrawnInto,
  };
}

/** The fields of a control in lists, and those that its record adds, in the order of answers. */
function answerFields(
  framework: string,
  version: string,
  control: ControlRecord,
  baselines: string[],
  texts: object,
): { listed: object; details: object } {
  const { title, family, status, statementParts, related, withdrawnInto } = control;
  const withdrawn = status === 'withdrawn' ? { incorporatedInto: withdrawnInto } : undefined;
  const common = { framework, version, status, statementParts };
  if (framework === 'nist-800-171')
    return {
      listed: { family, requirementType: control.requirementType, ...texts },
      details: { ...common, title, withdrawn },
    };
  if (framework === 'dod-8500') {
    const { macLevels, confidentialityLevels, impactCode, threat, resources } = control;
    return {
      listed: {
        title,
        subjectArea: family,
        macLevels: macLevels ?? [],
        impactCode,
        ...texts,
        threat,
        resources,
      },
      details: { framework, version, confidentialityLevels: confidentialityLevels ?? [], withdrawn },
    };
  }
  const named = isPublished(framework) ? baselines.filter(isNistBaseline) : baselines;
  return {
    listed: { title, family, baselines: named, ...texts },
    details: { ...common, related, withdrawn },
  };
}

/** The titles of 800-171 Rev 2 in the CPRT file are those of 800-171A: the publication has none (D6.2). */
function publishedTitle(framework: string, { identifier, title }: ControlRecord): string {
  return framework === 'nist-800-171' && !identifier.startsWith('0') ? '' : title;
}

function familyNames(framework: string, { family, familyCode }: ControlRecord): string[] {
  const code171 = framework === 'nist-800-171' ? familyCodes171[fold(family)] : undefined;
  const names = [family, familyCode, code171 ?? ''].filter((name) => name !== '');
  return [...new Set(names.map(fold))];
}
