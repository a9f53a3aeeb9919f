import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import type { Access } from '../http/access.ts';
import type { Env } from '../http/env.ts';
import { errors, jsonContent, notKept } from '../http/schema.ts';
import { Purged } from '../http/service-schema.ts';
import type { PurgeService } from './purge.ts';

/** The purge of deleted lists, for a scheduler (rule D8.5); a 404 while no cron secret is set. */
export function cronRoutes(access: Access, purges: PurgeService): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();

  for (const method of ['get', 'post'] as const) {
    app.openapi(
      createRoute({
        method,
        path: '/api/cron/purge-deleted-lists',
        operationId: method === 'post' ? 'purgeDeletedLists' : 'purgeDeletedListsByGet',
        summary: 'Remove permanently what was deleted more than 30 days ago',
        tags: ['Service'],
        ...access.audited('deleted-lists.purge').cron,
        responses: {
          200: { ...jsonContent(Purged, 'How many lists were removed.'), headers: notKept },
          ...errors(400, 401, 404, 503),
          ...(method === 'post' ? errors(413) : {}),
        },
      }),
      async (c) =>
        c.json({ success: true as const, purged: await purges.purge() }, 200, {
          'Cache-Control': 'no-store',
        }),
    );
  }

  return app;
}
