import { read, utils } from '@e965/xlsx';
import { SaxesParser } from 'saxes';
import { readZip } from './read-zip.ts';

/** The rows of the one sheet as another program reads them, numbers as texts; an empty cell is the empty text. */
export function readSheet(bytes: Uint8Array): { name: string; rows: string[][] } {
  const { name, rows } = readCells(bytes);
  return { name, rows: rows.map((cells) => cells.map(String)) };
}

/** As `readSheet`, with cells of numbers (type n) as numbers. Throws for any other type of cell. */
export function readCells(bytes: Uint8Array): { name: string; rows: (string | number)[][] } {
  const book = read(bytes, { type: 'array', cellFormula: true });
  if (book.SheetNames.length !== 1) throw new Error(`${book.SheetNames.length} sheets`);
  const [name] = book.SheetNames as [string];
  const sheet = book.Sheets[name]!;
  for (const [at, cell] of Object.entries(sheet))
    if (!at.startsWith('!') && ((cell.t !== 's' && cell.t !== 'n') || cell.f !== undefined))
      throw new Error(`${at} is neither a text nor a number`);
  const options = { header: 1, raw: true, defval: '', blankrows: true } as const;
  const rows = utils.sheet_to_json<(string | number)[]>(sheet, options);
  return { name, rows };
}

/** The parts of a workbook by name, each well-formed. */
export async function partsOf(bytes: Uint8Array): Promise<Map<string, string>> {
  const parts = [...(await readZip(bytes))].map(([name, content]) => [name, String(content)] as const);
  for (const [, text] of parts) new SaxesParser({ xmlns: true }).write(text).close();
  return new Map(parts);
}
