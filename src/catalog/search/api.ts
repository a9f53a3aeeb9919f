import type { Access } from '../../http/access.ts';
import { createRoutes } from '../../http/routes.ts';
import { jsonContent } from '../../http/schema.ts';
import type { SearchService } from './queries.ts';
import * as schemas from './schema.ts';

/** Full-text search over the rules of current releases (additive). */
export function searchRoutes(access: Access, search: SearchService) {
  const { app, route } = createRoutes('STIG catalog');

  route('GET /api/v1/search', access.user, {
    operationId: 'searchRules',
    summary: 'Search the rules of current releases, best match first',
    description:
      'Searches title, discussion, check, fix, ids and CCIs for whole words. Case and diacritics are ignored. A rule ' +
      'whose id is the whole query comes first, then one with that SV-id in another revision, then others by relevance ' +
      '(bm25), slug and document order.',
    query: schemas.searchQuery,
    response: jsonContent(schemas.SearchAnswer, 'A page of rules.'),
    handle: ({ query }) => search.search(query),
  });

  return app;
}
