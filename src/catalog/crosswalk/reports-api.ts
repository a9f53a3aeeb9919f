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

type FileQuery = Pick<FileChoice, 'format' | 'raw'>;

/** A report about a STIG and about a list. */
interface ReportRoutes<Query extends z.ZodObject> {
  /** The last word of both paths. */
  name: string;
  job: (
    services: ReportServices,
    scope: ReportScope,
    query: z.output<Query>,
    choice: FileChoice,
  ) => ReportFile;
  query: Query;
  stig: ReportOperation;
  list: ReportOperation;
}

interface ReportOperation {
  operationId: string;
  summary: string;
  description: string;
  json: z.ZodType;
}

const addressed =
  'A rule addresses the controls that its CCIs lead to. It is evidence for a part of a control: addressed does not mean satisfied.';
const automated =
  'From imported SCAP content: which rules a scan answers, which content tests another revision of, and which a person ' +
  'must look at.';
const assessed =
  'One row for each objective of SP 800-53A or 800-171A, with the rules that cite a CCI of its part: evidence, not proof. The texts are those of imported catalogs.';

/** Coverage (rule D25), automation (rule D38.2) and worksheets (rule D37.3), of a STIG and of a list. */
export function reportRoutes(access: Access, ask: Ask) {
  function report<Query extends z.ZodObject>({ name, job, query, stig, list }: ReportRoutes<Query>) {
    const ofStig = createRoutes('STIG catalog');
    const ofList = createRoutes('Lists');
    const operation = ({ json, ...described }: ReportOperation) => ({
      ...described,
      response: fileContent(json, ['text/csv']),
    });
    const send = async (c: RequestContext, scope: ReportScope, asked: z.output<Query>) => {
      const file = await ask(job, scope, asked, fileChoice(c, asked as unknown as FileQuery));
      return sendFile(c, file, file.name);
    };
    ofStig.route(`GET /api/v1/stigs/{slug}/${name}`, access.with({ expensive: true, kept: 'catalog' }).user, {
      ...operation(stig),
      params: slugParam,
      query: query.extend(versionQuery.shape),
      handle({ params, query }, c) {
        const { version, ...asked } = query as z.output<Query> & z.output<typeof versionQuery>;
        return send(c, { slug: params.slug, version }, asked as unknown as z.output<Query>);
      },
    });
    ofList.route(`GET /api/v1/lists/{id}/${name}`, access.with({ expensive: true, kept: 'users' }).user, {
      ...operation(list),
      params: z.object({ id: z.string().openapi({ format: 'uuid' }) }),
      query,
      handle: ({ user, params, query }, c) => send(c, { user, list: params.id }, query),
    });
    return [ofStig.app, ofList.app];
  }

  return [
    ...report({
      name: 'coverage',
      job: coverageReport,
      query: coverageQuery,
      stig: {
        operationId: 'getStigCoverage',
        summary: 'List the controls that the rules of a STIG address, and those that no rule addresses',
        description: addressed,
        json: Coverage,
      },
      list: {
        operationId: 'getListCoverage',
        summary: 'List the controls that the rules of a list address, and those that no rule addresses',
        description: addressed,
        json: Coverage,
      },
    }),
    ...report({
      name: 'automation',
      job: automationReport,
      query: automationQuery,
      stig: {
        operationId: 'getStigAutomation',
        summary: 'Tell which rules of a STIG a scan answers',
        description: automated,
        json: StigAutomation,
      },
      list: {
        operationId: 'getListAutomation',
        summary: 'Count which rules of a list a scan answers, by STIG, severity and family',
        description: `${automated} csv and xlsx have a row for each rule.`,
        json: ListAutomation,
      },
    }),
    ...report({
      name: 'worksheet',
      job: worksheetReport,
      query: worksheetQuery,
      stig: {
        operationId: 'getStigWorksheet',
        summary:
          'List what an assessor must show of each control, with the rules of a STIG that are evidence',
        description: assessed,
        json: Worksheet,
      },
      list: {
        operationId: 'getListWorksheet',
        summary:
          'List what an assessor must show of each control, with the rules of a list that are evidence',
        description: assessed,
        json: Worksheet,
      },
    }),
  ];
}
