import { frameworkKey } from '../../src/catalog/controls/frameworks.ts';
import { canonicalIdentifier } from '../../src/catalog/controls/identifier.ts';
import { type CsvRow, csvHeader, readCsv } from '../read/csv.ts';
import { ImportError } from '../read/errors.ts';
import { shown } from '../read/text.ts';
import { type ControlsResult, catalogRecord, cciListRecord, controlRecord } from './catalog.ts';
import { unknownStatuses } from './cci-list.ts';
import { confidentialityLevels, impactCodes, macLevels } from './dod-8500.ts';
import type { CatalogRecord, CciItem, CciListRecord, ControlRecord } from './record.ts';

const kind = 'controls-csv';

const required = ['framework', 'version', 'identifier'];
const cciColumns = [...required, 'status', 'type', 'statement'];
const columns = [
  ...required,
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
  'guidance',
];

/** True for a text whose header begins as our interchange for controls does, whether or not it is a good one. */
export function isControlsCsv(text: string): boolean {
  const header = csvHeader(text);
  return header.length > 1 && header[0] === 'framework';
}

/**
 * Reads our interchange for controls: a catalog for each framework and version, and a CCI list for each version of the
 * framework `cci`, whose `version` is the list's edition, `statement` the definition and `type` policy or technical.
 * Lists are joined by `;`; a column that is absent says nothing, an empty cell of a list says that the list is empty.
 * Throws `ImportError` naming row and column.
 */
export function parseControlsCsv(text: string): ControlsResult {
  const table = readCsv(text, kind);
  for (const column of required)
    if (!table.columns.includes(column)) throw new ImportError(`the column ${column} is missing`, kind);
  for (const column of table.columns)
    if (!columns.includes(column)) throw new ImportError(`the column "${shown(column)}" is unknown`, kind);
  const groups = new Map<string, CsvCatalog>();
  for (const row of table.rows) addRow(groups, new Cells(row, table.columns));
  const warnings = [...groups.values()].flatMap(({ items }) => unknownStatuses(items));
  return { kind, records: [...groups.values()].map(recordOf), warnings };
}

interface CsvCatalog {
  framework: string;
  version: string;
  /** The row of each identifier. */
  rows: Map<string, number>;
  controls: ControlRecord[];
  items: CciItem[];
}

function addRow(groups: Map<string, CsvCatalog>, cells: Cells): void {
  const framework = frameworkKey(cells.filled('framework'));
  // A question is split at its first colon: a key with one could never be asked for.
  if (framework.includes(':')) throw cells.fault('framework', 'contains a colon');
  const version = cells.filled('version');
  const text = cells.filled('identifier');
  const identifier = canonicalIdentifier(framework, text);
  if (identifier === null) throw cells.fault('identifier', `is not an identifier of ${shown(framework)}`);
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
  if (before !== undefined) throw cells.fault('identifier', `is already in row ${before}`);
  group.rows.set(identifier, cells.number);
  if (framework === 'cci') group.items.push(readItem(identifier, cells));
  else group.controls.push(readControl(framework, identifier, cells));
}

function recordOf({ framework, version, controls, items }: CsvCatalog): CatalogRecord | CciListRecord {
  if (framework === 'cci') return cciListRecord(kind, version, items);
  return catalogRecord(kind, { framework, version, edition: '' }, controls);
}

function readItem(identifier: string, cells: Cells): CciItem {
  cells.refuseOthers(cciColumns, 'does not apply to a CCI');
  return {
    identifier,
    status: cells.text('status'),
    type: (cells.list('type', ['policy', 'technical']) ?? []).join(', '),
    definition: cells.text('statement'),
    references: [],
  };
}

function readControl(framework: string, identifier: string, cells: Cells): ControlRecord {
  cells.refuseOthers(
    columns.filter((column) => column !== 'type'),
    'applies to CCIs only',
  );
  const status = cells.word('status', ['active', 'withdrawn'] as const) ?? 'active';
  const familyCode = cells.text('familyCode');
  return controlRecord(framework, {
    identifier,
    title: cells.text('title'),
    family: cells.text('family'),
    ...(familyCode === '' ? {} : { familyCode }),
    status,
    withdrawnInto: readTargets(framework, status, cells),
    statement: cells.text('statement'),
    guidance: cells.text('guidance'),
    baselines: cells.list('baselines', ['low', 'moderate', 'high', 'privacy']),
    requirementType: cells.word('requirementType', ['basic', 'derived'] as const),
    macLevels: cells.list('macLevels', macLevels),
    confidentialityLevels: cells.list('confidentialityLevels', confidentialityLevels),
    impactCode: cells.word('impactCode', impactCodes),
  });
}

function readTargets(framework: string, status: ControlRecord['status'], cells: Cells): string[] {
  const targets = cells.parts('withdrawnInto');
  if (targets.length > 0 && status === 'active')
    throw cells.fault('withdrawnInto', 'must be empty for an active control');
  const identifiers = targets.map((target) => {
    const identifier = canonicalIdentifier(framework, target);
    if (identifier === null)
      throw cells.fault('withdrawnInto', `is not a list of identifiers of ${framework}`);
    return identifier;
  });
  return [...new Set(identifiers)];
}

/** The cells of one row, each read as its column asks. */
class Cells {
  readonly number: number;
  private readonly row: CsvRow;
  private readonly columns: string[];

  constructor(row: CsvRow, columns: string[]) {
    this.number = row.number;
    this.row = row;
    this.columns = columns;
  }

  text(column: string): string {
    return this.row.cell(column).replace(/\r\n?/g, '\n');
  }

  filled(column: string): string {
    const text = this.text(column);
    if (text === '') throw new ImportError(`row ${this.number}, column ${column}: the cell is empty`, kind);
    return text;
  }

  /** One of the words, null when empty. */
  word<T extends string>(column: string, words: readonly T[]): T | null {
    const text = this.text(column);
    if (text === '') return null;
    return words.find((word) => word === text) ?? this.failOf(column, words);
  }

  /** The words listed, in their own order; null when the column is absent. */
  list(column: string, words: string[]): string[] | null {
    if (!this.columns.includes(column)) return null;
    const listed = this.parts(column);
    if (listed.some((part) => !words.includes(part)) || new Set(listed).size < listed.length)
      this.failOf(column, words);
    return words.filter((word) => listed.includes(word));
  }

  parts(column: string): string[] {
    const text = this.text(column);
    return text === '' ? [] : text.split(';').map((part) => part.trim());
  }

  refuseOthers(allowed: string[], reason: string): void {
    const column = this.columns.find((each) => !allowed.includes(each) && this.text(each) !== '');
    if (column !== undefined) throw this.fault(column, reason);
  }

  fault(column: string, reason: string): ImportError {
    return new ImportError(
      `row ${this.number}, column ${column}: "${shown(this.text(column))}" ${reason}`,
      kind,
    );
  }

  private failOf(column: string, words: readonly string[]): never {
    throw this.fault(column, `is not one of: ${words.join(', ')}`);
  }
}
