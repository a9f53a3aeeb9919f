import { compareCodePoints } from '../../src/base/text.ts';
import { familyCodeOf, sortKey } from '../../src/catalog/controls/identifier.ts';
import { ImportError, type Kind } from '../../src/read/import-error.ts';
import { excerpt } from '../read/source-text.ts';
import type { CatalogRecord, ControlRecord, ControlsRecord } from './control-record.ts';

/** What reading a source about controls gives: its records, or why nothing of it is stored. */
export type ControlsResult =
  | { kind: Kind; records: ControlsRecord[]; warnings: string[] }
  | { kind: Kind; records: null; reason: string; part?: CatalogPart };

/** A catalog that states that it is only a part of a version, and the controls that it names. */
export interface CatalogPart {
  framework: string;
  version: string;
  identifiers: string[];
}

/** The most controls of a source, and of a baseline: far above real ones. */
export const mostControls = 10_000;

/** A control as its source states it. Other fields are empty or null; the identifier gives the family code. */
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

/** A CCI of DISA's list as a control. An unknown status counts as active. */
export function cciRecord(
  identifier: string,
  status: string,
  type: string,
  definition: string,
): ControlRecord {
  return controlRecord('cci', {
    identifier,
    family: type,
    familyCode: status,
    status: status.toLowerCase() === 'deprecated' ? 'withdrawn' : 'active',
    statement: definition,
  });
}

/** Identifiers in catalog order, each once. */
export function inCatalogOrder(framework: string, identifiers: Iterable<string>): string[] {
  const keys = new Map([...identifiers].map((identifier) => [identifier, sortKey(framework, identifier)]));
  return [...keys.keys()].sort((a, b) => compareCodePoints(keys.get(a)!, keys.get(b)!));
}

/** The control that an identifier continues: `GV.OC` of `GV.OC-01`, `AC-2` of `AC-2(1)`; `""` for none. */
export function parentIn(identifiers: Set<string>, identifier: string): string {
  for (let end = identifier.length - 1; end > 0; end--) {
    const above = identifier.slice(0, end).trim();
    if (/[^\p{L}\p{N}]/u.test(identifier[end]!) && identifiers.has(above)) return above;
  }
  return '';
}

/** An id, and what it begins with before the last two of its `_`: `ac-2_smt.k` is of `ac-2`. */
export function withoutParts(id: string): string[] {
  const once = id.slice(0, Math.max(0, id.lastIndexOf('_')));
  return [id, once, once.slice(0, Math.max(0, once.lastIndexOf('_')))];
}

/** Reads a source; an `ImportError` gets the kind of the source. */
export function withKind<T>(kind: Kind, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ImportError) error.kind = kind;
    throw error;
  }
}

/** A catalog in catalog order. Throws `ImportError` for no or too many controls, and for a repeated identifier. */
export function catalogRecord(
  catalog: Omit<CatalogRecord, 'type' | 'controls'>,
  stated: ControlRecord[],
): CatalogRecord {
  if (stated.length === 0) throw new ImportError('the catalog has no controls');
  if (stated.length > mostControls) throw new ImportError(`more than ${mostControls} controls`);
  const byIdentifier = uniqueBy(stated, ({ identifier }) => identifier);
  const identifiers = inCatalogOrder(catalog.framework, byIdentifier.keys());
  const controls = identifiers.map((identifier) => byIdentifier.get(identifier)!);
  return { type: 'catalog', ...catalog, controls };
}

/** Items by a key. Throws `ImportError` for a key that occurs twice, with `what` before it. */
export function uniqueBy<T>(items: T[], keyOf: (item: T) => string, what = ''): Map<string, T> {
  const byKey = new Map<string, T>();
  for (const item of items) {
    const key = keyOf(item);
    if (byKey.has(key)) throw new ImportError(`${what}${excerpt(key, 200)} occurs twice`);
    byKey.set(key, item);
  }
  return byKey;
}
