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
      summary: 'List the rules of current releases that are mapped to a control through CCIs, by STIG',
      description:
        'Each rule is listed once, with its shortest paths through the crosswalk. A base control does not include its ' +
        'enhancements. Pages count rules. STIGs are sorted by title, rules by document order.',
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
