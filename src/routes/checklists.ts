import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import { answer, fileHeaders, privateHeaders } from '../answer.ts';
import type { Access } from '../auth/access.ts';
import type { createChecklistUpgrade } from '../checklists/upgrade.ts';
import type { Env } from '../env.ts';
import { refuseHeavyJson } from '../json.ts';
import { ChecklistUpgrade, upgradeBody, upgradeQuery } from '../schemas/checklist-upgrade.ts';
import { Cklb } from '../schemas/cklb.ts';
import { errors, jsonBody } from '../schemas/common.ts';

/** Bytes that a checklist in a body may have (DECISIONS D2.3). */
export const maxChecklist = 32 * 1024 * 1024;

/** What is done with checklists that a caller brings. Nothing of them is stored. */
export function checklistRoutes(
  access: Access,
  upgrade: ReturnType<typeof createChecklistUpgrade>,
): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();
  const checkBody = (text: string) => refuseHeavyJson(text, 'The request body');
  const large = access.with({ maxBody: maxChecklist, checkBody, expensive: true, atOnce: 4 });

  app.openapi(
    createRoute({
      method: 'post',
      path: '/api/v1/checklists/upgrade',
      summary: 'An old checklist (ckl or cklb), its answers carried to a release of the catalog',
      tags: ['Checklists'],
      ...large.user,
      request: { query: upgradeQuery, body: jsonBody(upgradeBody) },
      responses: {
        200: {
          description:
            'The new checklist, and a report on each of its rules. With download=true the checklist alone, as a file.',
          content: { 'application/json': { schema: ChecklistUpgrade.or(Cklb) } },
        },
        ...errors(400, 401, 403, 404, 413, 503),
      },
    }),
    (c) => {
      const upgraded = upgrade(c.req.valid('json'));
      if (!c.req.valid('query').download) return answer(c, upgraded);
      const { benchmarkId, version } = upgraded.report.to;
      // What the old checklist says of itself counts more than the banner of this server.
      const marking = upgraded.checklist.target_data.classification || c.get('banner');
      const name = fileHeaders(marking, `U_${benchmarkId}_${version}.cklb`);
      return answer(c, upgraded.checklist, { ...privateHeaders, ...name });
    },
  );

  return app;
}
