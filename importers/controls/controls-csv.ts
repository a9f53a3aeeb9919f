import { z } from 'zod';
import { interchangeNames } from '../../src/catalog/controls/export.ts';
import { frameworkKey, nistBaselines } from '../../src/catalog/controls/frameworks.ts';
import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { StatementPart } from '../../src/catalog/controls/schema.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { beginsWithColumn, type CsvRow, readCsv } from '../read/csv.ts';
import { readShape } from '../read/json-shape.ts';
import { excerpt } from '../read/source-text.ts';
import { type ControlsResult, catalogRecord, cciRecord, controlRecord, withKind } from './catalog.ts';
import { unknownStatuses } from './cci-list.ts';
import type { CatalogRecord, ControlRecord } from './control-record.ts';
import { confidentialityLevels, impactCodes, macLevels } from './dod-8500.ts';

const kind = 'controls-csv';

/** Reads a cell of a control. */
type ReadCell = (row: CsvRow, column: string, framework: string) => unknown;

/** How the columns of a control are read; each is a field of its record. */
const controlColumns: Record<string, ReadCell> = {
  title: textIn,
  family: textIn,
  familyCode: filledIn,
  status: (row, column) => wordIn(row, column, ['active', 'withdrawn']) ?? 'active',
  withdrawnInto: targetsIn,
  statement: textIn,
  statementParts: partsIn,
  guidance: textIn,
  textFrom: filledIn,
  related: identifiersIn,
  threat: textIn,
  resources: textIn,
  baselines: (row, column) => wordsIn(row, column, nistBaselines),
  requirementType: (row, column) => wordIn(row, column, ['basic', 'derived']),
  macLevels: (row, column) => wordsIn(row, column, macLevels),
  confidentialityLevels: (row, column) => wordsIn(row, column, confidentialityLevels),
  impactCode: (row, column) => wordIn(row, column, impactCodes),
};

const keyColumns = ['framework', 'version', 'identifier'];
const cciColumns = [...keyColumns, 'status', 'type', 'statement'];
const columns: readonly string[] = interchangeNames;

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
  return withKind(kind, () => {
    const table = readCsv(text, kind);
    for (const column of keyColumns)
      if (!table.columns.includes(column)) throw new ImportError(`the column ${column} is missing`);
    for (const column of table.columns)
      if (!columns.includes(column)) throw new ImportError(`the column "${excerpt(column)}" is unknown`);
    const byCatalog = Map.groupBy(table.rows.map(readKey), ({ framework, version }) =>
      JSON.stringify([framework, version]),
    );
    const records = [...byCatalog.values()].map(recordOf);
    const warnings = records.flatMap((record) => (record.framework === 'cci' ? unknownStatuses(record) : []));
    return { kind, records, warnings };
  });
}

/** The framework in a cell. An API question ends the framework at the first colon: throws `ImportError` for one. */
export function frameworkIn(row: CsvRow, column: string): string {
  const text = row.filled(column);
  if (text.includes(':')) throw row.fault(column, 'contains a colon');
  return frameworkKey(text);
}

/** The identifier in a cell in its published form. Throws `ImportError` for another text. */
export function identifierIn(row: CsvRow, column: string, framework: string): string {
  const identifier = canonicalIdentifier(framework, row.filled(column));
  if (identifier === null) throw row.fault(column, `is not an identifier of ${excerpt(framework)}`);
  return identifier;
}

/** A row with the catalog and the control that it is about. */
interface KeyedRow {
  framework: string;
  version: string;
  identifier: string;
  row: CsvRow;
}

function readKey(row: CsvRow): KeyedRow {
  const framework = frameworkIn(row, 'framework');
  const version = row.filled('version');
  return { framework, version, identifier: identifierIn(row, 'identifier', framework), row };
}

function recordOf(rows: KeyedRow[]): CatalogRecord {
  const { framework, version } = rows[0]!;
  const isCci = framework === 'cci';
  return catalogRecord(
    { framework, version, edition: isCci ? version : '' },
    rows.map(isCci ? readCci : readControl),
  );
}

function readCci({ identifier, row }: KeyedRow): ControlRecord {
  const other = row.columns.find((column) => !cciColumns.includes(column) && row.cell(column) !== '');
  if (other !== undefined) throw row.fault(other, 'does not apply to a CCI');
  const types = wordsIn(row, 'type', ['policy', 'technical']) ?? [];
  return cciRecord(identifier, textIn(row, 'status'), types.join(', '), textIn(row, 'statement'));
}

function readControl({ framework, identifier, row }: KeyedRow): ControlRecord {
  if (row.cell('type') !== '') throw row.fault('type', 'applies to CCIs only');
  const fields = Object.entries(controlColumns)
    .map(([column, read]) => [column, read(row, column, framework)] as const)
    .filter(([, value]) => value !== undefined);
  return controlRecord(framework, { identifier, ...Object.fromEntries(fields) });
}

function textIn(row: CsvRow, column: string): string {
  return row.cell(column).replace(/\r\n?/g, '\n');
}

/** The text of a field that is left out when it is empty. */
function filledIn(row: CsvRow, column: string): string | undefined {
  return textIn(row, column) || undefined;
}

function targetsIn(row: CsvRow, column: string, framework: string): string[] {
  const targets = identifiersIn(row, column, framework);
  if (targets.length > 0 && row.cell('status') !== 'withdrawn')
    throw row.fault(column, 'must be empty for an active control');
  return targets;
}

function partsIn(row: CsvRow, column: string): StatementPart[] {
  const text = row.cell(column);
  if (text === '') return [];
  try {
    return readShape(z.array(StatementPart), JSON.parse(text), kind);
  } catch {
    throw row.fault(column, 'is not the JSON of statement parts');
  }
}

function identifiersIn(row: CsvRow, column: string, framework: string): string[] {
  const identifiers = itemsIn(row, column).map((text) => {
    const identifier = canonicalIdentifier(framework, text);
    if (identifier === null) throw row.fault(column, `is not a list of identifiers of ${excerpt(framework)}`);
    return identifier;
  });
  return [...new Set(identifiers)];
}

function wordIn(row: CsvRow, column: string, words: readonly string[]): string | null {
  const text = row.cell(column);
  if (text !== '' && !words.includes(text)) throw row.fault(column, `is not one of: ${words.join(', ')}`);
  return text === '' ? null : text;
}

/** The listed words in the order of `words`; null without the column. */
function wordsIn(row: CsvRow, column: string, words: readonly string[]): string[] | null {
  if (!row.columns.includes(column)) return null;
  const listed = itemsIn(row, column);
  if (listed.some((item) => !words.includes(item)) || new Set(listed).size < listed.length)
    throw row.fault(column, `is not one of: ${words.join(', ')}`);
  return words.filter((word) => listed.includes(word));
}

function itemsIn(row: CsvRow, column: string): string[] {
  const text = textIn(row, column);
  return text === '' ? [] : text.split(';').map((item) => item.trim());
}
