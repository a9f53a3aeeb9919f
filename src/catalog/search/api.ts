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
    summary: 'The rules of current releases that hold given words, best first',
    description:
      'Title, discussion, check, fix, ids and CCIs are searched, case and diacritics ignored, whole words only. A rule ' +
      'whose id is the whole question comes first, one of that SV-id in another revision second, then by relevance ' +
      '(bm25), slug and document order.',
    query: schemas.searchQuery,
    response: jsonContent(schemas.SearchAnswer, 'A page of rules.'),
    handle: ({ query }) => search.search(query),
  });

  return app;
}
