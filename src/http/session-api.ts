import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { longestOwnToken, type OwnTokens as OwnTokenService } from '../auth/own-tokens.ts';
import { type Sessions, sessionCookie } from '../auth/sessions.ts';
import { lifetimeOf } from '../base/lifetime.ts';
import { isVisibleLine } from '../base/text.ts';
import type { Access } from './access.ts';
import type { Env } from './env.ts';
import { createRoutes } from './route.ts';
import { jsonContent, noStoreHeaders, notAnObject, requestText } from './schema.ts';

export type SessionCookie = ReturnType<typeof createSessionCookie>;

/** The session cookie (rule D1.7) and the attributes of all cookies; `secure` is for TLS ended by a proxy. */
export function createSessionCookie(secure: boolean) {
  const attributes = (c: Context<Env>) =>
    ({ httpOnly: true, sameSite: 'Strict', path: '/', secure: secure || c.get('record').secure }) as const;
  return {
    attributes,
    read: (c: Context<Env>): string | undefined => getCookie(c, sessionCookie),
    set: (c: Context<Env>, secret: string): void => setCookie(c, sessionCookie, secret, attributes(c)),
    clear: (c: Context<Env>): void => setCookie(c, sessionCookie, '', { ...attributes(c), maxAge: 0 }),
  };
}

/** A token that a user made for a script (rule D43.6). */
const OwnToken = z
  .strictObject({
    id: z.uuid(),
    name: z.string(),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
  })
  .openapi('OwnToken');

const OwnTokens = z.strictObject({ tokens: z.array(OwnToken) }).openapi('OwnTokens');

const NewOwnToken = z
  .strictObject({
    ...OwnToken.shape,
    token: z.string().openapi({ description: 'The token. It is shown only once.' }),
  })
  .openapi('NewOwnToken');

export const newOwnTokenBody = z
  .object(
    {
      name: requestText('name', 100)
        .refine(isVisibleLine, 'name must be one line, with a character that can be seen')
        .openapi({ description: 'What it is for.' }),
      ttl: z
        .string({ error: 'ttl is required and must be a text' })
        .refine((text) => {
          const seconds = lifetimeOf(text);
          return seconds !== null && seconds >= 1 && seconds <= longestOwnToken;
        }, 'ttl must be a number with s, m, h or d, from 1s to 30d')
        .openapi({ description: 'How long it is valid, as `8h` or `30d`; at most 30 days.', example: '8h' }),
    },
    notAnObject,
  )
  .openapi('OwnTokenRequest');

const ownTokenParams = z.object({ id: z.string().openapi({ description: 'The id of a token.' }) });

/** Sessions of browsers (rule D1.7) and, unless null, tokens that users make in a session (rule D43.6). */
export function sessionRoutes(
  access: Access,
  sessions: Sessions,
  cookie: SessionCookie,
  tokens: OwnTokenService | null,
  newId: () => string,
) {
  const { app, route } = createRoutes('Session');
  const setCookieHeader = { 'Set-Cookie': { required: true, schema: { type: 'string' as const } } };
  const noStore = { 'Cache-Control': 'no-store' };

  route('POST /api/v1/session', access.audited('session.create').maker, {
    operationId: 'createSession',
    summary: 'Start a session with a user token',
    description:
      'Sets the cookie `gapstone_session`. The session ends after 15 minutes without activity (a site may set 5 to 60), after 12 hours, or when the token expires.',
    status: 204,
    response: { description: 'The cookie is set.', headers: setCookieHeader },
    handle: async ({ user }, c) => {
      cookie.set(c, await sessions.start(user, cookie.read(c)));
      return c.body(null, 204, noStore);
    },
  });

  route('DELETE /api/v1/session', access.audited('session.end').session, {
    operationId: 'endSession',
    summary: 'End the session',
    status: 204,
    response: { description: 'Ended.', headers: setCookieHeader },
    handle: async (_, c) => {
      await sessions.end(cookie.read(c)!);
      cookie.clear(c);
      return c.body(null, 204, noStore);
    },
  });

  if (tokens === null) return app;
  route('GET /api/v1/session/tokens', access.session, {
    operationId: 'listOwnTokens',
    summary: 'List the tokens that you made, newest first',
    response: jsonContent(OwnTokens, 'Those that are valid now.'),
    handle: ({ user }) => ({ tokens: tokens.list(user) }),
  });

  route('POST /api/v1/session/tokens', access.audited('user-token.create').session, {
    operationId: 'createOwnToken',
    summary: 'Make a token for a script',
    description:
      'It stands for you, with your organization and permissions of now, wherever a user token is accepted; it makes no session and no token. At most 50 for each user.',
    body: newOwnTokenBody,
    status: 201,
    response: { ...jsonContent(NewOwnToken, 'The token, shown only once.'), headers: noStoreHeaders },
    location: ({ id }) => `/api/v1/session/tokens/${id}`,
    headers: noStore,
    handle: ({ user, body }) =>
      tokens.create(user, { id: newId(), name: body.name, lifetime: lifetimeOf(body.ttl)! }),
  });

  route('DELETE /api/v1/session/tokens/{id}', access.audited('user-token.revoke').session, {
    operationId: 'revokeOwnToken',
    summary: 'Revoke a token that you made',
    params: ownTokenParams,
    status: 204,
    response: { description: 'Revoked, from the next request on.' },
    handle: async ({ user, params }, c) => {
      await tokens.revoke(user, params.id);
      return c.body(null, 204, noStore);
    },
  });
  return app;
}
