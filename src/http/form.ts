import type { Context } from 'hono';
import { badRequest } from '../base/errors.ts';
import type { Env, Form } from './env.ts';

/** Takes a body for the form that a page sends. Anything else is a 400. */
export async function takeForm(c: Context<Env>, bytes: Uint8Array): Promise<void> {
  c.set('form', await readForm(bytes, c.req.header('Content-Type') ?? ''));
}

/** Reads the body of a form by its Content-Type: URL-encoded, or in parts where it holds a file. Anything else is a 400. */
export async function readForm(bytes: Uint8Array, type: string): Promise<Form> {
  return /^multipart\/form-data\b/i.test(type) ? await readParts(bytes, type) : readFields(bytes, type);
}

function readFields(bytes: Uint8Array, type: string): Form {
  if (bytes.length > 0 && !/^application\/x-www-form-urlencoded\b/i.test(type)) {
    throw badRequest('The request body is not a form');
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // URLSearchParams would replace what does not decode.
    decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw badRequest('The request body is not valid UTF-8');
  }
  const fields = new URLSearchParams(text);
  return {
    get: (name) => fields.get(name) ?? '',
    all: (name) => fields.getAll(name),
    texts: () => [...fields],
    files: () => [],
  };
}

async function readParts(bytes: Uint8Array, type: string): Promise<Form> {
  let parts: FormData;
  try {
    parts = await new Response(bytes, { headers: { 'Content-Type': type } }).formData();
  } catch {
    throw badRequest('The request body is not a form');
  }
  const texts = (name: string) => parts.getAll(name).filter((value) => typeof value === 'string');
  const files: { field: string; name: string; bytes: Uint8Array }[] = [];
  for (const [field, value] of parts) {
    if (typeof value !== 'string' && value.name !== '')
      files.push({ field, name: value.name, bytes: new Uint8Array(await value.arrayBuffer()) });
  }
  return {
    get: (name) => texts(name)[0] ?? '',
    all: texts,
    texts: () => [...parts].filter((part): part is [string, string] => typeof part[1] === 'string'),
    files: (name) => files.filter(({ field }) => field === name),
  };
}
