import type { Access } from '../../http/access.ts';
import { createRoutes } from '../../http/route.ts';
import { jsonContent } from '../../http/schema.ts';
import { CitedAnswer, citeQuery } from './citation-schema.ts';
import type { Citations } from './citations.ts';

/** Opens a citation, under the rights of what it names (rule D41.4). */
export function citationRoutes(access: Access, citations: Citations) {
  const { app, route } = createRoutes('Catalog');
  const isPublic = (ref: string | undefined) => citations.isPublic(ref ?? '');

  route(
    'GET /api/v1/cite',
    access.with({ kept: null }).userUnless((c) => isPublic(c.req.query('ref'))),
    {
      operationId: 'openCitation',
      summary: 'Open a citation of a rule, a STIG, a control or a CCI, and tell what became of it',
      description: 'Citations of controls and CCIs need no token.',
      query: citeQuery,
      notFound: true,
      response: jsonContent(CitedAnswer, 'What is cited.'),
      handle: ({ query }) => citations.open(query.ref),
    },
  );

  return app;
}
