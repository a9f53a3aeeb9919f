import { parse } from 'csv-parse/sync';
import { guardedCell, isStorable } from '../../src/base/text.ts';
import { ImportError } from '../../src/read/import-error.ts';
import type { Kind } from '../../src/read/kind.ts';
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
export interface CsvTable {
  columns: string[];
  rows: CsvRow[];
}

const maxHeader = 4096;

/** Whether the header of a text begins with one of our `names`, even with faults: an error then names its kind. */
export function beginsWithColumn(text: string, ...names: string[]): boolean {
  const header = headerOf(text);
  return header.length > 1 && names.includes(header[0]!);
}

/** Reads other separators too, so that the error for such a spreadsheet names its kind. */
function headerOf(text: string): string[] {
  const [line] = text.slice(0, maxHeader).split(/[\r\n]/);
  try {
    const [header = []] = parse(line!) as string[][];
    const columns = header.map((column) => column.trim());
    return separatorOf(columns) === null ? columns : columns[0]!.split(/[;\t]/).map((each) => each.trim());
  } catch {
    return [];
  }
}

function separatorOf(columns: string[]): 'semicolons' | 'tabs' | null {
  const only = columns.length === 1 ? columns[0]! : '';
  // One pattern for the whole line would backtrack over the blanks.
  const isSeparatedBy = (mark: string) => {
    const names = only.split(mark).map((each) => each.trim());
    return names.length > 1 && names[0] !== '' && names.every((name) => /^\w*$/.test(name));
  };
  if (isSeparatedBy(';')) return 'semicolons';
  return isSeparatedBy('\t') ? 'tabs' : null;
}

/** Reads a CSV with a header, without empty rows. Throws `ImportError` naming the row. */
export function readCsv(text: string, kind: Kind): CsvTable {
  let records: string[][];
  try {
    records = parse(text, { relax_column_count: true }) as string[][];
  } catch (error) {
    throw new ImportError(`not valid CSV: ${excerpt((error as Error).message, 200)}`, kind);
  }
  const [header = [], ...rest] = records;
  const columns = header.map((column) => column.trim());
  const separator = separatorOf(columns);
  if (separator !== null)
    throw new ImportError(`the columns are separated by ${separator}, not by commas`, kind);
  const nameless = columns.indexOf('');
  if (nameless >= 0) throw new ImportError(`column ${nameless + 1} of the header has no name`, kind);
  const seen = new Set<string>();
  const doubled = columns.find((column) => seen.size === seen.add(column).size);
  if (doubled !== undefined) throw new ImportError(`the column ${excerpt(doubled)} occurs twice`, kind);
  const rows = rest.flatMap((cells, index) => {
    if (cells.every((cell) => cell.trim() === '')) return [];
    return [readRow(cells, index + 2, columns, kind)];
  });
  if (rows.length === 0) throw new ImportError('there are no rows below the header', kind);
  return { columns, rows };
}

function readRow(cells: string[], number: number, columns: string[], kind: Kind): CsvRow {
  if (cells.length !== columns.length)
    throw new ImportError(`row ${number} has ${cells.length} cells, the header has ${columns.length}`, kind);
  const unstorable = columns.find((_, index) => !isStorable(cells[index]!));
  if (unstorable !== undefined)
    throw new ImportError(`row ${number}, column ${unstorable}: characters that cannot be stored`, kind);
  const texts = cells
    .map((cell) => cell.trim())
    .map((cell) => (guardedCell.test(cell) ? cell.slice(1) : cell));
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
