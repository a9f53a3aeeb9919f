import type { OwnTokens as Service } from '../auth/own-tokens.ts';
import { lifetimeOf } from '../base/lifetime.ts';
import type { Access } from './access.ts';
import { NewOwnToken, newOwnTokenBody, OwnTokens, ownTokenParams } from './own-token-schema.ts';
import { createRoutes } from './route.ts';
import { jsonContent, notKept } from './schema.ts';

/** Tokens that users make for their scripts, in a session (rule D43.6). */
export function ownTokenRoutes(access: Access, tokens: Service, newId: () => string) {
  const { app, route } = createRoutes('Session');

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
    response: { ...jsonContent(NewOwnToken, 'The token, shown only once.'), headers: notKept },
    location: ({ id }) => `/api/v1/session/tokens/${id}`,
    headers: { 'Cache-Control': 'no-store' },
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
      return c.body(null, 204, { 'Cache-Control': 'no-store' });
    },
  });

  return app;
}
