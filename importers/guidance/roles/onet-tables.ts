import { isStorable } from '../../../src/base/text.ts';
import { ImportError } from '../../../src/read/import-error.ts';
import type { Losses } from '../../read/losses.ts';
import { excerpt } from '../../read/source-text.ts';

const kind = 'onet';

/** The tables of an O*NET release that we read, with their required columns (rule F9.1). */
const tableColumns = {
  occupations: ['O*NET-SOC Code', 'Title', 'Description'],
  tasks: ['O*NET-SOC Code', 'Task ID', 'Task', 'Task Type'],
  technologySkills: ['O*NET-SOC Code', 'Example', 'Commodity Code', 'Commodity Title', 'Hot Technology'],
  // From 30.3 instead of technology skills; the commodity is an element without a UNSPSC code.
  softwareSkills: ['O*NET-SOC Code', 'Workplace Example', 'Element ID', 'Element Name', 'Hot Technology'],
  jobZones: ['O*NET-SOC Code', 'Job Zone'],
  jobZoneNames: ['Job Zone', 'Name'],
  education: ['O*NET-SOC Code', 'Element ID', 'Element Name', 'Scale ID', 'Category', 'Data Value'],
  educationCategories: ['Element ID', 'Scale ID', 'Category', 'Category Description'],
  elements: ['O*NET-SOC Code', 'Element ID', 'Element Name', 'Scale ID', 'Data Value'],
} as const;

/** Columns that are read where a table has them; the name of an element is that of another table. */
const optionalColumns = ['In Demand', 'Recommend Suppress', 'Not Relevant', 'Date', 'Element Name'];

export type TableName = keyof typeof tableColumns;

/** The first match names the table. Most ignore the first column: a fault in it is an error, not another file. */
const marks: [TableName, RegExp][] = [
  ['occupations', /^O\*NET-SOC Code\t.*(?:Title\tDescription|Description\tTitle)/],
  ['tasks', /^[^\t]*\t(?=.*Task ID).*Task Type/],
  ['softwareSkills', /^[^\t]*\t(?=.*Workplace Example).*Hot Technology/],
  ['technologySkills', /^[^\t]*\t.*Hot Technology/],
  ['jobZones', /^[^\t]*\tJob Zone\t.*Domain Source|^O\*NET-SOC Code\t.*Job Zone/],
  ['jobZoneNames', /^Job Zone\t/],
  ['education', /^[^\t]*\t(?=.*Element ID)(?=.*Data Value).*Category/],
  ['elements', /^[^\t]*\t(?=.*Element ID).*Data Value/],
  ['educationCategories', /^Element ID\t.*Category Description/],
];

const readMe = /^O\*NET ([\d.]+) Database/;

/** The table of a file by its beginning, `other` for one that we do not read, or the release note; else null. */
export function onetFileOf(head: string): TableName | 'other' | 'release' | null {
  const [line] = head.replace(/^\ufeff/, '').split(/[\r\n]/);
  if (readMe.test(line!)) return 'release';
  const table = marks.find(([, mark]) => mark.test(line!))?.[0];
  return table ?? (line!.startsWith('O*NET-SOC Code\t') ? 'other' : null);
}

/** The release number in a release note, as `29.2`. */
export function releaseOf(text: string): string | null {
  return readMe.exec(text)?.[1] ?? null;
}

/** One row of a table; a release has hundreds of thousands. */
export class Row {
  private readonly file: string;
  private readonly line: number;
  private readonly cells: string[];
  private readonly indexes: Map<string, number>;

  constructor(file: string, line: number, cells: string[], indexes: Map<string, number>) {
    this.file = file;
    this.line = line;
    this.cells = cells;
    this.indexes = indexes;
  }

  /** `n/a` gives `""`. */
  cell(column: string): string {
    return this.isNotAvailable(column) ? '' : this.written(column);
  }

  isNotAvailable(column: string): boolean {
    return this.written(column).toLowerCase() === 'n/a';
  }

  fault(what: string): ImportError {
    return new ImportError(`${excerpt(this.file)}, line ${this.line}: ${what}`, kind);
  }

  private written(column: string): string {
    return this.cells[this.indexes.get(column) ?? -1]?.trim() ?? '';
  }
}

/**
 * The rows of a tab-separated table; counts the cells of columns that are not stored. Throws `ImportError` naming file and
 * line of a fault.
 */
export function readTable(table: TableName, file: string, text: string, losses: Losses): Row[] {
  const [header, ...lines] = text.split(/\r?\n/);
  while (lines.at(-1) === '') lines.pop();
  const columns = header!.split('\t').map((column) => column.trim());
  const missing = tableColumns[table].find((column) => !columns.includes(column));
  if (missing !== undefined)
    throw new ImportError(`${excerpt(file)}, line 1: the column ${missing} is missing`, kind);
  const indexes = new Map(columns.map((column, index) => [column, index]));
  const stored: readonly string[] = [...tableColumns[table], ...optionalColumns];
  const others = columns.filter((column) => column !== '' && !stored.includes(column));
  return lines.map((line, index) => {
    const cells = line.split('\t');
    const row = new Row(file, index + 2, cells, indexes);
    if (cells.length !== columns.length)
      throw row.fault(`${cells.length} cells, the header has ${columns.length}`);
    if (!isStorable(line)) throw row.fault('characters that cannot be stored');
    for (const column of others) if (row.cell(column) !== '') losses.add(`the column ${column}`);
    return row;
  });
}
