import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { cut } from '../base/text.ts';
import { download, fileTypes, markedXml } from './answer.ts';
import { type Column, toCsv, toXml } from './columns.ts';
import { BinaryFile, downloadHeaders, flag, format, TextFile } from './schema.ts';
import { toXlsx } from './xlsx.ts';

/** The query of a download in every format. */
export const fileQuery = z.object({ format: format(['json', 'csv', 'xml', 'xlsx']), raw: flag('raw') });

/** A download as json, or flat as csv, xml and xlsx. */
export interface FlatFile<T> {
  json: object;
  /** The name of the XML root and the sheet; `element` is that of a row. */
  root: string;
  element: string;
  columns: Column<T>[];
  rows: T[];
  /** xlsx: long texts wrap in their cells. */
  wrapped?: boolean;
  /** Cache headers; the default is for an answer to one caller. */
  headers?: Record<string, string>;
}

/** The format of a file, and the classification banner that marks it. */
export interface FileChoice {
  format: 'json' | 'csv' | 'xml' | 'xlsx';
  /** Turns off the protection of csv cells against formulas. */
  raw?: boolean | undefined;
  banner: string | null;
}

/** The format that a request asks for, with the banner of the installation. */
export const fileChoice = (c: Context, { format, raw }: Pick<FileChoice, 'format' | 'raw'>): FileChoice => ({
  format,
  raw,
  banner: c.get('banner'),
});

/** A file in its format, ready to send. */
export interface RenderedFile {
  format: FileChoice['format'];
  bytes: Uint8Array<ArrayBuffer>;
}

/** Renders a download in one of its formats. */
export function renderFile<T>(
  { format, raw, banner }: FileChoice,
  { json, root, element, columns, rows, wrapped = false }: FlatFile<T>,
): RenderedFile {
  const cells = () => rows.map((row) => columns.map((column) => cellOf(column.value(row))));
  const header = columns.map((column) => column.name);
  const render = {
    json: () => JSON.stringify(json),
    csv: () => toCsv(columns, rows, raw),
    xml: () => markedXml(toXml(root, element, columns, rows), banner),
    xlsx: () => toXlsx({ name: root, header, rows: cells(), wrapped, marking: banner }),
  };
  const made = render[format]();
  return { format, bytes: typeof made === 'string' ? new Uint8Array(Buffer.from(made)) : made };
}

/** Answers a rendered file under a name without its extension. */
export const sendFile = (
  c: Context,
  { format, bytes }: RenderedFile,
  name: string,
  headers?: Record<string, string>,
): Response => download(c, bytes, format, `${name}.${format}`, headers);

/** Renders and answers a download whose rows are few. */
export const downloadFile = <T>(
  c: Context,
  query: Pick<FileChoice, 'format' | 'raw'>,
  name: string,
  file: FlatFile<T>,
): Response => sendFile(c, renderFile(fileChoice(c, query), file), name, file.headers);

/** The name of a file with the filters that narrow it: `rules_severity-high`. Only those with a value count. */
export function narrowedName(name: string, filters: object): string {
  const parts = Object.entries(filters).map(([filter, value]) => {
    const words = (value instanceof Set ? [...value].join(' ') : String(value ?? '')).trim();
    return words === '' ? '' : `_${filter}-${words.replace(/[^\p{L}\p{N}.-]+/gu, '-')}`;
  });
  return name + cut(parts.join(''), longestFilters);
}

/** Characters of the filters in the name of a file. */
const longestFilters = 100;

const cellOf = (value: string | number | boolean | null) =>
  typeof value === 'number' ? value : String(value ?? '');

type FlatType = 'text/csv' | 'application/xml';

/** Whether a request asks a route that also answers json for a file, which is expensive. */
export function asksForFile(c: Context): boolean {
  return (c.req.query('format') ?? 'json').toLowerCase() !== 'json';
}

/** The OpenAPI response of a route that answers json, and a file where a flat format is requested. */
export function jsonOrFile<T extends z.ZodType>(json: T, description: string) {
  const { content, headers } = fileContent(json, ['text/csv']);
  const name = 'Content-Disposition';
  return { description, content, headers: { [name]: { ...headers[name], required: false } } };
}

/** The OpenAPI response of a route that answers a file: as JSON, flat in the given types, and as xlsx. */
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
