import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import type { Access } from '../../http/access.ts';
import { answer } from '../../http/answer.ts';
import type { Env } from '../../http/env.ts';
import { errors, jsonContent } from '../../http/schema.ts';
import type { ControlRulesService } from './control-rules.ts';
import * as schemas from './control-rules-schema.ts';

/** From a control to the rules of STIGs (additive). */
export function controlRulesRoutes(access: Access, service: ControlRulesService): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/control-rules/{framework}/{controlId}',
      operationId: 'listControlRules',
      summary: 'The rules of current releases that a control reaches through CCIs, by STIG',
      description:
        'Each rule once, with its shortest paths over the crosswalk. A base control does not stand for its ' +
        'enhancements. Pages count rules; STIGs come by title, rules in document order.',
      tags: ['Controls'],
      ...access.user,
      request: { params: schemas.controlRulesParam, query: schemas.controlRulesQuery },
      responses: {
        200: jsonContent(schemas.ControlRules, 'A page of rules.'),
        ...errors(400, 401, 403, 404),
      },
    }),
    (c) => answer(c, service.rules({ ...c.req.valid('param'), ...c.req.valid('query') })),
  );

  return app;
}
