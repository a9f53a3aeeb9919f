import type { z } from '@hono/zod-openapi';
import { type Column, toCsv, toXml } from './columns.ts';
import { downloadHeaders, TextFile } from './schema.ts';

/** A file that is answered as json, or flat as csv and xml. */
export interface FlatFile<T> {
  json: object;
  /** The names of the xml's root and of the element of a row. */
  root: string;
  element: string;
  columns: Column<T>[];
  rows: T[];
}

/** The text of a file in one of its formats; `raw` turns off what keeps spreadsheets from running cells. */
export function renderFile<T>(file: FlatFile<T>, format: 'json' | 'csv' | 'xml', raw?: boolean): string {
  switch (format) {
    case 'json':
      return JSON.stringify(file.json);
    case 'csv':
      return toCsv(file.columns, file.rows, raw);
    case 'xml':
      return toXml(file.root, file.element, file.columns, file.rows);
  }
}

type FlatType = 'text/csv' | 'application/xml';

/** The response of a route that answers a file: as JSON, and flat in the given types. */
export function fileContent<T extends z.ZodType>(
  json: T,
  flat: FlatType[] = ['text/csv', 'application/xml'],
) {
  const texts = Object.fromEntries(flat.map((type) => [type, { schema: TextFile }]));
  const content = { 'application/json': { schema: json }, ...texts };
  return { description: 'The file.', headers: downloadHeaders, content };
}
