import type { MiddlewareHandler } from 'hono';
import type { Env, Form } from './env.ts';
import { badRequest } from './errors.ts';
import { readAtMost } from './middleware.ts';

/** Reads the form that a page sends: URL-encoded, or in parts where it holds a file. Anything else is a 400. */
export function formBodies(maxBytes: number): MiddlewareHandler<Env> {
  return async (c, next) => {
    const { raw } = c.req;
    if (raw.method !== 'POST') return next();
    const bytes = raw.body === null ? new Uint8Array() : await readAtMost(raw.body, maxBytes);
    const type = raw.headers.get('Content-Type') ?? '';
    const inParts = /^multipart\/form-data\b/i.test(type);
    c.set('form', inParts ? await readParts(bytes, type) : readFields(bytes, type));
    return next();
  };
}

function readFields(bytes: Uint8Array, type: string): Form {
  if (bytes.length > 0 && !/^application\/x-www-form-urlencoded\b/i.test(type)) {
    throw badRequest('The request body is no form');
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
    file: () => null,
  };
}

async function readParts(bytes: Uint8Array, type: string): Promise<Form> {
  let parts: FormData;
  try {
    parts = await new Response(bytes, { headers: { 'Content-Type': type } }).formData();
  } catch {
    throw badRequest('The request body is no form');
  }
  const texts = (name: string) => parts.getAll(name).filter((value) => typeof value === 'string');
  const files = new Map<string, { name: string; bytes: Uint8Array }>();
  for (const [name, value] of parts) {
    if (typeof value !== 'string' && value.name !== '' && !files.has(name))
      files.set(name, { name: value.name, bytes: new Uint8Array(await value.arrayBuffer()) });
  }
  return {
    get: (name) => texts(name)[0] ?? '',
    all: texts,
    file: (name) => files.get(name) ?? null,
  };
}
