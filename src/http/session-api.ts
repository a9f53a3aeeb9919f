import type { Sessions } from '../auth/sessions.ts';
import type { Access } from './access.ts';
import { createRoutes } from './route.ts';
import type { SessionCookie } from './session-cookie.ts';

/** Sessions of browsers (rule D1.7). */
export function sessionRoutes(access: Access, sessions: Sessions, cookie: SessionCookie) {
  const { app, route } = createRoutes('Session');
  const setCookie = { 'Set-Cookie': { required: true, schema: { type: 'string' as const } } };
  const noStore = { 'Cache-Control': 'no-store' };

  route('POST /api/v1/session', access.audited('session.create').maker, {
    operationId: 'createSession',
    summary: 'Start a session with a user token',
    description:
      'Sets the cookie `gapstone_session`. The session ends after 15 minutes without activity (a site may set 5 to 60), after 12 hours, or when the token expires.',
    status: 204,
    response: { description: 'The cookie is set.', headers: setCookie },
    handle: async ({ user }, c) => {
      const secret = await sessions.start(user, cookie.read(c));
      cookie.set(c, secret);
      return c.body(null, 204, noStore);
    },
  });

  route('DELETE /api/v1/session', access.audited('session.end').session, {
    operationId: 'endSession',
    summary: 'End the session',
    status: 204,
    response: { description: 'Ended.', headers: setCookie },
    handle: async (_, c) => {
      await sessions.end(cookie.read(c)!);
      cookie.clear(c);
      return c.body(null, 204, noStore);
    },
  });

  return app;
}
