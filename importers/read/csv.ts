import { guardedCell, isStorable } from '../../src/base/text.ts';
import { ImportError, type Kind } from '../../src/read/import-error.ts';
import { readTable, type TableRow } from '../../src/read/table.ts';
import { excerpt } from './source-text.ts';

/** A row of a CSV: its number in a spreadsheet (the header is row 1), and its cells by column. */
export interface CsvRow {
  number: number;
  columns: string[];
  /** The trimmed text without a guard against formulas; `""` for an empty cell or no such column. */
  cell(column: string): string;
  filled(column: string): string;
  fault(column: string, what: string): ImportError;
}

/** A CSV file: the columns of its header and its rows. */
interface CsvTable {
  columns: string[];
  rows: CsvRow[];
}

const maxHeader = 4096;

/** Whether the header of a text begins with one of our `names`, even with faults: an error then names its kind. */
export function beginsWithColumn(text: string, ...names: string[]): boolean {
  const [line = ''] = text.slice(0, maxHeader).split(/[\r\n]/);
  try {
    // A sentence may begin with the same word.
    const [first = '', second = ''] = readTable(line)[0]?.cells ?? [];
    return names.includes(first) && /^\w+$/.test(second);
  } catch {
    return false;
  }
}

/** Reads a table with a header, without empty rows. Throws `ImportError` naming the row. */
export function readCsv(text: string, kind: Kind): CsvTable {
  let header: TableRow | undefined;
  let rest: TableRow[];
  try {
    [header, ...rest] = readTable(text);
  } catch (error) {
    throw new ImportError(`not valid CSV: ${excerpt((error as Error).message, 200)}`, kind);
  }
  const columns = header?.cells ?? [];
  const nameless = columns.indexOf('');
  if (nameless >= 0) throw new ImportError(`column ${nameless + 1} of the header has no name`, kind);
  const seen = new Set<string>();
  const doubled = columns.find((column) => seen.size === seen.add(column).size);
  if (doubled !== undefined) throw new ImportError(`the column ${excerpt(doubled)} occurs twice`, kind);
  if (rest.length === 0) throw new ImportError('there are no rows below the header', kind);
  return { columns, rows: rest.map((row) => readRow(row, columns, kind)) };
}

function readRow({ cells, number }: TableRow, columns: string[], kind: Kind): CsvRow {
  if (cells.length !== columns.length)
    throw new ImportError(`row ${number} has ${cells.length} cells, the header has ${columns.length}`, kind);
  const unstorable = columns.find((_, index) => !isStorable(cells[index]!));
  if (unstorable !== undefined)
    throw new ImportError(`row ${number}, column ${unstorable}: characters that cannot be stored`, kind);
  const texts = cells.map((cell) => (guardedCell.test(cell) ? cell.slice(1) : cell));
  const byColumn = new Map(columns.map((column, index) => [column, texts[index]!]));
  const cell = (column: string) => byColumn.get(column) ?? '';
  return {
    number,
    columns,
    cell,
    filled(column) {
      if (cell(column) !== '') return cell(column);
      throw new ImportError(`row ${number}, column ${column}: the cell is empty`, kind);
    },
    fault: (column, what) =>
      new ImportError(`row ${number}, column ${column}: "${excerpt(cell(column))}" ${what}`, kind),
  };
}
