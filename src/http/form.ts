import { badRequest } from '../base/errors.ts';
import { utf8Body } from '../base/json.ts';
import type { Form } from './env.ts';

/** The most fields and files of a form (rule D2.6): no page of Gapstone sends more than some two hundred. */
export const mostFields = 1000;

const mostPartHeaders = 16 * 1024;

/** Reads a URL-encoded or multipart form in linear time. Throws 400 for anything else and for too many fields. */
export async function readForm(bytes: Uint8Array, type: string): Promise<Form> {
  const fields: [name: string, value: string][] = [];
  const files: { field: string; name: string; bytes: Uint8Array }[] = [];
  if (/^multipart\/form-data\b/i.test(type)) {
    for (const [field, value] of await readParts(bytes, type)) {
      if (typeof value === 'string') fields.push([field, value]);
      else if (value.name !== '')
        files.push({ field, name: value.name, bytes: new Uint8Array(await value.arrayBuffer()) });
    }
  } else if (bytes.length > 0) {
    if (!/^application\/x-www-form-urlencoded\b/i.test(type)) throw notAForm();
    fields.push(...parseFields(utf8Body(bytes)));
  }
  const all = (name: string) => fields.flatMap(([field, value]) => (field === name ? [value] : []));
  return {
    get: (name) => all(name)[0] ?? '',
    all,
    texts: () => fields,
    files: (name) => files.filter(({ field }) => field === name),
  };
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
      const [name, ...value] = piece.split('=');
      return [decoded(name!), decoded(value.join('='))];
    });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw badRequest('The request body is not valid UTF-8');
  }
}

async function readParts(bytes: Uint8Array, type: string): Promise<FormData> {
  const [, quoted, plain] =
    /;\s*boundary=(?:"([\w'()+,./:=? -]{1,70})"|([\w'+.-]{1,70}))\s*(?:;|$)/i.exec(type) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw notAForm();
  checkParts(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), `--${boundary}`);
  // The boundary that was counted, even where the header names two.
  const headers = { 'Content-Type': `multipart/form-data; boundary="${boundary}"` };
  return new Response(bytes as Uint8Array<ArrayBuffer>, { headers }).formData().catch(() => {
    throw notAForm();
  });
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

const notAForm = () => badRequest('The request body is not a form');
const tooManyFields = () => badRequest(`The form has more than ${mostFields} fields`);
