import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import type { Access } from '../../http/access.ts';
import { answer } from '../../http/answer.ts';
import type { Env } from '../../http/env.ts';
import { errors, jsonContent } from '../../http/schema.ts';
import type { SearchService } from './queries.ts';
import * as schemas from './schema.ts';

/** Full-text search over the rules of current releases (additive). */
export function searchRoutes(access: Access, search: SearchService): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/search',
      operationId: 'searchRules',
      summary: 'Search the rules of current releases, best match first',
      description:
        'Searches title, discussion, check, fix, ids and CCIs for whole words. Case and diacritics are ignored. A rule ' +
        'whose id is the whole query comes first, then one with that SV-id in another revision, then others by relevance ' +
        '(bm25), slug and document order.',
      tags: ['STIG catalog'],
      ...access.user,
      request: { query: schemas.searchQuery },
      responses: { 200: jsonContent(schemas.SearchAnswer, 'A page of rules.'), ...errors(400, 401, 403) },
    }),
    (c) => answer(c, search.search(c.req.valid('query'))),
  );

  return app;
}
