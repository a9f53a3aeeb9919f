import type { z } from '@hono/zod-openapi';
import { arrayText, type JsonText, objectText } from '../../base/json.ts';
import { runInSlices, yieldToEventLoop } from '../../base/slices.ts';
import type { InOneGeneration } from '../../db/one-generation.ts';
import type { Access } from '../../http/access.ts';
import { download, publicHeaders } from '../../http/answer.ts';
import { downloadFile, fileContent } from '../../http/downloads.ts';
import { OscalDocument } from '../../http/oscal-document.ts';
import { createRoutes } from '../../http/route.ts';
import { jsonContent } from '../../http/schema.ts';
import { frameworkKey } from '../controls/frameworks.ts';
import type { ExplainService } from './explain.ts';
import { type MappingExport, pairColumns, pairsOf } from './export.ts';
import { toMappingCollection } from './mapping-collection.ts';
import { closureDepth } from './path-search.ts';
import { type Answered, type CrosswalkService, defaultStatuses } from './queries.ts';
import * as schemas from './schema.ts';
import { createTaker, mostPathBytes } from './share.ts';

/** Whether a question with this `maxHops` needs a live search: the closure table has fewer hops (D7.3). */
export const isDeep = (maxHops: string | undefined) => Number(maxHops ?? 0) > closureDepth;

/** The crosswalk (rule D7): public. */
export function crosswalkRoutes(
  access: Access,
  crosswalk: CrosswalkService,
  explainer: ExplainService,
  mappingExport: MappingExport,
  inOneGeneration: InOneGeneration,
) {
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
    // Paths and evidence must be of one graph.
    handle: ({ query }) => inOneGeneration(() => resolve(crosswalk, explainer, query)),
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
    handle: async ({ query: { from, to, format, raw } }, c) => {
      const exported = mappingExport(from, to);
      // Reading the mappings is as much work as writing them.
      await yieldToEventLoop();
      const name = `crosswalk_${from}_${to}`;
      if (format === 'oscal') {
        const collection = toMappingCollection(exported);
        await yieldToEventLoop();
        const text = JSON.stringify(collection);
        return download(c, text, format, `${name}.json`, publicHeaders);
      }
      const [columns, rows] = [pairColumns, pairsOf(exported)];
      const file = { json: {}, root: 'crosswalk', element: 'mapping', columns, rows, headers: publicHeaders };
      return downloadFile(c, { format, raw }, name, file);
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
    handle: ({ body }) =>
      'ccis' in body ? controlsOfCcis(crosswalk, body) : pathsOfPairs(crosswalk, explainer, body),
  });

  return app;
}

/** The answer to one question; with `explain` it has the evidence, or the reason why there is no path. */
async function resolve(
  crosswalk: CrosswalkService,
  explainer: ExplainService,
  { from, to, version, status, maxHops, explain }: z.output<typeof schemas.resolveQuery>,
): Promise<JsonText<schemas.Resolution>> {
  const { framework } = from;
  const identifier = crosswalk.canonical(framework, from.identifier);
  const question = { framework, identifier, to, version, statuses: status ?? defaultStatuses, maxHops };
  const found = await crosswalk.resolveInSlices(question);
  const { texts, truncated } = explain ? await runInSlices(explained(explainer, found, version)) : found;
  const source = { framework, identifier, version: version ?? null };
  const unknown = [
    ...explainer.unknownIn({ framework, identifier, version }).map((wrong) => ({
      field: wrong === 'version' ? 'version' : 'from',
      value: { ...from, version: version! }[wrong],
    })),
    ...explainer.unknownIn({ framework: to }).map(() => ({ field: 'to', value: to })),
  ];
  const entries: [string, JsonText<unknown>][] = [
    ...unknownEntry(unknown),
    ['from', JSON.stringify(source)],
    ['to', JSON.stringify(to)],
    ['paths', arrayText(texts)],
  ];
  if (truncated) entries.push(['truncated', 'true']);
  if (explain && texts.length === 0) entries.push(['reason', JSON.stringify(explainer.whyNot(question))]);
  return objectText(entries) as JsonText<schemas.Resolution>;
}

/** What does not exist, at the top of an answer; nothing where all exists (rule D54.2). */
const unknownEntry = (unknown: schemas.Unknown): [string, JsonText<unknown>][] =>
  unknown.length === 0 ? [] : [['unknown', JSON.stringify(unknown)]];

/** The paths of an answer with their evidence, up to the bytes of one answer. */
function* explained(
  explainer: ExplainService,
  { paths, truncated }: Answered,
  version: string | undefined,
): Generator<void, Pick<Answered, 'texts' | 'truncated'>> {
  const { taken, take } = createTaker<schemas.Path>(mostPathBytes);
  for (const path of explainer.explain(paths, version)) {
    if (!take(path)) break;
    yield;
  }
  return { texts: taken.texts, truncated: truncated || taken.truncated };
}

/** Shape B: the distinct path ends of each CCI, in the spelling and order of the request (D7.5). */
function controlsOfCcis(
  crosswalk: CrosswalkService,
  body: z.output<typeof schemas.ccisBody>,
): JsonText<schemas.CciControls> {
  const { to, status, maxHops } = body;
  const question = { framework: 'cci', to, statuses: status ?? defaultStatuses, maxHops };
  return objectText(
    [...new Set(body.ccis)].map((cci): [string, JsonText<string[]>] => {
      const ends = crosswalk.endsOf({ ...question, identifier: crosswalk.canonical('cci', cci) });
      return [cci, JSON.stringify(ends)];
    }),
  );
}

/** Shape A: every pair by itself, keyed by the references of the request (D7.5). */
async function pathsOfPairs(
  crosswalk: CrosswalkService,
  explainer: ExplainService,
  body: z.output<typeof schemas.pairsBody>,
): Promise<JsonText<schemas.BatchResolution>> {
  const { from, to, status, maxHops } = body;
  const targets = [...new Set(to)];
  const references = from.map(({ framework: sent, identifier: text, version }) => {
    const framework = frameworkKey(sent);
    const identifier = crosswalk.canonical(framework, text);
    return { key: `${sent}:${text}`, framework, identifier, version };
  });
  const unique = [...new Map(references.map((each) => [each.key, each])).values()];
  const pairs = unique.flatMap((each) => targets.map((target) => ({ ...each, to: target })));
  const statuses = status ?? defaultStatuses;
  const answers = await crosswalk.resolveAll(
    pairs.map((pair) => ({ ...pair, to: frameworkKey(pair.to), statuses, maxHops })),
  );
  const results = objectText(
    unique.map((each, row) => [
      each.key,
      objectText(
        targets.map((target, column) => [target, arrayText(answers[row * targets.length + column]!.texts)]),
      ),
    ]),
  );
  const truncated = pairs
    .filter((_, index) => answers[index]!.truncated)
    .map((pair) => `${pair.key} ${pair.to}`);
  const unknown = [
    ...references.flatMap((reference, index) =>
      explainer
        .unknownIn(reference)
        .map((wrong) => ({ field: `/from/${index}/${wrong}`, value: from[index]![wrong]! })),
    ),
    ...to.flatMap((target, index) =>
      explainer
        .unknownIn({ framework: frameworkKey(target) })
        .map(() => ({ field: `/to/${index}`, value: target })),
    ),
  ];
  const entries: [string, string][] = [
    ...unknownEntry(unknown),
    ['from', JSON.stringify(references.map(({ key: _, ...each }) => each))],
    ['to', arrayText(to.map((target) => JSON.stringify(target)))],
    ['results', results],
  ];
  if (truncated.length > 0) entries.push(['truncated', JSON.stringify(truncated)]);
  return objectText(entries) as JsonText<schemas.BatchResolution>;
}
