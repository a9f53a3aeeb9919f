import type { Access } from '../../http/access.ts';
import { createRoutes } from '../../http/routes.ts';
import { jsonContent } from '../../http/schema.ts';
import type { StigDiffService } from './diff.ts';
import { diffQuery, StigDiff } from './diff-schema.ts';
import { slugParam } from './schema.ts';

/** What changed between two releases of a STIG. */
export function stigDiffRoutes(access: Access, diffs: StigDiffService) {
  const { app, route } = createRoutes('STIG catalog');

  route('GET /api/v1/stigs/{slug}/diff', access.user, {
    operationId: 'getStigDiff',
    summary: 'List the rules added, removed and changed between two retained releases',
    params: slugParam,
    query: diffQuery,
    response: jsonContent(StigDiff, 'What changed.'),
    handle: ({ params, query }) => diffs.diff(params.slug, query),
  });

  return app;
}
