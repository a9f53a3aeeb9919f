import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { JsonText } from '../base/json.ts';
import { headersUnchanged, namesTag } from './coding.ts';
import type { Env } from './env.ts';

/** Headers of an answer that needs a token: no shared cache stores it, private caches revalidate it (threat K1). */
export const privateHeaders = {
  'Cache-Control': 'private, no-cache',
  Vary: 'Authorization, Cookie, Accept-Encoding',
};

/** Headers of every public catalog answer. */
export const publicHeaders = { 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' };

/** Answers JSON: a value, or JSON that is text already, or bytes that a worker made. */
export function answer(
  c: Context,
  value: object | JsonText<unknown> | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
  status?: ContentfulStatusCode,
): Response {
  const made = typeof value === 'string' || value instanceof Uint8Array ? value : JSON.stringify(value);
  return send(c, made, { 'Content-Type': 'application/json', ...headers }, status);
}

/** JSON that a worker made, with the hash of its bytes. */
export interface MadeJson {
  bytes: Uint8Array<ArrayBuffer>;
  hash: string;
}

export function madeJson(text: string): MadeJson {
  const bytes = new TextEncoder().encode(text);
  return { bytes, hash: hashOf(bytes) };
}

export const answerMade = (c: Context, { bytes, hash }: MadeJson, headers = privateHeaders): Response =>
  send(c, bytes, { 'Content-Type': 'application/json', ...headers }, 200, hash);

const hashOf = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('base64url').slice(0, 27);

/** Content types of downloads (rule D5.5). */
export const fileTypes = {
  json: 'application/json',
  oscal: 'application/json',
  cklb: 'application/json',
  csv: 'text/csv; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
  ckl: 'application/xml; charset=utf-8',
  html: 'text/html; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  zip: 'application/zip',
};
export type FileType = keyof typeof fileTypes;

/**
 * Answers a file: the format's content type, an ASCII name with the RFC 5987 form beside it (D5.5), an ETag. A
 * classification banner marks it in a header and in the file name (rule S3.4). Without one the bytes are those of D5.1.
 */
export function download(
  c: Context,
  body: string | Uint8Array<ArrayBuffer>,
  format: FileType,
  fileName: string,
  headers: Record<string, string> = privateHeaders,
): Response {
  return send(c, body, {
    'Content-Type': fileTypes[format],
    ...fileHeaders(c.get('banner'), fileName),
    ...headers,
  });
}

/** A file produced while it is sent, and the bytes of memory that it holds until then. */
interface StreamedFile {
  held: number;
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** Answers a streamed file. It has no ETag: its bytes are not known before they are sent. */
export function downloadStream(
  c: Context<Env>,
  { held, stream }: StreamedFile,
  format: FileType,
  fileName: string,
  headers: Record<string, string> = privateHeaders,
): Response {
  c.set('held', held);
  return c.body(stream(), 200, {
    'Content-Type': fileTypes[format],
    ...fileHeaders(c.get('banner'), fileName),
    ...headers,
  });
}

export function fileHeaders(banner: string | null, fileName: string): Record<string, string> {
  if (banner === null) return { 'Content-Disposition': contentDisposition(fileName) };
  const mark = banner
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_|_$/g, '')
    .slice(0, 60);
  return {
    'Content-Disposition': contentDisposition(`${mark}__${fileName}`),
    // A header holds ASCII only. `%` is encoded too, so that the value can be decoded.
    'X-Classification': banner.replace(/[^\x20-\x24\x26-\x7e]/gu, (each) => encodeURIComponent(each)),
  };
}

/** XML with a classification banner in a comment, which every reader ignores (rule S3.4). */
export function markedXml(xml: string, banner: string | null): string {
  if (banner === null) return xml;
  // Two hyphens would end the comment.
  const comment = `<!-- ${banner.replace(/-(?=-)/g, '- ')}${banner.endsWith('-') ? ' ' : ''} -->`;
  return xml.replace('\n', () => `\n${comment}\n`);
}

/**
 * `attachment` with a plain ASCII name and the exact name in RFC 5987 form. Characters that would change the folder,
 * hide the file or begin a formula become `_` in both (rule D34.6).
 */
export function contentDisposition(fileName: string): string {
  const name = fileName.replace(/[/\\:\p{Cc}]|^[.=]/gu, '_');
  const ascii = fileName.replace(/[^A-Za-z0-9._-]+/g, '_').replace(/^\./, '_');
  const exact = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${exact}`;
}

function send(
  c: Context,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
  status: ContentfulStatusCode = 200,
  known?: string,
): Response {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  // Set here: logs and limits need it before the answer is sent.
  const all: Record<string, string> = { ...headers, 'Content-Length': String(bytes.byteLength) };
  const revision = c.get('revision') as number | undefined;
  // Answers to other methods are not cached: only that of a new list or collection has a tag, for `If-Match`.
  if (revision !== undefined || c.req.method === 'GET' || c.req.method === 'HEAD') {
    const hash = known ?? hashOf(bytes);
    all.ETag = `"${revision === undefined ? hash : `${revision}-${hash}`}"`;
    c.set('bytes', bytes);
  }
  return c.body(bytes, status, all);
}

/** Replaces the answer by a 304 where `If-None-Match` names its ETag. */
export function notModified(c: Context): void {
  const known = c.req.header('If-None-Match');
  const tag = known === undefined || c.res.status !== 200 ? null : c.res.headers.get('ETag');
  if (tag === null || !namesTag(known, tag)) return;
  const headers = headersUnchanged(Object.fromEntries(c.res.headers));
  c.res = undefined;
  c.res = c.body(null, 304, headers);
}
