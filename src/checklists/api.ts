import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import { Cklb } from '../catalog/stigs/cklb-schema.ts';
import type { Access } from '../http/access.ts';
import { answer, fileHeaders, fileTypes, privateHeaders } from '../http/answer.ts';
import type { Env, Presence } from '../http/env.ts';
import { downloadHeaders, jsonBody, problem, TextFile } from '../http/schema.ts';
import { maxChecklist } from './read.ts';
import { ChecklistUpgrade, upgradeBody, upgradeQuery } from './schema.ts';
import type { Upgraded } from './upload.ts';

/** Upgrades the body of a request, as it came, off the main thread. */
type UpgradeUpload = (
  upload: { from: 'api'; bytes: Uint8Array<ArrayBuffer>; download: boolean },
  caller: Presence,
) => Promise<Upgraded>;

/** What is done with checklists that a caller brings. Nothing of them is stored. */
export function checklistRoutes(access: Access, upgrade: UpgradeUpload): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();
  const large = access.with({ maxBody: maxChecklist, upload: true, expensive: true });

  const { middleware, ...route } = createRoute({
    method: 'post',
    path: '/api/v1/checklists/upgrade',
    operationId: 'upgradeChecklist',
    summary: 'Upgrade a checklist (ckl or cklb) to a release in the catalog and carry over its answers',
    tags: ['Checklists'],
    ...large.user,
    request: { query: upgradeQuery, body: jsonBody(upgradeBody) },
    responses: {
      200: {
        description:
          'The new checklist and a report on each of its rules. With download=true, only the checklist, as a file.',
        headers: { 'Content-Disposition': { ...downloadHeaders['Content-Disposition'], required: false } },
        content: {
          'application/json': { schema: ChecklistUpgrade.or(Cklb) },
          'application/xml': { schema: TextFile },
        },
      },
      404: problem(404),
    },
  });
  app.openAPIRegistry.registerPath(route);
  // Its body is read and checked in a thread.
  app.openapi({ ...route, middleware, request: { query: upgradeQuery }, hide: true }, async (c) => {
    const { download = false } = c.req.valid('query');
    const upload = { from: 'api', bytes: c.get('upload'), download } as const;
    const { bytes, file } = await upgrade(upload, c.get('record'));
    if (file === null) return answer(c, bytes, privateHeaders) as never;
    // What the old checklist says of itself counts more than the banner of this server.
    const named = fileHeaders(file.marking || c.get('banner'), file.name);
    return answer(c, bytes, { 'Content-Type': fileTypes[file.type], ...privateHeaders, ...named }) as never;
  });

  return app;
}
