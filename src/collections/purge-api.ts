import { z } from '@hono/zod-openapi';
import type { Access } from '../http/access.ts';
import { createRoutes } from '../http/route.ts';
import { jsonContent, noStoreHeaders } from '../http/schema.ts';
import type { PurgeService } from './retention.ts';

const Purged = z.strictObject({ success: z.literal(true), purged: z.int() }).openapi('Purged');

/** The purge of deleted lists, for a scheduler (rule D8.5); a 404 while no cron secret is set. */
export function cronRoutes(access: Access, purges: PurgeService) {
  const { app, route } = createRoutes('Service');

  for (const method of ['GET', 'POST'] as const) {
    route(`${method} /api/cron/purge-deleted-lists`, access.audited('deleted-lists.purge').cron, {
      operationId: method === 'POST' ? 'purgeDeletedLists' : 'purgeDeletedListsByGet',
      summary: 'Remove permanently what was deleted more than 30 days ago',
      response: { ...jsonContent(Purged, 'How many lists were removed.'), headers: noStoreHeaders },
      notFound: true,
      handle: async (_, c) =>
        c.json({ success: true, purged: await purges.purge() }, 200, { 'Cache-Control': 'no-store' }),
    });
  }

  return app;
}
