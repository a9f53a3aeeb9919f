import { ImportError } from '../../../src/read/import-error.ts';
import { beginsWithColumn, type CsvRow, readCsv } from '../../read/csv.ts';
import { isSlug } from '../../stigs/slug.ts';
import { isOccupationCode } from './families.ts';
import { type CuratedMapping, type CuratedRecord, responsibilityLevels } from './role-record.ts';

const kind = 'role-mapping-csv';

const columns = [
  'stigSlug',
  'occupationCode',
  'confidenceScore',
  'roleResponsibilityLevel',
  'niceWorkRoleId',
  'mappingReason',
];

/** True for a text whose header begins like that of curated mappings, even with faults. */
export function isCuratedCsv(text: string): boolean {
  return beginsWithColumn(text, columns[0]!);
}

/** Reads curated mappings of STIGs to roles (data/README.md). Throws `ImportError` naming row and column. */
export function parseCuratedCsv(text: string): CuratedRecord {
  const table = readCsv(text, kind);
  if (table.columns.join() !== columns.join())
    throw new ImportError(`row 1: the header is not ${columns.join(',')}`, kind);
  const seen = new Map<string, number>();
  const rows = table.rows.map((row) => {
    const mapping = readMapping(row);
    const key = `${mapping.stigSlug} ${mapping.occupationCode}`;
    const before = seen.get(key);
    if (before !== undefined)
      throw new ImportError(`row ${row.number} repeats the mapping of row ${before}`, kind);
    seen.set(key, row.number);
    return mapping;
  });
  return { type: 'role-mapping', rows };
}

function readMapping(row: CsvRow): CuratedMapping {
  const score = checked(row, 'confidenceScore', (text) => /^(?:0(?:\.\d{1,2})?|1(?:\.0{1,2})?)$/.test(text));
  const level = checked(row, 'roleResponsibilityLevel', (text) =>
    responsibilityLevels.some((each) => each === text),
  );
  return {
    stigSlug: checked(row, 'stigSlug', isSlug),
    occupationCode: checked(row, 'occupationCode', isOccupationCode),
    confidenceScore: Number(score),
    responsibilityLevel: level as CuratedMapping['responsibilityLevel'],
    workRoleId:
      checked(row, 'niceWorkRoleId', (text) => text === '' || /^[A-Z]{2}-WRL-\d{3}$/.test(text)) || null,
    reason: checked(row, 'mappingReason', (text) => text !== '' && text.length <= 2000),
    row: row.number,
  };
}

function checked(row: CsvRow, column: string, isGood: (text: string) => boolean): string {
  const text = row.cell(column);
  if (isGood(text)) return text;
  throw row.fault(column, 'is not allowed');
}
