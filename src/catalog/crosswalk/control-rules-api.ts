import type { Access } from '../../http/access.ts';
import { createRoutes } from '../../http/routes.ts';
import { jsonContent } from '../../http/schema.ts';
import type { ControlRulesService } from './control-rules.ts';
import * as schemas from './control-rules-schema.ts';

/** From a control to the rules of STIGs (additive). */
export function controlRulesRoutes(access: Access, service: ControlRulesService) {
  const { app, route } = createRoutes('Controls');

  route('GET /api/v1/control-rules/{framework}/{controlId}', access.user, {
    operationId: 'listControlRules',
    summary: 'The rules of current releases that a control reaches through CCIs, by STIG',
    description:
      'Each rule once, with its shortest paths over the crosswalk. A base control does not stand for its ' +
      'enhancements. Pages count rules; STIGs come by title, rules in document order.',
    params: schemas.controlRulesParam,
    query: schemas.controlRulesQuery,
    response: jsonContent(schemas.ControlRules, 'A page of rules.'),
    handle: ({ params, query }) => service.rules({ ...params, ...query }),
  });

  return app;
}
