import { z } from '@hono/zod-openapi';
import type { Access } from '../../http/access.ts';
import { downloadFile, fileContent, narrowedName } from '../../http/downloads.ts';
import { createRoutes } from '../../http/route.ts';
import type { StigService } from '../stigs/queries.ts';
import { slugParam } from '../stigs/schema.ts';
import type { ReleasesOfList } from './coverage-api.ts';
import { type WorksheetService, worksheetFile } from './worksheet.ts';
import { stigWorksheetQuery, Worksheet, type WorksheetQuery, worksheetQuery } from './worksheet-schema.ts';

const described = {
  description:
    'One row for each objective of SP 800-53A or 800-171A, with the rules that cite a CCI of its part: evidence, not proof. The texts are those of imported catalogs.',
  response: fileContent(Worksheet, ['text/csv']),
};

const nameOf = (name: string, { framework, baseline, family }: WorksheetQuery) =>
  narrowedName(name, {
    framework: framework === 'nist-800-53' ? undefined : framework,
    baseline,
    family,
  });

/** The worksheet of an assessment, for a STIG and for a list (rule D37.3). */
export function worksheetRoutes(
  access: Access,
  worksheet: WorksheetService,
  stigs: StigService,
  releasesOf: ReleasesOfList,
) {
  const ofStig = createRoutes('STIG catalog');
  const ofList = createRoutes('Lists');

  ofStig.route('GET /api/v1/stigs/{slug}/worksheet', access.with({ expensive: true, kept: 'catalog' }).user, {
    operationId: 'getStigWorksheet',
    summary: 'List what an assessor must show of each control, with the rules of a STIG that are evidence',
    ...described,
    params: slugParam,
    query: stigWorksheetQuery,
    handle: async ({ params, query }, c) => {
      const find = () => stigs.named(params.slug, query.version);
      const json = await worksheet.of(() => [find()], query);
      const { slug, release } = find();
      const name = `${slug}_${release!.version}_worksheet`;
      return downloadFile(c, query, nameOf(name, query), worksheetFile(json));
    },
  });

  ofList.route('GET /api/v1/lists/{id}/worksheet', access.with({ expensive: true, kept: 'users' }).user, {
    operationId: 'getListWorksheet',
    summary: 'List what an assessor must show of each control, with the rules of a list that are evidence',
    ...described,
    params: z.object({ id: z.string().openapi({ format: 'uuid' }) }),
    query: worksheetQuery,
    handle: async ({ user, params, query }, c) => {
      const find = () => releasesOf(user, params.id);
      const json = await worksheet.of(() => find().stigs, query);
      const { name } = find();
      return downloadFile(c, query, nameOf(`${name} worksheet`, query), worksheetFile(json));
    },
  });

  return [ofStig.app, ofList.app];
}
