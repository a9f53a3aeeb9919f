import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { download } from './answer.ts';
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

/** Answers a file in one of its formats; `raw` turns off what keeps spreadsheets from running cells. */
export function downloadFile<T>(
  c: Context,
  { format, raw }: { format: 'json' | 'csv' | 'xml'; raw?: boolean | undefined },
  name: string,
  { json, root, element, columns, rows }: FlatFile<T>,
): Response {
  const render = {
    json: () => JSON.stringify(json),
    csv: () => toCsv(columns, rows, raw),
    xml: () => toXml(root, element, columns, rows),
  };
  return download(c, render[format](), format, `${name}.${format}`);
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
