import { parse } from 'csv-parse/sync';
import { SaxesParser } from 'saxes';

/** Reads a CSV as RFC 4180 has it: records end with CRLF, nothing is guessed or forgiven. */
export function readCsv(text: string): string[][] {
  const records = parse(text, { record_delimiter: '\r\n', relax_quotes: false, relax_column_count: false });
  // A reader that takes a bare LF or CR for the end of a record must see the same: every one of them is quoted.
  const unquoted = text.split('"').filter((_, index) => index % 2 === 0);
  if (unquoted.some((part) => /\r(?!\n)|(?<!\r)\n/.test(part))) throw new Error('a line end is not quoted');
  return records as string[][];
}

/** Rows of a flat XML export: `<root><element><name>value</name>...`. Throws when it is not well-formed or not flat. */
export function readXmlRows(text: string): {
  root: string;
  rows: { name: string; cells: [string, string][] }[];
} {
  const parser = new SaxesParser({ xmlns: true });
  const stack: string[] = [];
  const rows: { name: string; cells: [string, string][] }[] = [];
  let root = '';
  let value = '';
  parser.on('opentag', (tag) => {
    if (Object.keys(tag.attributes).length > 0) throw new Error(`<${tag.name}> has attributes`);
    stack.push(tag.name);
    if (stack.length === 1) root = tag.name;
    else if (stack.length === 2) rows.push({ name: tag.name, cells: [] });
    else if (stack.length > 3) throw new Error(`<${tag.name}> is too deep`);
    value = '';
  });
  const add = (part: string) => {
    if (stack.length === 3) value += part;
    else if (part.trim() !== '') throw new Error(`text between elements: ${part.slice(0, 40)}`);
  };
  parser.on('text', add);
  parser.on('cdata', add);
  parser.on('closetag', (tag) => {
    if (stack.length === 3) rows[rows.length - 1]!.cells.push([tag.name, value]);
    stack.pop();
  });
  parser.write(text).close();
  return { root, rows };
}
