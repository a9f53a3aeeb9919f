import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import type { Sessions } from '../auth/sessions.ts';
import type { Access } from './access.ts';
import type { Env } from './env.ts';
import { errors } from './schema.ts';
import type { SessionCookie } from './session-cookie.ts';

/** Sessions of browsers (rule D1.7). */
export function sessionRoutes(access: Access, sessions: Sessions, cookie: SessionCookie): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();
  const tags = ['Session'];
  const setCookie = { 'Set-Cookie': { required: true, schema: { type: 'string' as const } } };
  const noStore = { 'Cache-Control': 'no-store' };

  app.openapi(
    createRoute({
      method: 'post',
      path: '/api/v1/session',
      operationId: 'createSession',
      summary: 'Start a session with a user token',
      description:
        'Sets the cookie `gapstone_session`. The session ends after 15 minutes without activity, after 12 hours, or when the token expires.',
      tags,
      ...access.audited('session.create').userToken,
      responses: {
        204: { description: 'The cookie is set.', headers: setCookie },
        ...errors(400, 401, 403, 413, 503),
      },
    }),
    async (c) => {
      const secret = await sessions.start(c.get('user'), cookie.read(c));
      cookie.set(c, secret);
      return c.body(null, 204, noStore);
    },
  );

  app.openapi(
    createRoute({
      method: 'delete',
      path: '/api/v1/session',
      operationId: 'endSession',
      summary: 'End the session',
      tags,
      ...access.audited('session.end').session,
      responses: {
        204: { description: 'Ended.', headers: setCookie },
        ...errors(400, 401, 403, 413, 503),
      },
    }),
    async (c) => {
      await sessions.end(cookie.read(c)!);
      cookie.clear(c);
      return c.body(null, 204, noStore);
    },
  );

  return app;
}
