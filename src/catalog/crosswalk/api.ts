import { z } from '@hono/zod-openapi';
import type { Ask } from '../../base/ask.ts';
import type { Access } from '../../http/access.ts';
import { answerMade, download, publicHeaders } from '../../http/answer.ts';
import { type FileChoice, fileChoice, fileContent, sendFile } from '../../http/downloads.ts';
import { OscalDocument } from '../../http/oscal-document.ts';
import { createRoutes, type RequestContext } from '../../http/route.ts';
import { jsonContent } from '../../http/schema.ts';
import { slugParam, versionQuery } from '../stigs/schema.ts';
import * as controlRules from './control-rules-schema.ts';
import { controlsOfCcis, mappingFile, pathsOfPairs, resolvedPaths, rulesOfControl } from './jobs.ts';
import { closureDepth } from './queries.ts';
import {
  automationReport,
  coverageReport,
  type ReportScope,
  type ReportServices,
  worksheetReport,
} from './reports.ts';
import * as reportSchemas from './reports-schema.ts';
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

/** A report, with a route for a STIG and one for a list. */
interface ReportRoutes {
  /** The last word of both operation ids, and in lower case of both paths. */
  operation: string;
  job: (
    services: ReportServices,
    scope: ReportScope,
    query: never,
    choice: FileChoice,
  ) => ReturnType<typeof coverageReport>;
  query: z.ZodObject;
  description: string;
  stig: { summary: string; json: z.ZodType };
  list: { summary: string; json: z.ZodType; description?: string };
}

const automated =
  'From imported SCAP content: which rules a scan answers, which content tests another revision of, and which a person ' +
  'must look at.';

const reports: ReportRoutes[] = [
  {
    operation: 'Coverage',
    job: coverageReport,
    query: reportSchemas.coverageQuery,
    description:
      'A rule addresses the controls that its CCIs lead to. It is evidence for a part of a control: addressed does not mean satisfied.',
    stig: {
      summary: 'List the controls that the rules of a STIG address, and those that no rule addresses',
      json: reportSchemas.Coverage,
    },
    list: {
      summary: 'List the controls that the rules of a list address, and those that no rule addresses',
      json: reportSchemas.Coverage,
    },
  },
  {
    operation: 'Automation',
    job: automationReport,
    query: reportSchemas.automationQuery,
    description: automated,
    stig: { summary: 'Tell which rules of a STIG a scan answers', json: reportSchemas.StigAutomation },
    list: {
      summary: 'Count which rules of a list a scan answers, by STIG, severity and family',
      json: reportSchemas.ListAutomation,
      description: `${automated} csv and xlsx have a row for each rule.`,
    },
  },
  {
    operation: 'Worksheet',
    job: worksheetReport,
    query: reportSchemas.worksheetQuery,
    description:
      'One row for each objective of SP 800-53A or 800-171A, with the rules that cite a CCI of its part: evidence, not proof. The texts are those of imported catalogs.',
    stig: {
      summary: 'List what an assessor must show of each control, with the rules of a STIG that are evidence',
      json: reportSchemas.Worksheet,
    },
    list: {
      summary: 'List what an assessor must show of each control, with the rules of a list that are evidence',
      json: reportSchemas.Worksheet,
    },
  },
];

/** Coverage (rule D25), automation (rule D38.2) and worksheets (rule D37.3), of a STIG and of a list. */
export function reportRoutes(access: Access, ask: Ask) {
  const costly = access.with({ expensive: true });
  return reports.flatMap(({ operation, job, query: reportQuery, description, stig, list }) => {
    const ofStig = createRoutes('STIG catalog');
    const ofList = createRoutes('Lists');
    const send = async (c: RequestContext, scope: ReportScope, query: object) => {
      const file = await ask(job, scope, query as never, fileChoice(c, query as FileChoice));
      return sendFile(c, file, file.name);
    };
    const described = ({ summary, json, description: own }: ReportRoutes['list']) => ({
      summary,
      description: own ?? description,
      response: fileContent(json, ['text/csv']),
    });
    ofStig.route(
      `GET /api/v1/stigs/{slug}/${operation.toLowerCase()}`,
      costly.with({ cached: 'catalog' }).user,
      {
        operationId: `getStig${operation}`,
        ...described(stig),
        params: slugParam,
        query: reportQuery.extend(versionQuery.shape),
        handle: ({ params, query }, c) =>
          send(c, { slug: params.slug, version: query.version as string | undefined }, query),
      },
    );
    ofList.route(`GET /api/v1/lists/{id}/${operation.toLowerCase()}`, costly.with({ cached: 'users' }).user, {
      operationId: `getList${operation}`,
      ...described(list),
      params: z.object({ id: z.string().openapi({ format: 'uuid' }) }),
      query: reportQuery,
      handle: ({ user, params, query }, c) => send(c, { user, list: params.id }, query),
    });
    return [ofStig.app, ofList.app];
  });
}
