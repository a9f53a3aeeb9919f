import type { OpenAPIHono } from '@hono/zod-openapi';
import { type ErrorCode, statusOf } from './base/errors.ts';
import { packageVersion } from './base/root.ts';
import { ccisBody, pairsBody } from './catalog/crosswalk/schema.ts';
import type { Env } from './http/env.ts';
import type { OpenApi } from './http/openapi-types.ts';
import { headerText, problems } from './http/schema.ts';

/** The OpenAPI 3.1 document of an application's routes. */
export function openApiDocument(app: OpenAPIHono<Env>): OpenApi {
  app.openAPIRegistry.registerComponent('securitySchemes', 'userToken', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'A user token from the identity provider or from `gapstone token issue`.',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: 'gapstone_session',
    description: 'A session from POST /api/v1/session. Its writes must come from the same origin.',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'integrationToken', {
    type: 'http',
    scheme: 'bearer',
    description: 'A token from `gapstone integration-token create`. It can read the lists assigned to it.',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'cronSecret', {
    type: 'http',
    scheme: 'bearer',
    description: 'The secret in GAPSTONE_CRON_SECRET.',
  });
  app.openAPIRegistry.register('CrosswalkPairs', pairsBody);
  app.openAPIRegistry.register('CciLookup', ccisBody);
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Gapstone',
      version: packageVersion,
      description: 'An offline catalog of STIGs, security controls and their crosswalk.',
      license,
    },
    servers: [{ url: '/' }],
  });
  for (const operations of Object.values(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(operations as Record<string, Operation>))
      complete(method, operation);
  }
  const codes = Object.keys(statusOf) as ErrorCode[];
  const responses = Object.fromEntries(codes.map((code) => [nameOf(code), problem(statusOf[code])]));
  return { ...document, components: { ...document.components, responses } } as unknown as OpenApi;
}

interface Operation {
  responses: Record<string, Response>;
  'x-access': string;
  'x-unlimited'?: boolean;
}

interface Response {
  $ref?: string;
  description?: string;
  headers?: Record<string, object>;
  content?: Record<string, { schema: { $ref?: string } }>;
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
function problem(status: (typeof statusOf)[ErrorCode]): Response {
  const content = { 'application/json': { schema: { $ref: errorSchema } } };
  return { description: problems[status], ...(headersOf[status] && { headers: headersOf[status] }), content };
}

/**
 * Adds the answers that any route may give: errors from the middleware or the services, and 304 for answers with an
 * entity tag, which every GET has unless it says `no-store`.
 */
function complete(method: string, operation: Operation): void {
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

function isPossible(status: number, method: string, operation: Operation): boolean {
  switch (status) {
    case 400:
    case 405:
    case 408:
    case 431:
    case 500:
    case 503:
      return true;
    case 401:
      return operation['x-access'] !== 'public';
    case 403:
      // A user may lack what the rule requires; a session may write only from pages of this server.
      return (
        /^user(?! or )/.test(operation['x-access']) ||
        (operation['x-access'] === 'session' && method !== 'get')
      );
    case 413:
      // Every other method may have a body.
      return method !== 'get';
    case 429:
      return !operation['x-unlimited'];
    default:
      return false;
  }
}
