import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi';
import { AppError } from '../base/errors.ts';
import type { JsonText } from '../base/json.ts';
import type { Database } from '../db/database.ts';
import type { Access } from './access.ts';
import { answerText, publicHeaders } from './answer.ts';
import type { Env } from './env.ts';
import { errors, jsonContent, notKept, TextFile } from './schema.ts';
import { Health } from './service-schema.ts';

/** What the service is asked about itself while it runs. */
export interface ServiceState {
  /** True from the signal to stop on: no new work is taken. */
  draining: boolean;
}

/**
 * `/healthz`, `/readyz`, `/metrics` and `/openapi.json` (rule D22); `document` gives the text of the last, `metrics`
 * that of the one before, which is not there without.
 */
export function serviceRoutes(
  access: Access,
  db: Database,
  state: ServiceState,
  document: () => JsonText<never>,
  metrics: (() => Promise<string>) | null,
): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();
  // Who watches the service must get an answer when callers no longer do.
  const watching = access.with({ unlimited: true }).public;
  const tags = ['Service'];
  const ok = { ...jsonContent(Health, 'Yes.'), headers: notKept };
  const noStore = { 'Cache-Control': 'no-store' };

  app.openapi(
    createRoute({
      method: 'get',
      path: '/healthz',
      operationId: 'getHealth',
      summary: 'Check that the process is alive',
      tags,
      ...watching,
      responses: { 200: ok, ...errors(400) },
    }),
    (c) => c.json({ status: 'ok' as const }, 200, noStore),
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/readyz',
      operationId: 'getReadiness',
      summary: 'Check that the database is open and the service accepts requests',
      tags,
      ...watching,
      responses: { 200: ok, ...errors(400, 503) },
    }),
    (c) => {
      if (state.draining)
        throw new AppError('UNAVAILABLE', 'The service is stopping', { 'Retry-After': '30' });
      try {
        db.generation();
        db.requireInPlace();
      } catch {
        throw new AppError('UNAVAILABLE', 'The database cannot be read or written', { 'Retry-After': '30' });
      }
      return c.json({ status: 'ready' as const }, 200, noStore);
    },
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/openapi.json',
      operationId: 'getOpenApi',
      summary: 'Get this API description (OpenAPI 3.1)',
      tags,
      ...access.public,
      responses: { 200: jsonContent(z.record(z.string(), z.unknown()), 'The document.'), ...errors(400) },
    }),
    (c) => answerText(c, document(), publicHeaders),
  );

  if (metrics) {
    app.openapi(
      createRoute({
        method: 'get',
        path: '/metrics',
        operationId: 'getMetrics',
        summary: 'Get metrics in the Prometheus text format',
        tags,
        ...watching,
        responses: {
          200: {
            description: 'The metrics.',
            headers: notKept,
            content: { 'text/plain': { schema: TextFile } },
          },
          ...errors(400),
        },
      }),
      async (c) =>
        c.text(await metrics(), 200, {
          'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
          ...noStore,
        }),
    );
  }

  return app;
}
