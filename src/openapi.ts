import type { OpenAPIHono } from '@hono/zod-openapi';
import { type ErrorCode, statusOf } from './base/errors.ts';
import { packageVersion } from './base/root.ts';
import { ccisBody, pairsBody } from './catalog/crosswalk/schema.ts';
import type { Env } from './http/env.ts';
import {
  type DocumentedOperation,
  type DocumentedResponse,
  type OpenApi,
  referenceName,
  type Schema,
} from './http/openapi-types.ts';
import { headerText, problems } from './http/schema.ts';

/** The OpenAPI 3.1 document of an application's routes. */
export function openApiDocument(app: OpenAPIHono<Env>): OpenApi {
  for (const [name, { words: _, ...scheme }] of Object.entries(credentials))
    app.openAPIRegistry.registerComponent('securitySchemes', name, scheme);
  app.openAPIRegistry.register('CrosswalkPairs', pairsBody);
  app.openAPIRegistry.register('CciLookup', ccisBody);
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Gapstone',
      version: packageVersion,
      description: 'An offline catalog of STIGs, security controls and their crosswalk.',
      license,
      contact: { name: 'The operator of this server' },
    },
    servers: [{ url: '/' }],
  });
  const { schemas } = document.components as unknown as OpenApi['components'];
  const opened = new Set<unknown>();
  for (const operations of Object.values(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(operations as Record<string, DocumentedOperation>)) {
      complete(method, operation);
      describe(operation);
      open(operation.responses, schemas, opened);
    }
  }
  const codes = Object.keys(statusOf) as ErrorCode[];
  const responses = Object.fromEntries(codes.map((code) => [nameOf(code), problem(statusOf[code])]));
  open(responses, schemas, opened);
  return {
    ...document,
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    components: { ...document.components, responses },
  } as unknown as OpenApi;
}

const license = { name: 'MIT', identifier: 'MIT' };
const retryAfter = {
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
  },
};
const etag = { ETag: headerText('Identifies the bytes of the response, for `If-None-Match`.') };

const headersOf: Record<number, Record<string, object>> = {
  401: { 'WWW-Authenticate': headerText('`Bearer`.') },
  405: { Allow: headerText('The methods of this path.') },
  429: retryAfter,
  503: retryAfter,
};

const errorSchema = '#/components/schemas/Error';
const nameOf = (code: ErrorCode) =>
  code.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** An error answer of rule D2.1. */
function problem(status: (typeof statusOf)[ErrorCode]): DocumentedResponse {
  const content = { 'application/json': { schema: { $ref: errorSchema } } };
  return { description: problems[status], ...(headersOf[status] && { headers: headersOf[status] }), content };
}

/**
 * Adds the answers that any route may give: errors from the middleware or the services, and 304 for answers with an
 * entity tag, which every GET has unless it says `no-store`.
 */
function complete(method: string, operation: DocumentedOperation): void {
  const { responses } = operation;
  const done = responses['200'];
  if (method === 'get' && done && !done.headers?.['Cache-Control']) {
    done.headers = { ...etag, ...done.headers };
    responses['304'] = { description: 'Not modified: the caller already has this response.', headers: etag };
  }
  for (const [code, status] of Object.entries(statusOf) as [ErrorCode, (typeof statusOf)[ErrorCode]][]) {
    const declared = responses[status];
    const isOwn = declared && declared.content?.['application/json']?.schema.$ref !== errorSchema;
    if (isOwn && headersOf[status]) declared.headers = headersOf[status];
    if (isOwn) continue;
    if (declared || isPossible(status, method, operation))
      responses[status] = { $ref: `#/components/responses/${nameOf(code)}` };
  }
}

/** Opens the schemas below an answer, at every depth: later versions may add fields. */
function open(value: unknown, schemas: OpenApi['components']['schemas'], seen: Set<unknown>): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  const schema: Schema = value;
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  const name = referenceName(schema);
  for (const each of name === null ? Object.values(schema) : [schemas[name]]) open(each, schemas, seen);
}

/** The security schemes, and what a description calls them. */
const credentials = {
  userToken: {
    words: 'a user token',
    type: 'http' as const,
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'A user token from the identity provider or from `gapstone token issue`.',
  },
  session: {
    words: 'a session',
    type: 'apiKey' as const,
    in: 'cookie' as const,
    name: 'gapstone_session',
    description: 'A session from POST /api/v1/session. Its writes must come from the same origin.',
  },
  integrationToken: {
    words: 'an integration token',
    type: 'http' as const,
    scheme: 'bearer',
    description: 'A token from `gapstone integration-token create`. It can read the lists assigned to it.',
  },
  cronSecret: {
    words: 'the cron secret',
    type: 'http' as const,
    scheme: 'bearer',
    description: 'The secret in GAPSTONE_CRON_SECRET.',
  },
};

/** Says who may call an operation, and what a parameter means whose schema does not say it. */
function describe(operation: DocumentedOperation): void {
  const { security, parameters = [] } = operation;
  const accepted = security.flatMap((each) =>
    Object.entries(each).map(([name, roles]) =>
      [credentials[name as keyof typeof credentials].words, ...roles].join(' with '),
    ),
  );
  const access = accepted.length === 0 ? 'Public.' : `Needs ${accepted.join(' or ')}.`;
  operation.description = [operation.description, access].filter(Boolean).join(' ');
  // Tools read roles as scopes, which only OAuth has.
  operation.security = security.map((each) =>
    Object.fromEntries(Object.keys(each).map((name) => [name, []])),
  );
  for (const each of parameters) each.description ??= parameterWords[each.name]!;
}

/** The errors that any route may answer. */
const anywhere = [400, 405, 408, 431, 500, 503];

function isPossible(status: number, method: string, operation: DocumentedOperation): boolean {
  const access = operation['x-access'];
  if (status === 401) return access !== 'public';
  // A user may lack what the rule requires; a session may write only from pages of this server.
  if (status === 403) return /^user(?! or )/.test(access) || (access === 'session' && method !== 'get');
  // Every method but GET may have a body.
  if (status === 413) return method !== 'get';
  if (status === 429) return !operation['x-unlimited'];
  return anywhere.includes(status);
}

/** The tags of /openapi.json, in the order of its sections. */
const tags: Record<string, string> = {
  Catalog: 'What the catalog holds and where it came from.',
  'STIG catalog': 'STIGs with their releases and findings: find, compare, follow and download them.',
  Checklists: 'Checklists and scan results of the caller: upgrade, make and inspect them. Nothing is stored.',
  References: 'The ids in a text of the caller, and what became of them. Nothing is stored.',
  Controls: 'Security controls of NIST SP 800-53, SP 800-171 and DoDI 8500.2.',
  Crosswalk: 'Paths between the controls of two frameworks, and CCIs.',
  Lists: 'Lists of STIGs.',
  'Control collections': 'Collections of controls.',
  Favorites: 'The STIGs and controls that the caller marked.',
  'Regulatory documents': 'Policies and publications.',
  'Occupational roles': 'Occupations, with the work roles and controls that belong to them.',
  'Role mapping': 'The occupations that a benchmark concerns.',
  Session: 'Signing in and out in a browser.',
  Service: 'Health, metrics, this document and housekeeping.',
  Sample: 'The sample endpoint.',
};

/** What a parameter of this name means wherever its schema says nothing else. */
const parameterWords: Record<string, string> = {
  allowOlder: 'true: the release may be older than that of the given checklist.',
  benchmarkId: 'The number, slug or benchmark id of a STIG. Case is ignored.',
  code: 'The code of the occupation.',
  documentId: 'The id of the document.',
  download: 'true: answer the checklist alone, as a file.',
  explain: 'true: say why there is no path.',
  format: 'The format of the answer. Case is ignored.',
  fqdn: 'The fully qualified domain name of the target of a checklist.',
  framework: 'The key of the framework. Case is ignored.',
  from: 'The key of the framework to start from. Case is ignored.',
  hostName: 'The host name of the target of a checklist.',
  id: 'The id of the list or collection.',
  ipAddress: 'The IP address of the target of a checklist.',
  limit: 'How many a page has at most.',
  macAddress: 'The MAC address of the target of a checklist.',
  onChange: 'What to do with an answer when its check or fix changed: keep it with a warning, or reset it.',
  overwrite: 'true: results replace the answers of the given checklist.',
  page: 'The number of the page, from 1.',
  raw: 'true: csv without the apostrophe before cells that a spreadsheet would take for a formula.',
  role: 'The role of the target of a checklist.',
  search: 'A text that must occur literally. Case is ignored.',
  slug: 'The slug of the STIG, a former slug or its benchmark id.',
  stigSlug: 'The slug of the STIG in the list.',
  to: 'The key of the framework to end in. Case is ignored.',
  version: 'A version of the framework. By default the newest.',
};
