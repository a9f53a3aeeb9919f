import { z } from '@hono/zod-openapi';
import type { Access } from '../../http/access.ts';
import { downloadFile, fileContent } from '../../http/downloads.ts';
import { createRoutes } from '../../http/route.ts';
import type { StigService } from '../stigs/queries.ts';
import { slugParam } from '../stigs/schema.ts';
import { type AutomationService, automationFile } from './automation.ts';
import { automationQuery, ListAutomation, StigAutomation, stigAutomationQuery } from './automation-schema.ts';
import type { ReleasesOfList } from './coverage-api.ts';

const description =
  'From imported SCAP content: which rules a scan answers, which content tests another revision of, and which a person ' +
  'must look at.';

/** What machines can check of a STIG and of a list (rule D38.2). */
export function automationRoutes(
  access: Access,
  automation: AutomationService,
  stigs: StigService,
  releasesOf: ReleasesOfList,
) {
  const ofStig = createRoutes('STIG catalog');
  const ofList = createRoutes('Lists');

  ofStig.route(
    'GET /api/v1/stigs/{slug}/automation',
    access.with({ expensive: true, kept: 'catalog' }).user,
    {
      operationId: 'getStigAutomation',
      summary: 'Tell which rules of a STIG a scan answers',
      description,
      response: fileContent(StigAutomation, ['text/csv']),
      params: slugParam,
      query: stigAutomationQuery,
      handle: ({ params, query }, c) => {
        const find = () => stigs.named(params.slug, query.version);
        const json = automation.ofStig(find);
        const rows = query.format === 'json' ? [] : automation.rowsOf(find());
        return downloadFile(c, query, `${json.slug}_${json.version}_automation`, automationFile(json, rows));
      },
    },
  );

  ofList.route('GET /api/v1/lists/{id}/automation', access.with({ expensive: true, kept: 'users' }).user, {
    operationId: 'getListAutomation',
    summary: 'Count which rules of a list a scan answers, by STIG, severity and family',
    description: `${description} csv and xlsx have a row for each rule.`,
    response: fileContent(ListAutomation, ['text/csv']),
    params: z.object({ id: z.string().openapi({ format: 'uuid' }) }),
    query: automationQuery,
    handle: async ({ user, params, query }, c) => {
      const find = () => releasesOf(user, params.id).stigs;
      const name = `${releasesOf(user, params.id).name} automation`;
      if (query.format === 'json')
        return downloadFile(c, query, name, automationFile(await automation.ofList(find), []));
      return downloadFile(c, query, name, automationFile({}, await automation.rows(find)));
    },
  });

  return [ofStig.app, ofList.app];
}
