import { OpenAPIHono } from '@hono/zod-openapi';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { createOwnTokens } from '../auth/own-tokens.ts';
import { createSessions } from '../auth/sessions.ts';
import { AppError, noSuchPath } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { onDemand } from '../base/on-demand.ts';
import { cronRoutes } from '../collections/purge-api.ts';
import { storageFault } from '../db/faults.ts';
import type { Env } from '../http/env.ts';
import { refusal, toAppError, wantsPage } from '../http/error-answers.ts';
import { allowOrigins, securityHeaders } from '../http/headers.ts';
import { tooMany } from '../http/limits/limiter.ts';
import { decodedUrl, identify } from '../http/middleware.ts';
import { addressKey } from '../http/observe/record.ts';
import { ownTokenRoutes } from '../http/own-token-api.ts';
import { plantRoutes } from '../http/plants-api.ts';
import { malformed } from '../http/schema.ts';
import { serviceRoutes } from '../http/service-api.ts';
import { sessionRoutes } from '../http/session-api.ts';
import { createSessionAudit } from '../http/session-audit.ts';
import { createSessionCookie } from '../http/session-cookie.ts';
import { openApiDocument } from '../openapi.ts';
import { createServices } from '../services.ts';
import { createUploadWork } from '../site/checklists/uploads.ts';
import { createAssets } from '../site/parts/assets.ts';
import { askInline } from '../work/jobs.ts';
import { accessOf } from './access-rules.ts';
import { apiRoutes } from './api-routes.ts';
import type { Context } from './context.ts';
import { pageRoutes } from './pages.ts';
import { programRoutes } from './programs.ts';

/** Builds the application: middleware in order, routes, error mapping and the OpenAPI document. */
export function createApp(context: Context, services = createServices(context)): OpenAPIHono<Env> {
  const { audit, log, now, limiter, banner } = context;
  const { users, keyId, certificates } = context;
  const sessions = createSessions(users, now, log, {
    ...{ audit: createSessionAudit(audit.stream), keyId, certificates, idleMinutes: context.sessionIdle },
  });
  const ownTokens = context.selfTokens ? createOwnTokens(users, now, keyId, certificates) : null;
  const access = accessOf(context, sessions, ownTokens);
  const cookie = createSessionCookie(context.secureCookies);
  const ask = context.ask ?? askInline(context.catalog, services);
  const workOnUpload = createUploadWork(context.uploads, ask);
  const app = new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (!result.success) throw malformed(result.error, result.target === 'json');
    },
  });
  addMiddleware(app, context);

  // Made on the first request: it takes too long for a start.
  const document = onDemand(() => openApiDocument(app));
  const text = onDemand(() => JSON.stringify(document()));
  app.route('/', serviceRoutes(access, context.catalog, context.state, text, context.metrics));
  for (const routes of apiRoutes(access, services, ask, workOnUpload, now)) app.route('/', routes);
  if (context.plants) app.route('/', plantRoutes(access));
  app.route('/', sessionRoutes(access, sessions, cookie));
  if (ownTokens) app.route('/', ownTokenRoutes(access, ownTokens, context.newId));
  app.route('/', cronRoutes(access, services.purge));

  const refuse = (error: Error, requestId: string) => logged(log, error, requestId);
  if (context.mcp) programRoutes(app, access, ask, context, refuse);
  const pages = pageRoutes(
    {
      access: access.with({ form: true }),
      assets: createAssets(banner),
      ...{ ask, banner, now, sessions, cookie, workOnUpload, document, refuse, ownTokens, certificates },
      ...{ inbox: context.inbox, publicUrl: context.publicUrl, organization: context.organization },
      ...{ sessionIdle: context.sessionIdle, selfTokens: context.selfTokens, newId: context.newId },
    },
    services,
  );
  app.route('/', pages.app);

  /** The 404 of a path; below an unknown framework it is that of the framework, as everywhere. */
  function whyMissing(path: string): AppError {
    const [, framework] = /^\/api\/v1\/controls\/([^/]+)(?:\/[^/]+)?$/.exec(path) ?? [];
    if (framework === undefined) return noSuchPath();
    try {
      return services.controls.whyNoPath(decodedUrl(framework));
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  }

  // Returned, not thrown: the log would miss an error that is thrown here.
  app.notFound((c) => {
    const wait = limiter.take(addressKey(c.get('record').remote), false);
    if (wait > 0) return refusal(c, tooMany(wait));
    const why = whyMissing(c.req.path);
    return wantsPage(c) ? pages.refuse(c, why) : refusal(c, why);
  });
  app.onError((error, c) => refusal(c, refuse(error, c.get('requestId'))));
  return app;
}

function addMiddleware(app: OpenAPIHono<Env>, { observer, corsOrigins, banner }: Context): void {
  app.use(identify(observer));
  if (corsOrigins.length > 0) app.use(allowOrigins(corsOrigins));
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
  app.use(async (c, next) => {
    c.set('banner', banner);
    await next();
  });
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
