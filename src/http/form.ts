import type { Context } from 'hono';
import { badRequest } from '../base/errors.ts';
import type { Env, Form } from './env.ts';

/** The most fields and files of a form (rule D2.6): no page of Gapstone sends more than some two hundred. */
export const mostFields = 1000;

const mostPartHeaders = 16 * 1024;

/** Reads the body as a form and sets `form`. Throws 400 for anything else. */
export async function takeForm(c: Context<Env>, bytes: Uint8Array): Promise<void> {
  c.set('form', await readForm(bytes, c.req.header('Content-Type') ?? ''));
}

/** Reads a URL-encoded or multipart form in linear time. Throws 400 for anything else and for too many fields. */
export async function readForm(bytes: Uint8Array, type: string): Promise<Form> {
  return /^multipart\/form-data\b/i.test(type) ? await readParts(bytes, type) : readFields(bytes, type);
}

function readFields(bytes: Uint8Array, type: string): Form {
  if (bytes.length > 0 && !/^application\/x-www-form-urlencoded\b/i.test(type)) throw notAForm();
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw notUtf8();
  }
  const fields = parseFields(text);
  return formOf(fields, []);
}

/**
 * The fields of a URL-encoded text in order. `URLSearchParams` takes quadratic time for many fields, and replaces
 * invalid encodings. Throws 400 for invalid UTF-8 and for too many fields.
 */
export function parseFields(text: string): [name: string, value: string][] {
  const pieces = text.split('&', mostFields + 1);
  if (pieces.length > mostFields) throw tooManyFields();
  return pieces
    .filter((piece) => piece !== '')
    .map((piece) => {
      const equals = piece.indexOf('=');
      return equals < 0
        ? [decoded(piece), '']
        : [decoded(piece.slice(0, equals)), decoded(piece.slice(equals + 1))];
    });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw notUtf8();
  }
}

async function readParts(bytes: Uint8Array, type: string): Promise<Form> {
  const [, quoted, plain] =
    /;\s*boundary=(?:"([\w'()+,./:=? -]{1,70})"|([\w'+.-]{1,70}))\s*(?:;|$)/i.exec(type) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw notAForm();
  checkParts(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), `--${boundary}`);
  let parts: FormData;
  try {
    // The boundary that was counted, even where the header names two.
    const headers = { 'Content-Type': `multipart/form-data; boundary="${boundary}"` };
    parts = await new Response(bytes as Uint8Array<ArrayBuffer>, { headers }).formData();
  } catch {
    throw notAForm();
  }
  const fields: [string, string][] = [];
  const files: NamedFile[] = [];
  for (const [field, value] of parts) {
    if (typeof value === 'string') fields.push([field, value]);
    else if (value.name !== '')
      files.push({ field, name: value.name, bytes: new Uint8Array(await value.arrayBuffer()) });
  }
  return formOf(fields, files);
}

/** Counts the parts and the bytes of their headers before the parser runs. Throws 400 for too many. */
function checkParts(bytes: Buffer, delimiter: string): void {
  let parts = 0;
  for (let at = bytes.indexOf(delimiter); at >= 0; at = bytes.indexOf(delimiter, at + delimiter.length)) {
    const head = bytes.subarray(at + delimiter.length, at + delimiter.length + mostPartHeaders);
    if (head.length === mostPartHeaders && head.indexOf('\r\n\r\n') < 0)
      throw badRequest(`A part of the form has more than ${mostPartHeaders} bytes of headers`);
    // The last delimiter ends the form.
    if (parts++ > mostFields) throw tooManyFields();
  }
}

interface NamedFile {
  field: string;
  name: string;
  bytes: Uint8Array;
}

function formOf(fields: [name: string, value: string][], files: NamedFile[]): Form {
  const all = (name: string) => fields.flatMap(([field, value]) => (field === name ? [value] : []));
  return {
    get: (name) => all(name)[0] ?? '',
    all,
    texts: () => fields,
    files: (name) => files.filter(({ field }) => field === name),
  };
}

const notAForm = () => badRequest('The request body is not a form');
const notUtf8 = () => badRequest('The request body is not valid UTF-8');
const tooManyFields = () => badRequest(`The form has more than ${mostFields} fields`);
