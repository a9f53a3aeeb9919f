import type { Access } from '../../http/access.ts';
import { createRoutes } from '../../http/route.ts';
import { jsonContent } from '../../http/schema.ts';
import type { RuleHistoryService } from './history.ts';
import { RuleHistory, ruleIdParam } from './history-schema.ts';

/** Rules through the releases of their STIGs (rule D27). */
export function ruleHistoryRoutes(access: Access, histories: RuleHistoryService) {
  const { app, route } = createRoutes('STIG catalog');

  route('GET /api/v1/rules/{id}', access.user, {
    operationId: 'getRuleHistory',
    summary: 'Follow a rule through all retained releases',
    params: ruleIdParam,
    response: jsonContent(RuleHistory, 'The rule in each STIG that has it.'),
    handle: ({ params }) => histories.history(params.id),
  });

  return app;
}
