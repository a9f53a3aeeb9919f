import { OpenAPIHono } from '@hono/zod-openapi';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { routePath } from 'hono/route';
import { createIntegrationTokens } from '../auth/integration-tokens.ts';
import { createOwnTokens, ownPrefix } from '../auth/own-tokens.ts';
import { createSessions } from '../auth/sessions.ts';
import { AppError, noSuchPath } from '../base/errors.ts';
import { storageFault } from '../base/faults.ts';
import type { Log } from '../base/log.ts';
import { cronRoutes } from '../collections/purge-api.ts';
import { createAccess } from '../http/access.ts';
import { createAnswerRequest } from '../http/answer-request.ts';
import { createRequestAudit } from '../http/audited.ts';
import type { Env } from '../http/env.ts';
import { refusal, toAppError, wantsPage } from '../http/error-answers.ts';
import { allowOrigins, commonHeaders, securityHeaders } from '../http/headers.ts';
import { tooMany } from '../http/limits.ts';
import type { OpenApi } from '../http/openapi-types.ts';
import { plantRoutes } from '../http/plants-api.ts';
import { addressKey, currentRecord } from '../http/record.ts';
import { malformed } from '../http/schema.ts';
import { serviceRoutes } from '../http/service-api.ts';
import { createSessionCookie, sessionRoutes } from '../http/session-api.ts';
import { openApiDocument } from '../openapi.ts';
import { createUploadWork } from '../pages/checklists/uploads.ts';
import { createAssets } from '../pages/parts/assets.ts';
import { createServices } from '../services.ts';
import { apiRoutes } from './api-routes.ts';
import type { Context } from './context.ts';
import { pageRoutes } from './pages.ts';
import { programRoutes } from './programs.ts';

/** Builds the application: middleware in order, routes, error mapping and the OpenAPI document. */
export function createApp(context: Context, services = createServices(context)): OpenAPIHono<Env> {
  const { audit, log, now, limiter, banner, users, keyId, certificates } = context;
  const sessions = createSessions(users, now, log, {
    audit: audit.stream,
    keyId,
    certificates,
    idleMinutes: context.sessionIdle,
  });
  const ownTokens = context.selfTokens ? createOwnTokens(users, now, keyId, certificates) : null;
  const access = createAccess({
    ...context,
    // They are never kept as verified: one that is revoked counts no more from the next request on.
    verify: (token, address) =>
      token.startsWith(ownPrefix) && ownTokens ? ownTokens.find(token) : context.verify(token, address),
    sessions,
    integrationTokens: createIntegrationTokens(users, now),
    audit: createRequestAudit(audit, now),
    answerRequest: createAnswerRequest(context),
  });
  const cookie = createSessionCookie(context.secureCookies);
  const ask = context.askWith(services);
  const uploads = createUploadWork(context.uploads, ask);
  const app = new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (!result.success) throw malformed(result.error, result.target === 'json');
    },
  });
  app.use(async (c, next) => {
    const { record } = c.env;
    c.set('record', record);
    c.set('requestId', record.requestId);
    c.set('banner', banner);
    await currentRecord.run(record, next);
    // The matched route is known only after the handler.
    const path = routePath(c);
    record.route = path.endsWith('*') ? null : path;
    const { headers } = c.res;
    headers.set('X-Request-Id', record.requestId);
    for (const [name, value] of Object.entries(commonHeaders(record.secure)))
      if (!headers.has(name)) headers.set(name, value);
  });
  if (context.corsOrigins.length > 0) app.use(allowOrigins(context.corsOrigins));
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed(c, methods) {
        // Hono passes on the headers of the 404, which may have been a page.
        for (const name of ['Cache-Control', ...Object.keys(securityHeaders)]) c.res.headers.delete(name);
        const message = `${c.req.method.slice(0, 64)} is not allowed here`;
        return refusal(c, new AppError('METHOD_NOT_ALLOWED', message, { Allow: methods.sort().join(', ') }));
      },
    }),
  );

  // Made on the first request: it takes too long for a start.
  let described: OpenApi | undefined;
  const document = () => (described ??= openApiDocument(app));
  app.route('/', serviceRoutes(access, context.catalog, context.state, document, context.metrics));
  for (const routes of apiRoutes(access, services, ask, uploads.ofApi)) app.route('/', routes);
  if (context.plants) app.route('/', plantRoutes(access));
  app.route('/', sessionRoutes(access, sessions, cookie, ownTokens, context.newId));
  app.route('/', cronRoutes(access, services.purge));

  const refuse = (error: Error, requestId: string) => logged(log, error, requestId);
  if (context.mcp) programRoutes(app, access, ask, context, refuse);
  const pages = pageRoutes(
    {
      ...context,
      access: access.with({ form: true }),
      assets: createAssets(banner),
      ask,
      sessions,
      cookie,
      uploads,
      document,
      refuse,
      ownTokens,
    },
    services,
  );
  app.route('/', pages.app);

  // Returned, not thrown: the log would miss an error that is thrown here.
  app.notFound((c) => {
    const wait = limiter.take(addressKey(c.get('record').remote), false);
    if (wait > 0) return refusal(c, tooMany(wait));
    return wantsPage(c) ? pages.refuse(c, noSuchPath()) : refusal(c, noSuchPath());
  });
  app.onError((error, c) => refusal(c, refuse(error, c.get('requestId'))));
  return app;
}

/** Maps an error to the one that the caller gets, and logs faults of the service. */
function logged(log: Log, error: Error, requestId: string): AppError {
  const failure = toAppError(error);
  const fault = storageFault(error);
  if (fault !== null && failure.code === 'UNAVAILABLE' && fault !== 'busy') {
    const { code } = error as { code?: string };
    log.error('the database is not available', { requestId, fault, code });
  }
  if (failure.code === 'INTERNAL_ERROR')
    log.error('request failed', { requestId, error: error.stack ?? String(error) });
  return failure;
}
