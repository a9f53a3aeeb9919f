import { z } from 'zod';
import { interchangeNames } from '../../src/catalog/controls/export.ts';
import { frameworkKey } from '../../src/catalog/controls/frameworks.ts';
import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { StatementPart } from '../../src/catalog/controls/schema.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { beginsWithColumn, type CsvRow, readCsv } from '../read/csv.ts';
import { readShape } from '../read/json-shape.ts';
import { excerpt } from '../read/source-text.ts';
import { type ControlsResult, catalogRecord, cciListRecord, controlRecord } from './catalog.ts';
import { unknownStatuses } from './cci-list.ts';
import type { CatalogRecord, CciItem, CciListRecord, ControlRecord } from './control-record.ts';
import { confidentialityLevels, impactCodes, macLevels } from './dod-8500.ts';

const kind = 'controls-csv';

const required = ['framework', 'version', 'identifier'];
const cciColumns = [...required, 'status', 'type', 'statement'];
const columns: readonly string[] = interchangeNames;
const statementParts = z.array(StatementPart);

/** True for a text whose header begins like that of our interchange for controls, even with faults. */
export function isControlsCsv(text: string): boolean {
  return beginsWithColumn(text, 'framework');
}

/**
 * Reads our interchange for controls: a catalog for each framework and version, and a CCI list for each version of the
 * framework `cci`, with the edition in `version` and the definition in `statement`. `;` separates the items of a list.
 * Without its column a list is unknown, with an empty cell it is empty. Throws `ImportError` naming row and column.
 */
export function parseControlsCsv(text: string): ControlsResult {
  const table = readCsv(text, kind);
  for (const column of required)
    if (!table.columns.includes(column)) throw new ImportError(`the column ${column} is missing`, kind);
  for (const column of table.columns)
    if (!columns.includes(column)) throw new ImportError(`the column "${excerpt(column)}" is unknown`, kind);
  const groups = new Map<string, CsvCatalog>();
  for (const row of table.rows) addRow(groups, row);
  const warnings = [...groups.values()].flatMap(({ items }) => unknownStatuses(items));
  return { kind, records: [...groups.values()].map(recordOf), warnings };
}

interface CsvCatalog {
  framework: string;
  version: string;
  rows: Map<string, number>;
  controls: ControlRecord[];
  items: CciItem[];
}

function addRow(groups: Map<string, CsvCatalog>, row: CsvRow): void {
  const framework = frameworkKey(row.filled('framework'));
  // An API question ends the framework at the first colon, so it could not name a framework with a colon.
  if (framework.includes(':')) throw row.fault('framework', 'contains a colon');
  const version = row.filled('version');
  const text = row.filled('identifier');
  const identifier = canonicalIdentifier(framework, text);
  if (identifier === null) throw row.fault('identifier', `is not an identifier of ${excerpt(framework)}`);
  const key = JSON.stringify([framework, version]);
  const group: CsvCatalog = groups.get(key) ?? {
    framework,
    version,
    rows: new Map(),
    controls: [],
    items: [],
  };
  groups.set(key, group);
  const before = group.rows.get(identifier);
  if (before !== undefined) throw row.fault('identifier', `is already in row ${before}`);
  group.rows.set(identifier, row.number);
  if (framework === 'cci') group.items.push(readItem(identifier, row));
  else group.controls.push(readControl(framework, identifier, row));
}

function recordOf({ framework, version, controls, items }: CsvCatalog): CatalogRecord | CciListRecord {
  if (framework === 'cci') return cciListRecord(kind, version, items);
  return catalogRecord(kind, { framework, version, edition: '' }, controls);
}

function readItem(identifier: string, row: CsvRow): CciItem {
  refuseOthers(row, cciColumns, 'does not apply to a CCI');
  return {
    identifier,
    status: textIn(row, 'status'),
    type: (listIn(row, 'type', ['policy', 'technical']) ?? []).join(', '),
    definition: textIn(row, 'statement'),
    references: [],
  };
}

function readControl(framework: string, identifier: string, row: CsvRow): ControlRecord {
  refuseOthers(
    row,
    columns.filter((column) => column !== 'type'),
    'applies to CCIs only',
  );
  const status = wordIn(row, 'status', ['active', 'withdrawn'] as const) ?? 'active';
  const familyCode = textIn(row, 'familyCode');
  const textFrom = textIn(row, 'textFrom');
  return controlRecord(framework, {
    identifier,
    title: textIn(row, 'title'),
    family: textIn(row, 'family'),
    ...(familyCode === '' ? {} : { familyCode }),
    status,
    withdrawnInto: readTargets(framework, status, row),
    statement: textIn(row, 'statement'),
    statementParts: readParts(row),
    guidance: textIn(row, 'guidance'),
    ...(textFrom === '' ? {} : { textFrom }),
    related: identifiersIn(framework, row, 'related'),
    threat: textIn(row, 'threat'),
    resources: textIn(row, 'resources'),
    baselines: listIn(row, 'baselines', ['low', 'moderate', 'high', 'privacy']),
    requirementType: wordIn(row, 'requirementType', ['basic', 'derived'] as const),
    macLevels: listIn(row, 'macLevels', macLevels),
    confidentialityLevels: listIn(row, 'confidentialityLevels', confidentialityLevels),
    impactCode: wordIn(row, 'impactCode', impactCodes),
  });
}

function readTargets(framework: string, status: ControlRecord['status'], row: CsvRow): string[] {
  const targets = identifiersIn(framework, row, 'withdrawnInto');
  if (targets.length > 0 && status === 'active')
    throw row.fault('withdrawnInto', 'must be empty for an active control');
  return targets;
}

function readParts(row: CsvRow): StatementPart[] {
  const text = row.cell('statementParts');
  if (text === '') return [];
  try {
    return readShape(statementParts, JSON.parse(text), kind);
  } catch {
    throw row.fault('statementParts', 'is not the JSON of statement parts');
  }
}

function identifiersIn(framework: string, row: CsvRow, column: string): string[] {
  const identifiers = partsIn(row, column).map((text) => {
    const identifier = canonicalIdentifier(framework, text);
    if (identifier === null) throw row.fault(column, `is not a list of identifiers of ${excerpt(framework)}`);
    return identifier;
  });
  return [...new Set(identifiers)];
}

function textIn(row: CsvRow, column: string): string {
  return row.cell(column).replace(/\r\n?/g, '\n');
}

function wordIn<T extends string>(row: CsvRow, column: string, words: readonly T[]): T | null {
  const text = row.cell(column);
  const word = words.find((each) => each === text) ?? null;
  if (word === null && text !== '') throw row.fault(column, `is not one of: ${words.join(', ')}`);
  return word;
}

/** The listed words in the order of `words`; null without the column. */
function listIn(row: CsvRow, column: string, words: string[]): string[] | null {
  if (!row.columns.includes(column)) return null;
  const listed = partsIn(row, column);
  if (listed.some((part) => !words.includes(part)) || new Set(listed).size < listed.length)
    throw row.fault(column, `is not one of: ${words.join(', ')}`);
  return words.filter((word) => listed.includes(word));
}

function partsIn(row: CsvRow, column: string): string[] {
  const text = textIn(row, column);
  return text === '' ? [] : text.split(';').map((part) => part.trim());
}

function refuseOthers(row: CsvRow, allowed: string[], reason: string): void {
  const column = row.columns.find((each) => !allowed.includes(each) && row.cell(each) !== '');
  if (column !== undefined) throw row.fault(column, reason);
}
