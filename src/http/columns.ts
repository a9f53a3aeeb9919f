import type { z } from '@hono/zod-openapi';
import { stringify } from 'csv-stringify/sync';
import { XMLBuilder } from 'fast-xml-parser';

type Value = string | number | boolean | null;

/** One column of a flat export: its name in every format, and its value for a row. */
export interface Column<T> {
  name: string;
  value: (row: T) => Value;
}

/** The columns of rows: the JSON names in their order (rule D5.4). */
export function columnsOf<T extends Record<string, Value | string[]>>(
  rows: z.ZodObject<z.ZodRawShape, z.core.$ZodObjectConfig> & z.ZodType<T>,
): Column<T>[] {
  return Object.keys(rows.shape).map((name) => ({
    name,
    value: ({ [name]: value }) => (Array.isArray(value) ? joined(value) : value!),
  }));
}

/** A list as the text of one cell (rule D5.4). */
export function joined(list: string[]): string {
  return list.join(';');
}

/**
 * Rows as CSV (D5.4): UTF-8, header row, CRLF, RFC 4180. Cells that a spreadsheet would run as a formula get a leading
 * apostrophe unless `raw`; null is an empty cell.
 */
export function toCsv<T>(columns: Column<T>[], rows: T[], raw = false): string {
  const records = rows.map((row) => columns.map((column) => column.value(row)));
  return stringify([columns.map((column) => column.name), ...records], {
    record_delimiter: 'windows',
    escape_formulas: !raw,
    // By default only the record delimiter is quoted, but a lone CR or LF ends a row for many readers.
    quoted_match: /[\r\n]/,
    cast: { boolean: String },
  });
}

/** Rows as XML (D5.4): one root, one element for each row, column names as elements, forbidden characters removed. */
export function toXml<T>(root: string, element: string, columns: Column<T>[], rows: T[]): string {
  const builder = new XMLBuilder({ format: true, indentBy: '  ', suppressEmptyNode: true });
  const records = rows.map((row) =>
    Object.fromEntries(columns.map((column) => [column.name, cleanXml(String(column.value(row) ?? ''))])),
  );
  const document = builder.build({ [root]: { [element]: records } });
  // XML parsers read a bare carriage return as a line feed; the builder itself writes none.
  return `<?xml version="1.0" encoding="UTF-8"?>\n${document.replaceAll('\r', '&#xD;')}`;
}

/** Removes the characters that XML 1.0 forbids; the builder does not. */
export function cleanXml(text: string): string {
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '');
}

/** A row of a flat export of a record with several lists: its list, and its values by column. */
export interface SectionRow {
  section: string;
  /** The number of the item in its section, from 1; all rows of one item share it. */
  ordinal: number;
  values: Record<string, Value>;
}

/** The columns of such an export (rule D9.5): `section`, `ordinal`, then the names of all sections, each once. */
export function sectionColumns(names: string[]): Column<SectionRow>[] {
  return [
    { name: 'section', value: (row) => row.section },
    { name: 'ordinal', value: (row) => row.ordinal },
    ...names.map((name) => ({ name, value: (row: SectionRow) => row.values[name] ?? null })),
  ];
}

export function sectionRows(section: string, items: Record<string, Value>[]): SectionRow[] {
  return items.map((values, index) => ({ section, ordinal: index + 1, values }));
}
