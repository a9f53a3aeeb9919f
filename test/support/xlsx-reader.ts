import { inflateRawSync } from 'node:zlib';
import { read, utils } from '@e965/xlsx';
import { SaxesParser } from 'saxes';

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
  const rows = utils.sheet_to_json<(string | number)[]>(sheet, {
    header: 1,
    raw: true,
    defval: '',
    blankrows: true,
  });
  return { name, rows };
}

/** The parts of a workbook by name, each well-formed. Reads the local headers, as yazl writes them. */
export function partsOf(bytes: Uint8Array): Map<string, string> {
  const zip = Buffer.from(bytes);
  const parts = new Map<string, string>();
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [packed, nameLength] = [zip.readUInt32LE(at + 20), zip.readUInt16LE(at + 28)];
    const local = zip.readUInt32LE(at + 42);
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength);
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const text = inflateRawSync(zip.subarray(start, start + packed)).toString();
    const parser = new SaxesParser({ xmlns: true });
    parser.on('error', (error) => {
      throw error;
    });
    parser.write(text).close();
    parts.set(name, text);
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return parts;
}
