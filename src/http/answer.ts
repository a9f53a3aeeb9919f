import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { JsonText } from '../base/json.ts';
import { namesTag } from './coding.ts';
import type { Env } from './env.ts';

/** Headers of every answer that needs a token: shared caches keep out, private ones ask again (threat K1). */
export const privateHeaders = {
  'Cache-Control': 'private, no-cache',
  Vary: 'Authorization, Cookie, Accept-Encoding',
};

/** Headers of every public catalog answer. */
export const publicHeaders = { 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' };

/** Answers JSON: a value, or what was made of one elsewhere, as text at import or as bytes in a thread. */
export function answer(
  c: Context,
  value: object | JsonText<unknown> | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
  status?: ContentfulStatusCode,
): Response {
  const made = typeof value === 'string' || value instanceof Uint8Array ? value : JSON.stringify(value);
  return send(c, made, { 'Content-Type': 'application/json', ...headers }, status);
}

/** The types of files (rule D5.5). */
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
 * Answers a file: the format's content type, an ASCII name with the RFC 5987 form beside it (D5.5), an ETag. Under a
 * classification banner it is marked (rule S3.4): in a header, in the file's name, and where the format has a
 * place that no reader minds, which is a comment of xml. Without one the bytes are those of D5.1.
 */
export function download(
  c: Context,
  body: string | Uint8Array<ArrayBuffer>,
  format: FileType,
  fileName: string,
  headers: Record<string, string> = privateHeaders,
): Response {
  const banner = c.get('banner') as string | null;
  const marked = banner !== null && format === 'xml' ? commented(body as string, banner) : body;
  return send(c, marked, {
    'Content-Type': fileTypes[format],
    ...fileHeaders(banner, fileName),
    ...headers,
  });
}

/** A file that is made while it is sent: its bytes, and those of the memory that it holds until then. */
export interface StreamedFile {
  bytes: number;
  held: number;
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** Answers such a file. It has no ETag: nobody has all of it before it is sent. */
export function downloadStream(
  c: Context<Env>,
  { bytes, held, stream }: StreamedFile,
  format: FileType,
  fileName: string,
  headers: Record<string, string> = privateHeaders,
): Response {
  c.set('held', held);
  return c.body(stream(), 200, {
    'Content-Type': fileTypes[format],
    'Content-Length': String(bytes),
    ...fileHeaders(c.get('banner'), fileName),
    ...headers,
  });
}

/** The headers that name a file and its classification. */
export function fileHeaders(banner: string | null, fileName: string): Record<string, string> {
  if (banner === null) return { 'Content-Disposition': contentDisposition(fileName) };
  const mark = banner
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_|_$/g, '')
    .slice(0, 60);
  return {
    'Content-Disposition': contentDisposition(`${mark}__${fileName}`),
    // A header holds ASCII: what is beyond it is percent-encoded, as is the sign of that.
    'X-Classification': banner.replace(/[^\x20-\x24\x26-\x7e]/gu, (each) => encodeURIComponent(each)),
  };
}

/** An xml document with a comment behind its declaration; two hyphens would end the comment. */
function commented(xml: string, text: string): string {
  const comment = `<!-- ${text.replace(/-(?=-)/g, '- ')}${text.endsWith('-') ? ' ' : ''} -->`;
  return xml.replace('\n', () => `\n${comment}\n`);
}

const maxNameLength = 150;

/**
 * `attachment` with a plain ASCII name, a long one cut before its extension, and the exact one in RFC 5987 form. What would
 * lead to another folder, hide the file or be a formula is `_` in both (rule D34.6).
 */
export function contentDisposition(fileName: string): string {
  const name = fileName.replace(/[/\\:\p{Cc}]|^[.=]/gu, '_');
  const plain = fileName.replace(/[^A-Za-z0-9._-]+/g, '_').replace(/^\./, '_');
  const extension = /\.[A-Za-z0-9]{1,16}$/.exec(plain)?.[0] ?? '';
  const stem = plain.slice(0, plain.length - extension.length);
  const ascii = `${stem.slice(0, maxNameLength - extension.length)}${extension}`;
  const exact = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${exact}`;
}

/** Sends bytes; those of a GET with an ETag, by which the caller gets a 304 when it has them already. */
function send(
  c: Context,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
  status: ContentfulStatusCode = 200,
): Response {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  // Said here, so that logs and limits know it before the answer is on its way.
  const length = { 'Content-Length': String(bytes.byteLength) };
  // What a POST answers is nothing that a caller could hold already.
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD')
    return c.body(bytes, status, { ...headers, ...length });
  const tag = createHash('sha256').update(bytes).digest('base64url').slice(0, 27);
  return c.body(bytes, status, { ...headers, ETag: `"${tag}"`, ...length });
}

/** Makes a 304 of an answer that the caller has already, as `If-None-Match` says. */
export function notModified(c: Context): void {
  const known = c.req.header('If-None-Match');
  const tag = known === undefined || c.res.status !== 200 ? null : c.res.headers.get('ETag');
  if (tag === null || !namesTag(known, tag.slice(1, -1))) return;
  const dropped = ['content-type', 'content-disposition', 'content-length'];
  const headers = [...c.res.headers].filter(([name]) => !dropped.includes(name));
  c.res = undefined;
  c.res = c.body(null, 304, Object.fromEntries(headers));
}
