import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import type { Access } from '../../http/access.ts';
import { answer } from '../../http/answer.ts';
import type { Env } from '../../http/env.ts';
import { errors, jsonContent } from '../../http/schema.ts';
import type { StigDiffService } from './diff.ts';
import { diffQuery, StigDiff } from './diff-schema.ts';
import { slugParam } from './schema.ts';

/** What changed between two releases of a STIG. */
export function stigDiffRoutes(access: Access, diffs: StigDiffService): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/stigs/{slug}/diff',
      operationId: 'getStigDiff',
      summary: 'List the rules added, removed and changed between two retained releases',
      tags: ['STIG catalog'],
      ...access.user,
      request: { params: slugParam, query: diffQuery },
      responses: { 200: jsonContent(StigDiff, 'What changed.'), ...errors(400, 401, 403, 404) },
    }),
    (c) => answer(c, diffs.diff(c.req.valid('param').slug, c.req.valid('query'))),
  );

  return app;
}
