import type { Access } from '../../http/access.ts';
import type { FilterLists } from '../../http/list-filter.ts';
import { createRoutes } from '../../http/route.ts';
import { jsonContent } from '../../http/schema.ts';
import { isDeep } from './api.ts';
import type { ControlRulesService } from './control-rules.ts';
import * as schemas from './control-rules-schema.ts';

/** From a control to the rules of STIGs (additive). */
export function controlRulesRoutes(access: Access, service: ControlRulesService, lists: FilterLists) {
  const { app, route } = createRoutes('Controls');

  const searching = access.with({ expensive: (c) => isDeep(c.req.query('maxHops')) });
  route('GET /api/v1/control-rules/{framework}/{controlId}', searching.user, {
    operationId: 'listControlRules',
    summary: 'List the rules of current releases that are mapped to a control through CCIs, by STIG',
    description:
      'Each rule is listed once, with its shortest paths through the crosswalk. A base control does not include its ' +
      'enhancements. Pages count rules. STIGs are sorted by title, rules by document order.',
    params: schemas.controlRulesParam,
    query: schemas.controlRulesQuery,
    response: jsonContent(schemas.ControlRules, 'A page of rules.'),
    handle: ({ user, params, query: { list, ...query } }) => {
      if (list === undefined) return service.rules({ ...params, ...query });
      const found = service.rules({ ...params, ...query, among: lists.slugs(user, list, 'list') });
      return { ...found, pinned: lists.pinned(user, list, 'list') };
    },
  });

  return app;
}
