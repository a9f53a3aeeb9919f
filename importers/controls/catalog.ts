import { familyCodeOf, sortKey } from '../../src/crosswalk/identifier.ts';
import { compareCodePoints } from '../../src/text.ts';
import { ImportError } from '../errors.ts';
import type { Kind } from '../ledger.ts';
import type { CatalogRecord, ControlRecord, ControlsRecord } from './record.ts';

/** What a source about controls turned out to be: records to store, or a kind that is not stored and why. */
export type ControlsResult =
  | { kind: Kind; records: ControlsRecord[]; warnings: string[] }
  | { kind: Kind; records: null; reason: string };

/** A control with what its source states; all else is empty or null, and the family code is the identifier's. */
export function controlRecord(
  framework: string,
  stated: Partial<ControlRecord> & { identifier: string },
): ControlRecord {
  return {
    title: '',
    family: '',
    familyCode: familyCodeOf(framework, stated.identifier),
    status: 'active',
    withdrawnInto: [],
    statement: '',
    statementParts: [],
    guidance: '',
    related: [],
    baselines: null,
    requirementType: null,
    macLevels: null,
    confidentialityLevels: null,
    impactCode: null,
    threat: '',
    resources: '',
    ...stated,
  };
}

/** Identifiers in catalog order, each once. */
export function inCatalogOrder(framework: string, identifiers: Iterable<string>): string[] {
  const keys = new Map([...identifiers].map((identifier) => [identifier, sortKey(framework, identifier)]));
  return [...keys.keys()].sort((a, b) => compareCodePoints(keys.get(a)!, keys.get(b)!));
}

/**
 * A catalog with its controls in catalog order. Throws `ImportError` when there are none, and when an identifier
 * occurs twice.
 */
export function catalogRecord(
  kind: Kind,
  catalog: Omit<CatalogRecord, 'type' | 'controls'>,
  controls: ControlRecord[],
): CatalogRecord {
  if (controls.length === 0) throw new ImportError('the catalog has no controls', kind);
  const byIdentifier = new Map<string, ControlRecord>();
  for (const control of controls) {
    if (byIdentifier.has(control.identifier))
      throw new ImportError(`the control ${control.identifier} occurs twice`, kind);
    byIdentifier.set(control.identifier, control);
  }
  const order = inCatalogOrder(catalog.framework, byIdentifier.keys());
  return { type: 'catalog', ...catalog, controls: order.map((identifier) => byIdentifier.get(identifier)!) };
}
