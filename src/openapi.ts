import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Env } from './env.ts';
import { packageVersion } from './root.ts';
import { ccisBody, pairsBody } from './schemas/crosswalk.ts';

/** The OpenAPI 3.1 document of an application's routes, as JSON text. */
export function openApiDocument(app: OpenAPIHono<Env>): string {
  app.openAPIRegistry.registerComponent('securitySchemes', 'userToken', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'A user token of the identity provider, or of `gapstone token issue`.',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'session', {
    type: 'apiKey',
    in: 'cookie',
    name: 'gapstone_session',
    description: 'A session of POST /api/v1/session. Its writes must come from the same origin.',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'integrationToken', {
    type: 'http',
    scheme: 'bearer',
    description: 'A token of `gapstone integration-token create`: it sees the lists assigned to it.',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'cronSecret', {
    type: 'http',
    scheme: 'bearer',
    description: 'The secret of GAPSTONE_CRON_SECRET.',
  });
  app.openAPIRegistry.register('CrosswalkPairs', pairsBody);
  app.openAPIRegistry.register('CciLookup', ccisBody);
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Gapstone',
      version: packageVersion,
      description: 'An offline catalog of STIGs, security controls and their crosswalk.',
      license: { name: 'MIT' },
    },
    servers: [{ url: '/' }],
  });
  for (const [path, operations] of Object.entries(document.paths ?? {})) {
    // Health is never limited, and the sample endpoint has errors of its own.
    if (!path.startsWith('/api/')) continue;
    for (const operation of Object.values(operations as Record<string, Operation>)) {
      operation.responses['429'] ??= problem(
        'The caller came too often; `Retry-After` says when to come again.',
      );
      operation.responses['503'] ??= problem('The service is busy; `Retry-After` says when to come again.');
    }
  }
  return JSON.stringify(document);
}

interface Operation {
  responses: Record<string, object>;
}

/** What any route may answer under load, whatever it declares. */
function problem(description: string): object {
  const schema = { $ref: '#/components/schemas/Error' };
  return { description, content: { 'application/json': { schema } } };
}
