import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { createApp } from '../../src/app/app.ts';
import { openCatalog } from '../../src/db/database.ts';
import { testContext } from './context.ts';
import { isPage } from './pages.ts';
import { recorded } from './recorded.ts';
import type { Seen } from './watched.ts';

// /openapi.json as it is published, and a validator that knows nothing of the schemas that it was generated from.

/** What `/openapi.json` says, as far as answers are concerned. */
export interface Published {
  paths: Record<string, Record<string, { responses: Record<string, PublishedResponse> }>>;
  components: { schemas: Record<string, object>; responses: Record<string, PublishedResponse> };
}

interface PublishedResponse {
  $ref?: string;
  headers?: Record<string, { required?: boolean; schema: object }>;
  content?: Record<string, { schema: object }>;
}

/** What a site may switch off; then it is not there. */
const mayBeOff = ['/plants', '/metrics'];

/** Headers that mean something to a client, and so are declared wherever they are sent. */
const telling = ['ETag', 'Retry-After', 'WWW-Authenticate', 'Allow', 'Content-Disposition', 'Set-Cookie'];

/** The document of an application with every endpoint that there is. */
export async function publishedDocument(): Promise<Published> {
  const db = openCatalog(':memory:', { create: true });
  const context = testContext(db, { metrics: async () => '' });
  const app = recorded(createApp(context), context.observer);
  const document = await (await app.request('/openapi.json')).json();
  db.close();
  return document as Published;
}

/** A validator of JSON Schema 2020-12 as strict as it can be, with the document's schemas by their names. */
export function schemasOf(document: Published): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    strictTuples: true,
    allowUnionTypes: true,
    // Says the same of an integer that JSON.parse does.
    formats: { int32: true, int64: true },
  });
  formats.default(ajv);
  ajv.addKeyword('example');
  for (const [name, schema] of Object.entries(document.components.schemas))
    ajv.addSchema(rebased(schema) as object, name);
  return ajv;
}

/** The document with schemas that allow no undeclared field: clients must bear one, and this version sends none. */
function closed<T>(value: T): T {
  if (Array.isArray(value)) return value.map(closed) as T;
  if (typeof value !== 'object' || value === null) return value;
  const own = 'properties' in value && !('additionalProperties' in value);
  const entries = Object.entries(value).map(([key, each]) => [key, closed(each)]);
  return { ...Object.fromEntries(entries), ...(own && { additionalProperties: false }) };
}

/** Makes the function that says what is wrong with an answer, or null. */
export function createCheck(published: Published) {
  const document = closed(published);
  const ajv = schemasOf(document);
  const compiled = new Map<object, ValidateFunction>();

  function problemWith(schema: object, value: unknown): string | null {
    const validate = compiled.get(schema) ?? ajv.compile(rebased(schema) as object);
    compiled.set(schema, validate);
    return validate(value) ? null : ajv.errorsText(validate.errors).slice(0, 1500);
  }

  function headerProblem(response: PublishedResponse, { headers }: Seen): string | null {
    for (const [name, { required, schema }] of Object.entries(response.headers ?? {})) {
      const value = headers.get(name);
      if (value === null && required) return `it has no ${name}`;
      const isNumber = (schema as { type?: string }).type === 'integer';
      const problem = value === null ? null : problemWith(schema, isNumber ? Number(value) : value);
      if (problem !== null) return `${name}: ${problem}`;
    }
    const other = telling.find((name) => headers.has(name) && !(name in (response.headers ?? {})));
    return other === undefined ? null : `its ${other} is not declared`;
  }

  function bodyProblem({ content }: PublishedResponse, { method, headers, body }: Seen): string | null {
    const type = (headers.get('Content-Type') ?? '').split(';')[0]!;
    if (content === undefined) return body ? `it has a body: ${body.slice(0, 200)}` : null;
    const declared = content[type];
    if (declared === undefined) return `its content type is "${type}"`;
    if (method === 'HEAD' || body === null || headers.has('Content-Encoding')) return null;
    let value: unknown = body;
    try {
      if (type === 'application/json') value = JSON.parse(body);
    } catch (error) {
      return `its body is no JSON: ${(error as Error).message}`;
    }
    return problemWith(declared.schema, value);
  }

  const problem = document.components.responses.NotFound!;
  const templates = Object.keys(document.paths)
    .map((path) => ({
      path,
      pattern: new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]*\}/g, '[^/]+')}$`),
    }))
    // What is written out goes before what a parameter takes.
    .sort((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')));

  return (seen: Seen): string | null => {
    const { method, status } = seen;
    // Who may read answers across origins is no part of the document.
    if (method === 'OPTIONS' && status === 204) return null;
    const path = pathOf(seen.target);
    const operations = templates
      .filter(({ pattern }) => pattern.test(path))
      .map((template) => document.paths[template.path]!);
    const named = method === 'HEAD' ? 'get' : method.toLowerCase();
    const operation = operations.map((each) => each[named]).find((each) => each !== undefined);
    if (operations.length === 0) {
      // The Model Context Protocol describes itself (rule D41.1).
      if (isPage(path) || path === '/mcp') return null;
      return status < 400 ? 'there is no such path' : bodyProblem(problem, seen);
    }
    // What another method is told is declared beside each that there is.
    const { responses } = operation ?? Object.values(operations[0]!)[0]!;
    const isOff = status === 404 && mayBeOff.includes(path);
    const declared = isOff ? problem : responses[status];
    if (declared === undefined) return `the status is not declared: ${seen.body?.slice(0, 300)}`;
    const response = declared.$ref
      ? document.components.responses[declared.$ref.split('/').at(-1)!]!
      : declared;
    return headerProblem(response, seen) ?? bodyProblem(response, seen);
  };
}

/** A schema of the document, its references by the name of the component alone. */
export function rebased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rebased);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      key === '$ref' && typeof each === 'string' ? each.replace('#/components/schemas/', '') : rebased(each),
    ]),
  );
}

/** The path of a target, as a template of the document is compared with it. */
export function pathOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/, '').split(/[?#]/)[0]!;
  try {
    // A slash that is encoded belongs to its segment.
    return decodeURI(path);
  } catch {
    return path;
  }
}
