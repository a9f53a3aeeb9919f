import type { Ask } from '../../base/ask.ts';
import type { Access } from '../../http/access.ts';
import { asksForFile, fileChoice, jsonOrFile, narrowedName, sendFile } from '../../http/downloads.ts';
import { createRoutes } from '../../http/route.ts';
import { jsonContent } from '../../http/schema.ts';
import type { Citations } from './citations.ts';
import { openCitation, searchFile, searchPage } from './jobs.ts';
import * as schemas from './schema.ts';

/** Full-text search over the rules of current releases (additive). */
export function searchRoutes(access: Access, ask: Ask) {
  const { app, route } = createRoutes('STIG catalog');
  const costly = access.with({ expensive: asksForFile });

  route('GET /api/v1/search', costly.user, {
    operationId: 'searchRules',
    summary: 'Search the rules of current releases, best match first',
    description:
      'Searches title, discussion, check, fix, ids and CCIs for whole words. Case and diacritics are ignored. Where fewer ' +
      'than ten rules have all words, the best of those with any of them follow (`relaxed`). One control or CCI lists its ' +
      'rules. A rule whose id is the whole query comes first, then one with that SV-id in another revision, then others by relevance ' +
      '(bm25), slug and document order. Filters are combined, and may stand without a q. A csv or xlsx file holds all that ' +
      'is found, without snippets, up to 20,000 rules; more are a 400.',
    query: schemas.searchQuery,
    notFound: true,
    response: jsonOrFile(schemas.SearchAnswer, 'A page of rules, or all of them as a file.'),
    handle: async ({ user, query }, c) => {
      const { format, raw, ...question } = query;
      if (format === 'json') return ask(searchPage, user, question);
      const { q, severity, stig, list, cci, control } = question;
      const name = narrowedName('rules', { q, severity, stig, list, cci, control });
      return sendFile(c, await ask(searchFile, user, question, fileChoice(c, { format, raw })), name);
    },
  });

  return app;
}

/** Opens a citation, under the rights of what it names (rule D41.4). */
export function citationRoutes(access: Access, ask: Ask, citations: Pick<Citations, 'isPublic'>) {
  const { app, route } = createRoutes('Catalog');
  const isPublic = (ref: string | undefined) => citations.isPublic(ref ?? '');

  route(
    'GET /api/v1/cite',
    access.with({ cached: null }).userUnless((c) => isPublic(c.req.query('ref'))),
    {
      operationId: 'openCitation',
      summary: 'Open a citation of a rule, a STIG, a control or a CCI, and tell what became of it',
      description: 'Citations of controls and CCIs need no token.',
      query: schemas.citeQuery,
      notFound: true,
      response: jsonContent(schemas.CitedAnswer, 'What is cited.'),
      handle: ({ query }) => ask(openCitation, query.ref),
    },
  );

  return app;
}
