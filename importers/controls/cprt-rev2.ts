import { canonicalIdentifier, familyCodeOf } from '../../src/catalog/controls/identifier.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { collapseLine, collapseLines, excerpt } from '../read/source-text.ts';
import { catalogRecord, controlRecord } from './catalog.ts';
import type { CatalogRecord, ControlRecord } from './control-record.ts';
import { byRequirement, type Cprt } from './cprt-shape.ts';

const framework = 'nist-800-171';

/**
 * Reads 800-171 Rev 2. The file names a requirement `03.01.01` in its elements and `3.1.1` in its relations. Its
 * "security requirements" are the determination statements of 800-171A, not statements. Throws `ImportError`.
 */
export function readRev2(data: Cprt): CatalogRecord {
  const ofType = (type: string) => data.elements.filter((element) => element.type === type);
  const families = new Map(ofType('family').map(({ id, title }) => [unpad(id), collapseLine(title)]));
  const discussions = new Map(
    ofType('discussion').map(({ id, text }) => [unpad(id.replace(/^D[-_]/, '')), collapseLines(text)]),
  );
  const types = typesOf(data);
  const determinations = byRequirement(data, 'security_requirement');
  const controls = ofType('requirement').map((element): ControlRecord => {
    const identifier = canonicalIdentifier(framework, unpad(element.id));
    if (identifier === null)
      throw new ImportError(`"${excerpt(element.id)}" is not a requirement of 800-171 Rev 2`);
    const fail = (what: string) => new ImportError(`the requirement ${identifier} ${what}`);
    const statement = collapseLine(element.text);
    const family = families.get(familyCodeOf(framework, identifier));
    const requirementType = types.get(identifier);
    if (statement === '') throw fail('has no text');
    if (family === undefined) throw fail('has no family');
    if (requirementType === undefined) throw fail('is neither basic nor derived');
    const objectives = determinations.get(element.id)?.map(({ id, title, text }) => {
      return { id, label: collapseLine(title), prose: collapseLine(text), parts: [] };
    });
    return controlRecord(framework, {
      identifier,
      title: collapseLine(element.title),
      family,
      statement,
      statementParts: [{ id: identifier, label: '', prose: statement, parts: [] }],
      guidance: discussions.get(identifier) ?? '',
      requirementType,
      ...(objectives ? { objectives } : {}),
    });
  });
  return catalogRecord({ framework, version: 'Rev 2', edition: data.documents[0]!.version }, controls);
}

function typesOf({ relationships }: Cprt): Map<string, 'basic' | 'derived'> {
  const types = new Map<string, 'basic' | 'derived'>();
  for (const { from, to } of relationships) {
    if (to !== 'RT_basic' && to !== 'RT_derived') continue;
    const identifier = unpad(from);
    if (types.has(identifier)) throw new ImportError(`the requirement ${excerpt(identifier)} has two types`);
    types.set(identifier, to === 'RT_basic' ? 'basic' : 'derived');
  }
  return types;
}

/** `3.1.1` of `03.01.01`. */
function unpad(identifier: string): string {
  return identifier.replace(/(?<=^|\.)0(?=\d)/g, '');
}
