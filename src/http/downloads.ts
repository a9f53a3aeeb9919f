import type { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { yieldToEventLoop } from '../base/slices.ts';
import { download, fileTypes } from './answer.ts';
import { type Column, toCsv, toXml } from './columns.ts';
import { BinaryFile, downloadHeaders, TextFile } from './schema.ts';
import { toXlsx } from './xlsx.ts';

/** A file that is answered as json, or flat as csv, xml and xlsx. */
export interface FlatFile<T> {
  json: object;
  /** The names of the xml's root, which is that of the sheet too, and of the element of a row. */
  root: string;
  element: string;
  columns: Column<T>[];
  rows: T[];
  /** Those of who may read it; without them the answer is the caller's own. */
  headers?: Record<string, string>;
}

/** Answers a file in one of its formats; `raw` turns off what keeps spreadsheets from running cells of a csv. */
export async function downloadFile<T>(
  c: Context,
  { format, raw }: { format: 'json' | 'csv' | 'xml' | 'xlsx'; raw?: boolean | undefined },
  name: string,
  { json, root, element, columns, rows, headers }: FlatFile<T>,
): Promise<Response> {
  const cells = () => rows.map((row) => columns.map((column) => String(column.value(row) ?? '')));
  const header = columns.map((column) => column.name);
  const render = {
    json: () => JSON.stringify(json),
    csv: () => csvInTurns(columns, rows, raw),
    xml: () => toXml(root, element, columns, rows),
    xlsx: () => toXlsx({ name: root, header, rows: cells(), marking: c.get('banner') }),
  };
  return download(c, await render[format](), format, `${name}.${format}`, headers);
}

/** Rows that are written before the writer yields to the event loop. */
const rowsPerTurn = 500;

/** `toCsv` of many rows, giving way to other requests in between. */
async function csvInTurns<T>(columns: Column<T>[], rows: T[], raw?: boolean): Promise<string> {
  const header = toCsv(columns, [], raw);
  let text = header;
  for (let from = 0; from < rows.length; from += rowsPerTurn) {
    if (from > 0) await yieldToEventLoop();
    text += toCsv(columns, rows.slice(from, from + rowsPerTurn), raw).slice(header.length);
  }
  return text;
}

type FlatType = 'text/csv' | 'application/xml';

/** Whether a request is for a file, of a route that answers json as well; a file of many lines is more work. */
export function asksForFile(c: Context): boolean {
  return (c.req.query('format') ?? 'json').toLowerCase() !== 'json';
}

/** The response of a route that answers json as any other does, and a file where a flat format is asked for. */
export function jsonOrFile<T extends z.ZodType>(json: T, description: string) {
  const { content, headers } = fileContent(json, ['text/csv']);
  const name = 'Content-Disposition';
  return { description, content, headers: { [name]: { ...headers[name], required: false } } };
}

/** The response of a route that answers a file: as JSON, flat in the given types, and as xlsx. */
export function fileContent<T extends z.ZodType>(
  json: T,
  flat: FlatType[] = ['text/csv', 'application/xml'],
) {
  const texts = Object.fromEntries(flat.map((type) => [type, { schema: TextFile }]));
  const content = {
    'application/json': { schema: json },
    ...texts,
    [fileTypes.xlsx]: { schema: BinaryFile },
  };
  return { description: 'The file.', headers: downloadHeaders, content };
}
