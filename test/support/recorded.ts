import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Env } from '../../src/http/env.ts';
import { beginRecord, type Observer } from '../../src/http/record.ts';

/** The application; the record of a request that comes without one begins and ends as a server's does. */
export function recorded(app: OpenAPIHono<Env>, observer: Observer): OpenAPIHono<Env> {
  const { fetch } = app;
  app.fetch = async (request, env, ...more) => {
    if ((env as Env['Bindings'] | undefined)?.record) return fetch(request, env, ...more);
    const arrival = { method: request.method, remote: '', secure: false };
    const record = beginRecord(arrival, (name) => request.headers.get(name) ?? undefined);
    const response = await fetch(request, { record }, ...more);
    const length = response.headers.get('Content-Length');
    observer.end(record, response.status, length === null ? null : Number(length));
    return response;
  };
  return app;
}
