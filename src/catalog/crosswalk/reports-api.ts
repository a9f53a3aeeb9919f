import { z } from '@hono/zod-openapi';
import type { Ask } from '../../base/ask.ts';
import type { Access } from '../../http/access.ts';
import { type FileChoice, fileChoice, fileContent, sendFile } from '../../http/downloads.ts';
import { createRoutes, type RequestContext } from '../../http/route.ts';
import { slugParam, versionQuery } from '../stigs/schema.ts';
import {
  automationReport,
  coverageReport,
  type ReportFile,
  type ReportScope,
  type ReportServices,
  worksheetReport,
} from './reports.ts';
import {
  automationQuery,
  Coverage,
  coverageQuery,
  ListAutomation,
  StigAutomation,
  Worksheet,
  worksheetQuery,
} from './reports-schema.ts';

/** A report, with a route for a STIG and one for a list. */
interface ReportRoutes {
  /** The last word of both operation ids, and in lower case of both paths. */
  operation: string;
  job: (services: ReportServices, scope: ReportScope, query: never, choice: FileChoice) => ReportFile;
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
    query: coverageQuery,
    description:
      'A rule addresses the controls that its CCIs lead to. It is evidence for a part of a control: addressed does not mean satisfied.',
    stig: {
      summary: 'List the controls that the rules of a STIG address, and those that no rule addresses',
      json: Coverage,
    },
    list: {
      summary: 'List the controls that the rules of a list address, and those that no rule addresses',
      json: Coverage,
    },
  },
  {
    operation: 'Automation',
    job: automationReport,
    query: automationQuery,
    description: automated,
    stig: { summary: 'Tell which rules of a STIG a scan answers', json: StigAutomation },
    list: {
      summary: 'Count which rules of a list a scan answers, by STIG, severity and family',
      json: ListAutomation,
      description: `${automated} csv and xlsx have a row for each rule.`,
    },
  },
  {
    operation: 'Worksheet',
    job: worksheetReport,
    query: worksheetQuery,
    description:
      'One row for each objective of SP 800-53A or 800-171A, with the rules that cite a CCI of its part: evidence, not proof. The texts are those of imported catalogs.',
    stig: {
      summary: 'List what an assessor must show of each control, with the rules of a STIG that are evidence',
      json: Worksheet,
    },
    list: {
      summary: 'List what an assessor must show of each control, with the rules of a list that are evidence',
      json: Worksheet,
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
      costly.with({ kept: 'catalog' }).user,
      {
        operationId: `getStig${operation}`,
        ...described(stig),
        params: slugParam,
        query: reportQuery.extend(versionQuery.shape),
        handle: ({ params, query }, c) =>
          send(c, { slug: params.slug, version: query.version as string | undefined }, query),
      },
    );
    ofList.route(`GET /api/v1/lists/{id}/${operation.toLowerCase()}`, costly.with({ kept: 'users' }).user, {
      operationId: `getList${operation}`,
      ...described(list),
      params: z.object({ id: z.string().openapi({ format: 'uuid' }) }),
      query: reportQuery,
      handle: ({ user, params, query }, c) => send(c, { user, list: params.id }, query),
    });
    return [ofStig.app, ofList.app];
  });
}
