import { isStorable } from '../../../src/base/text.ts';
import { ImportError } from '../../../src/read/import-error.ts';
import type { Losses } from '../../read/losses.ts';
import { excerpt } from '../../read/source-text.ts';

const code = 'O*NET-SOC Code';

/**
 * The tables of an O*NET release that we read (rule F9.1): the columns by which a header is recognized, in this order of
 * tables, and the other columns that it must have.
 */
const tables = {
  occupations: { marks: [code, 'Title', 'Description'], others: [] },
  tasks: { marks: ['Task ID', 'Task Type'], others: [code, 'Task'] },
  // From 30.3 in place of technology skills; the commodity is an element without a UNSPSC code.
  softwareSkills: {
    marks: ['Workplace Example', 'Hot Technology'],
    others: [code, 'Element ID', 'Element Name'],
  },
  technologySkills: {
    marks: ['Hot Technology'],
    others: [code, 'Example', 'Commodity Code', 'Commodity Title'],
  },
  jobZones: { marks: [code, 'Job Zone'], others: [] },
  jobZoneNames: { marks: ['Job Zone', 'Name'], others: [] },
  education: { marks: ['Element ID', 'Data Value', 'Category'], others: [code, 'Element Name', 'Scale ID'] },
  elements: { marks: ['Element ID', 'Data Value'], others: [code, 'Element Name', 'Scale ID'] },
  educationCategories: { marks: ['Element ID', 'Category Description'], others: ['Scale ID', 'Category'] },
} satisfies Record<string, { marks: string[]; others: string[] }>;

export type TableName = keyof typeof tables;

/** Columns that are read where a table has them; the name of an element is that of another table. */
const optionalColumns = ['In Demand', 'Recommend Suppress', 'Not Relevant', 'Date', 'Element Name'];

const readMe = /^O\*NET ([\d.]+) Database/;

/** The table of a file by its beginning, `other` for one that we do not read, or the release note; else null. */
export function onetFileOf(head: string): TableName | 'other' | 'release' | null {
  const [line] = head.replace(/^\ufeff/, '').split(/[\r\n]/);
  if (readMe.test(line!)) return 'release';
  const columns = columnsOf(line!);
  const names = Object.keys(tables) as TableName[];
  const table = names.find((name) => tables[name].marks.every((column) => columns.includes(column)));
  return table ?? (columns.length > 1 && columns[0] === code ? 'other' : null);
}

/** The release number in a release note, as `29.2`. */
export function releaseOf(text: string): string {
  return readMe.exec(text)![1]!;
}

/** One row of a table; a release has hundreds of thousands. */
export interface Row {
  file: string;
  line: number;
  cells: string[];
  indexes: Map<string, number>;
}

/** The cell of a column; `""` for `n/a` and for no such column. */
export function cell({ cells, indexes }: Row, column: string): string {
  const text = cells[indexes.get(column) ?? -1]?.trim() ?? '';
  return text.toLowerCase() === 'n/a' ? '' : text;
}

export function faultOf({ file, line }: Row, what: string): ImportError {
  return new ImportError(`${excerpt(file)}, line ${line}: ${what}`, 'onet');
}

/**
 * The rows of a tab-separated table; counts the cells of columns that are not stored. Throws `ImportError` naming file and
 * line of a fault.
 */
export function readOnetTable(table: TableName, file: string, text: string, losses: Losses): Row[] {
  const [header, ...lines] = text.split(/\r?\n/);
  while (lines.at(-1) === '') lines.pop();
  const columns = columnsOf(header!);
  const indexes = new Map(columns.map((column, index) => [column, index]));
  const rowOf = (line: number, cells: string[]): Row => ({ file, line, cells, indexes });
  const required: string[] = [...tables[table].marks, ...tables[table].others];
  const missing = required.find((column) => !columns.includes(column));
  if (missing !== undefined) throw faultOf(rowOf(1, columns), `the column ${missing} is missing`);
  const stored = new Set([...required, ...optionalColumns]);
  const others = columns.filter((column) => column !== '' && !stored.has(column));
  return lines.map((line, index) => {
    const row = rowOf(index + 2, line.split('\t'));
    if (row.cells.length !== columns.length)
      throw faultOf(row, `${row.cells.length} cells, the header has ${columns.length}`);
    if (!isStorable(line)) throw faultOf(row, 'characters that cannot be stored');
    for (const column of others) if (cell(row, column) !== '') losses.add(`the column ${column}`);
    return row;
  });
}

const columnsOf = (header: string) => header.split('\t').map((column) => column.trim());
