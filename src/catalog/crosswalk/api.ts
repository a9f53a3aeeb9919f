import type { Ask } from '../../base/ask.ts';
import type { Access } from '../../http/access.ts';
import { answerMade, download, publicHeaders } from '../../http/answer.ts';
import { fileContent } from '../../http/downloads.ts';
import { OscalDocument } from '../../http/oscal-document.ts';
import { createRoutes } from '../../http/route.ts';
import { jsonContent } from '../../http/schema.ts';
import * as controlRules from './control-rules-schema.ts';
import { controlsOfCcis, mappingFile, pathsOfPairs, resolvedPaths, rulesOfControl } from './jobs.ts';
import { closureDepth } from './queries.ts';
import * as schemas from './schema.ts';

/** Whether a question with this `maxHops` needs a live search: the closure table has fewer hops (D7.3). */
const isDeep = (maxHops: string | undefined) => Number(maxHops ?? 0) > closureDepth;

/** The crosswalk (rule D7): public. */
export function crosswalkRoutes(access: Access, ask: Ask) {
  const { app, route } = createRoutes('Crosswalk');
  const costly = access.with({ expensive: true });
  // Deep questions are live searches (D7.3); evidence is read edge by edge.
  const searching = access.with({
    expensive: (c) => isDeep(c.req.query('maxHops')) || c.req.query('explain') !== undefined,
  });

  route('GET /api/v1/crosswalk/resolve', searching.public, {
    operationId: 'resolveCrosswalk',
    summary: 'List every path from a control to another framework',
    query: schemas.resolveQuery,
    response: jsonContent(schemas.Resolution, 'The paths, shortest first.'),
    handle: async ({ query }, c) => answerMade(c, await ask(resolvedPaths, query), publicHeaders),
  });

  route('GET /api/v1/crosswalk/export', costly.public, {
    operationId: 'exportCrosswalk',
    summary: 'Download the direct mappings between two frameworks',
    query: schemas.exportQuery,
    notFound: true,
    response: {
      ...fileContent(OscalDocument, ['text/csv']),
      description:
        'An OSCAL mapping-collection of the direct mappings, or the stated pairs as csv or xlsx. Both can be imported.',
    },
    handle: async ({ query: { raw, ...query } }, c) => {
      const { bytes } = await ask(mappingFile, query, { raw, banner: c.get('banner') });
      const { from, to, format } = query;
      const name = `crosswalk_${from}_${to}.${format === 'oscal' ? 'json' : format}`;
      return download(c, bytes, format, name, publicHeaders);
    },
  });

  route('POST /api/v1/crosswalk/resolve/batch', costly.public, {
    operationId: 'resolveCrosswalkBatch',
    summary: 'Resolve up to 250 pairs, or look up the controls of up to 250 CCIs',
    description:
      'A body with `ccis` is a CCI lookup, which is never truncated. Any other body asks for pairs. Giving both is an error ' +
      '(400). The pairs share 12 MiB of paths: each gets an equal part, and unused space is divided among the ' +
      'others. The response stays under 16 MB. `truncated` lists the pairs whose paths are incomplete.',
    body: schemas.batchBody,
    response: jsonContent(
      schemas.BatchResolution.or(schemas.CciControls),
      'Paths by pair, or controls by CCI.',
    ),
    handle: async ({ body }, c) => {
      const made = await ('ccis' in body ? ask(controlsOfCcis, body) : ask(pathsOfPairs, body));
      return answerMade(c, made, publicHeaders);
    },
  });

  return app;
}

/** From a control to the rules of STIGs (additive). */
export function controlRulesRoutes(access: Access, ask: Ask) {
  const { app, route } = createRoutes('Controls');

  const searching = access.with({ expensive: (c) => isDeep(c.req.query('maxHops')) });
  route('GET /api/v1/control-rules/{framework}/{controlId}', searching.user, {
    operationId: 'listControlRules',
    summary: 'List the rules of current releases that are mapped to a control through CCIs, by STIG',
    description:
      'Each rule is listed once, with its shortest paths through the crosswalk. A base control does not include its ' +
      'enhancements. Pages count rules. STIGs are sorted by title, rules by document order.',
    params: controlRules.controlRulesParam,
    query: controlRules.controlRulesQuery,
    response: jsonContent(controlRules.ControlRules, 'A page of rules.'),
    handle: ({ user, params, query }) => ask(rulesOfControl, user, { ...params, ...query }),
  });

  return app;
}
