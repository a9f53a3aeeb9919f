import { Readable } from 'node:stream';
import { type Info, parse as parseStream } from 'csv-parse';
import { parse } from 'csv-parse/sync';

/** A row of a table. */
export interface TableRow {
  /** Trimmed. */
  cells: string[];
  /** The number of the row in a spreadsheet: the header is row 1, and empty rows count. */
  number: number;
  /** The last line of the row in the file. */
  line: number;
}

interface ParsedRecord {
  record: string[];
  info: Info;
}

/**
 * Reads the filled rows of a table (rule D53.4). Its first line says whether commas, semicolons or tabs separate cells.
 * Empty cells at the end of the first row are left out, and so are those that other rows have beyond them. Throws an
 * `Error` for a text that is not CSV, and for more than `most` rows.
 */
export function readTable(text: string, most = Number.MAX_SAFE_INTEGER): TableRow[] {
  const records = parse(text, { ...optionsFor(text), to: most + 1 }) as unknown as ParsedRecord[];
  if (records.length > most) throw new Error(`it has more than ${most.toLocaleString('en-US')} rows`);
  const toRow = rowReader();
  return records.map(toRow).filter((row) => row !== null);
}

const pieceBytes = 65_536;

/** Reads a table like `readTable`, with other work of the event loop between its pieces; `use` gets each row. */
export async function readLargeTable(text: string, use: (row: TableRow) => void): Promise<void> {
  const bytes = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
    bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  );
  const toRow = rowReader();
  for await (const record of Readable.from(pieces).pipe(
    parseStream(optionsFor(text)),
  ) as AsyncIterable<ParsedRecord>) {
    const row = toRow(record);
    if (row !== null) use(row);
  }
}

const optionsFor = (text: string) => ({
  bom: true,
  delimiter: separatorOf(text),
  info: true as const,
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  // Many empty lines cost nothing then.
  skip_empty_lines: true,
  trim: true,
});

/** A tab separates wherever it occurs in the line: names may have the others, and nobody types a tab. */
function separatorOf(text: string): string {
  const [line = ''] = /[^\s\uFEFF][^\r\n]{0,16384}/.exec(text) ?? [];
  const unquoted = line.replace(/"[^"]*"/g, '');
  return unquoted.includes('\t') ? '\t' : (/[;,]/.exec(unquoted)?.[0] ?? ',');
}

/** Gives a function for the records of one table in order; null for an empty row. */
function rowReader(): (record: ParsedRecord) => TableRow | null {
  let records = 0;
  let width: number | null = null;
  return ({ record, info }) => {
    const number = ++records + info.empty_lines;
    const cells = record.map((cell) => cell.trim());
    const filled = cells.findLastIndex((cell) => cell !== '') + 1;
    if (filled === 0) return null;
    width ??= filled;
    return { cells: cells.slice(0, Math.max(filled, width)), number, line: info.lines };
  };
}
