import { createRoute, OpenAPIHono, type z } from '@hono/zod-openapi';
import { answer, answerText, publicHeaders } from '../answer.ts';
import type { Access } from '../auth/access.ts';
import { frameworkKey } from '../crosswalk/frameworks.ts';
import type { Env } from '../env.ts';
import { arrayText, type JsonText, objectText } from '../json.ts';
import { errors, jsonContent } from '../schemas/common.ts';
import * as schemas from '../schemas/crosswalk.ts';
import { type CrosswalkService, closureDepth, defaultStatuses } from '../services/crosswalk.ts';
import type { ExplainService } from '../services/crosswalk-explain.ts';

/** The crosswalk (specification, "Crosswalk"; DECISIONS D7): public. */
export function crosswalkRoutes(
  access: Access,
  crosswalk: CrosswalkService,
  explainer: ExplainService,
): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();
  const costly = access.with({ expensive: true });
  // Beyond the hops of the closure table every question is a search (D7.3).
  const searching = access.with({ expensive: (c) => Number(c.req.query('maxHops') ?? 0) > closureDepth });
  const tags = ['Crosswalk'];

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/crosswalk/resolve',
      operationId: 'resolveCrosswalk',
      summary: 'Every path from one control to another framework',
      tags,
      ...searching.public,
      request: { query: schemas.resolveQuery },
      responses: { 200: jsonContent(schemas.Resolution, 'The paths, shortest first.'), ...errors(400) },
    }),
    (c) => {
      const { from, to, version, status, maxHops, explain } = c.req.valid('query');
      const identifier = crosswalk.canonical(from.framework, from.identifier);
      const question = {
        framework: from.framework,
        identifier,
        to,
        version,
        statuses: status ?? defaultStatuses,
        maxHops,
      };
      const { paths, truncated } = crosswalk.resolve(question);
      const resolution: schemas.Resolution = {
        from: { framework: from.framework, identifier, version: version ?? null },
        to,
        paths: explain ? explainer.explain(paths, version) : paths,
        ...(truncated ? { truncated } : {}),
        ...(explain && paths.length === 0 ? { reason: explainer.whyNot(question) } : {}),
      };
      return answer(c, resolution, publicHeaders);
    },
  );

  app.openapi(
    createRoute({
      method: 'post',
      path: '/api/v1/crosswalk/resolve/batch',
      operationId: 'resolveCrosswalkBatch',
      summary: 'Up to 250 pairs, or the controls of up to 250 CCIs',
      description:
        'A body with the key `ccis` is the CCI lookup, otherwise it asks for pairs; both at once is a 400.',
      tags,
      ...costly.public,
      request: { body: { required: true, content: { 'application/json': { schema: schemas.batchBody } } } },
      responses: {
        200: jsonContent(
          schemas.BatchResolution.or(schemas.CciControls),
          'Paths by pair, or controls by CCI.',
        ),
        ...errors(400, 413),
      },
    }),
    async (c) => {
      const body = c.req.valid('json');
      const text =
        'ccis' in body ? await controlsOfCcis(crosswalk, body) : await pathsOfPairs(crosswalk, body);
      return answerText<schemas.BatchResolution | schemas.CciControls>(c, text, publicHeaders);
    },
  );

  return app;
}

/** Shape B: the distinct path ends of each CCI, under the spelling that was sent, in request order (D7.5). */
async function controlsOfCcis(
  crosswalk: CrosswalkService,
  body: z.output<typeof schemas.ccisBody>,
): Promise<JsonText<schemas.CciControls>> {
  const { to, status, maxHops } = body;
  const sent = [...new Set(body.ccis)];
  const answers = await crosswalk.resolveAll(
    sent.map((cci) => ({
      framework: 'cci',
      identifier: crosswalk.canonical('cci', cci),
      to,
      statuses: status ?? defaultStatuses,
      maxHops,
    })),
  );
  return objectText(
    sent.map((cci, index) => [
      cci,
      JSON.stringify(crosswalk.endsOf(answers[index]!.paths)) as JsonText<string[]>,
    ]),
  );
}

/** Shape A: every pair by itself, keyed by the references as they were sent (D7.5). */
async function pathsOfPairs(
  crosswalk: CrosswalkService,
  body: z.output<typeof schemas.pairsBody>,
): Promise<JsonText<schemas.BatchResolution>> {
  const { from, to, status, maxHops } = body;
  const targets = [...new Set(to)];
  const references = from.map(({ framework: sent, identifier, version }) => {
    const framework = frameworkKey(sent);
    return {
      key: `${sent}:${identifier}`,
      framework,
      identifier: crosswalk.canonical(framework, identifier),
      version,
    };
  });
  const unique = [...new Map(references.map((each) => [each.key, each])).values()];
  const pairs = unique.flatMap((each) => targets.map((target) => ({ ...each, to: target })));
  const answers = await crosswalk.resolveAll(
    pairs.map((pair) => ({
      ...pair,
      to: frameworkKey(pair.to),
      statuses: status ?? defaultStatuses,
      maxHops,
    })),
  );
  const results = objectText(
    unique.map((each, row) => [
      each.key,
      objectText(
        targets.map((target, column) => [
          target,
          JSON.stringify(answers[row * targets.length + column]!.paths),
        ]),
      ),
    ]),
  );
  const truncated = pairs
    .filter((_, index) => answers[index]!.truncated)
    .map((pair) => `${pair.key} ${pair.to}`);
  const answered = references.map(({ key: _, version, ...each }) => ({
    ...each,
    ...(version === undefined ? {} : { version }),
  }));
  const entries: [string, string][] = [
    ['from', JSON.stringify(answered)],
    ['to', arrayText(to.map((target) => JSON.stringify(target)))],
    ['results', results],
  ];
  if (truncated.length > 0) entries.push(['truncated', JSON.stringify(truncated)]);
  return objectText(entries) as JsonText<schemas.BatchResolution>;
}
