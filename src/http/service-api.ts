import { z } from '@hono/zod-openapi';
import { unavailable } from '../base/errors.ts';
import type { Database } from '../db/database.ts';
import type { Access } from './access.ts';
import type { OpenApi } from './openapi-types.ts';
import { createRoutes } from './route.ts';
import { jsonContent, noStoreHeaders, TextFile } from './schema.ts';

/** The answer of `/healthz` and `/readyz`: constant, without versions or paths. */
const Health = z.strictObject({ status: z.enum(['ok', 'ready']) }).openapi('Health');

/** The state of the running service. */
export interface ServiceState {
  /** True once the stop signal arrived: no new requests are accepted. */
  draining: boolean;
}

/** The routes of the service (rule D22). `document` gives the API description; null `metrics` leaves out `/metrics`. */
export function serviceRoutes(
  access: Access,
  db: Database,
  state: ServiceState,
  document: () => OpenApi,
  metrics: (() => Promise<string>) | null,
) {
  const { app, route } = createRoutes('Service');
  // Monitoring must get an answer even when callers are rate-limited.
  const watching = access.with({ unlimited: true }).public;
  const ok = { ...jsonContent(Health, 'Yes.'), headers: noStoreHeaders };
  const noStore = { 'Cache-Control': 'no-store' };

  route('GET /healthz', watching, {
    operationId: 'getHealth',
    summary: 'Check that the process is alive',
    response: ok,
    handle: (_, c) => c.json({ status: 'ok' as const }, 200, noStore),
  });

  route('GET /readyz', watching, {
    operationId: 'getReadiness',
    summary: 'Check that the database is open and the service accepts requests',
    response: ok,
    handle: (_, c) => {
      if (state.draining) throw unavailable('The service is stopping', 30);
      try {
        db.catalogVersion();
        db.requireInPlace();
      } catch {
        throw unavailable('The database cannot be read or written', 30);
      }
      return c.json({ status: 'ready' as const }, 200, noStore);
    },
  });

  route('GET /openapi.json', access.with({ cached: 'catalog' }).public, {
    operationId: 'getOpenApi',
    summary: 'Get this API description (OpenAPI 3.1)',
    response: jsonContent(z.record(z.string(), z.unknown()), 'The document.'),
    handle: () => ({ ...document() }),
  });

  if (metrics) {
    route('GET /metrics', watching, {
      operationId: 'getMetrics',
      summary: 'Get metrics in the Prometheus text format',
      response: {
        description: 'The metrics.',
        headers: noStoreHeaders,
        content: { 'text/plain': { schema: TextFile } },
      },
      handle: async (_, c) =>
        c.text(await metrics(), 200, {
          'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
          ...noStore,
        }),
    });
  }

  return app;
}
