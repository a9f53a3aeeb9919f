import { pairFields } from '../../src/catalog/crosswalk/export.ts';
import { ImportError } from '../../src/read/import-error.ts';
import { type ControlsResult, withKind } from '../controls/catalog.ts';
import { type MappingPair, mostPairs } from '../controls/control-record.ts';
import { frameworkIn, identifierIn } from '../controls/controls-csv.ts';
import { beginsWithColumn, type CsvRow, readCsv } from '../read/csv.ts';

const kind = 'mappings-csv';

const rev2Columns = ['sp800_171r2', 'sp800_53r4'];

/** True for a text whose header begins like one of the two mapping files, even with faults. */
export function isMappingsCsv(text: string): boolean {
  return beginsWithColumn(text, pairFields[0], rev2Columns[0]!);
}

/**
 * Reads our interchange for mappings, or the two columns of pairs of 800-171 Rev 2 and 800-53 Rev 4. Throws `ImportError` naming row and column.
 */
export function parseMappingsCsv(text: string): ControlsResult {
  return withKind(kind, () => {
    const table = readCsv(text, kind);
    const isRev2 = table.columns[0] === rev2Columns[0];
    const expected = isRev2 ? rev2Columns : pairFields;
    if (table.columns.join() !== expected.join())
      throw new ImportError(`the header is not ${expected.join(',')}`);
    if (table.rows.length > mostPairs) throw new ImportError(`more than ${mostPairs} pairs`);
    const rowOf = new Map<string, number>();
    const pairs = table.rows.map((row) => {
      const pair = isRev2 ? readRev2(row) : readPair(row);
      const whole = JSON.stringify({ ...pair, reference: row.cell('reference'), row: 0 });
      const before = rowOf.get(whole);
      if (before !== undefined) throw new ImportError(`row ${row.number} repeats the pair of row ${before}`);
      rowOf.set(whole, row.number);
      return pair;
    });
    return { kind, records: [{ type: 'mapping', edition: '', pairs }], warnings: [] };
  });
}

function readRev2(row: CsvRow): MappingPair {
  const fromIdentifier = identifierIn(row, 'sp800_171r2', 'nist-800-171');
  if (fromIdentifier.startsWith('0'))
    throw new ImportError(`row ${row.number}, column sp800_171r2: ${fromIdentifier} is of Rev 3`);
  return {
    fromFramework: 'nist-800-171',
    fromVersion: 'Rev 2',
    fromIdentifier,
    toFramework: 'nist-800-53',
    toVersion: 'Rev 4',
    toIdentifier: identifierIn(row, 'sp800_53r4', 'nist-800-53'),
    reference: `row ${row.number}`,
    row: row.number,
  };
}

function readPair(row: CsvRow): MappingPair {
  const fromFramework = frameworkIn(row, 'fromFramework');
  const toFramework = frameworkIn(row, 'toFramework');
  const fromIdentifier = identifierIn(row, 'fromIdentifier', fromFramework);
  const toIdentifier = identifierIn(row, 'toIdentifier', toFramework);
  if (fromFramework === toFramework && fromIdentifier === toIdentifier)
    throw new ImportError(`row ${row.number}, column toIdentifier: ${toIdentifier} is paired with itself`);
  return {
    fromFramework,
    fromVersion: row.filled('fromVersion'),
    fromIdentifier,
    toFramework,
    toVersion: row.cell('toVersion'),
    toIdentifier,
    reference: row.cell('reference') || `row ${row.number}`,
    row: row.number,
  };
}
