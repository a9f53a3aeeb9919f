import { canonicalIdentifier, familyCodeOf } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { collapseLine, collapseLines, excerpt } from '../read/source-text.ts';
import { catalogRecord, controlRecord } from './catalog.ts';
import type { CatalogRecord, ControlRecord } from './control-record.ts';
import { type AssessmentOf, readAssessmentRev2 } from './cprt-assessment.ts';
import type { Cprt, CprtElement } from './cprt-shape.ts';

const kind = 'cprt';
const framework = 'nist-800-171';

/**
 * Reads 800-171 Rev 2. The file names a requirement `03.01.01` in its elements and `3.1.1` in its relations. Its
 * "security requirements" are the determination statements of 800-171A, not statements. Throws `ImportError`.
 */
export function readRev2(data: Cprt): CatalogRecord {
  const ofType = (type: string) => data.elements.filter((element) => element.element_type === type);
  const families = new Map(
    ofType('family').map((each) => [unpad(each.element_identifier), collapseLine(each.title)]),
  );
  const discussions = new Map(
    ofType('discussion').map((each) => [
      unpad(each.element_identifier.replace(/^D[-_]/, '')),
      collapseLines(each.text),
    ]),
  );
  const types = readTypes(data);
  const assessmentOf = readAssessmentRev2(data);
  const controls = ofType('requirement').map((element) =>
    readRequirement(element, families, discussions, types, assessmentOf),
  );
  return catalogRecord(kind, { framework, version: 'Rev 2', edition: data.documents[0]!.version }, controls);
}

function readRequirement(
  element: CprtElement,
  families: Map<string, string>,
  discussions: Map<string, string>,
  types: Map<string, ControlRecord['requirementType']>,
  assessmentOf: AssessmentOf,
): ControlRecord {
  const identifier = canonicalIdentifier(framework, unpad(element.element_identifier));
  if (identifier === null)
    throw new ImportError(
      `"${excerpt(element.element_identifier)}" is not a requirement of 800-171 Rev 2`,
      kind,
    );
  const statement = collapseLine(element.text);
  const family = families.get(familyCodeOf(framework, identifier));
  const requirementType = types.get(identifier);
  if (statement === '') throw new ImportError(`the requirement ${identifier} has no text`, kind);
  if (family === undefined) throw new ImportError(`the requirement ${identifier} has no family`, kind);
  if (!requirementType)
    throw new ImportError(`the requirement ${identifier} is neither basic nor derived`, kind);
  return controlRecord(framework, {
    identifier,
    title: collapseLine(element.title),
    family,
    statement,
    statementParts: [{ id: identifier, label: '', prose: statement, parts: [] }],
    guidance: discussions.get(identifier) ?? '',
    requirementType,
    ...assessmentOf(element.element_identifier),
  });
}

function readTypes(data: Cprt): Map<string, ControlRecord['requirementType']> {
  const types = new Map<string, ControlRecord['requirementType']>();
  for (const { source_element_identifier: source, dest_element_identifier: type } of data.relationships) {
    if (type !== 'RT_basic' && type !== 'RT_derived') continue;
    const identifier = unpad(source);
    if (types.has(identifier))
      throw new ImportError(`the requirement ${excerpt(identifier)} has two types`, kind);
    types.set(identifier, type === 'RT_basic' ? 'basic' : 'derived');
  }
  return types;
}

function unpad(identifier: string): string {
  return identifier.replace(/(?<=^|\.)0(?=\d)/g, '');
}
