import { OpenAPIHono } from '@hono/zod-openapi';
import type { Context as HonoContext } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { Audit } from '../audit/audited-action.ts';
import { createIntegrationTokens } from '../auth/integration-tokens.ts';
import { createSessions, type Sessions } from '../auth/sessions.ts';
import type { VerifyUserToken } from '../auth/tokens.ts';
import { AppError, noSuchPath } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { cronRoutes } from '../collections/purge-api.ts';
import type { Database } from '../db/database.ts';
import { storageFault } from '../db/faults.ts';
import { type Access, createAccess } from '../http/access.ts';
import { createRequestAudit } from '../http/audited.ts';
import type { Answers } from '../http/cache/answers.ts';
import { keepAnswers } from '../http/cache/keep.ts';
import type { Env } from '../http/env.ts';
import { refusal, toAppError, wantsPage } from '../http/error-answers.ts';
import { takeForm } from '../http/form.ts';
import { allowOrigins, securityHeaders } from '../http/headers.ts';
import { bodyLimits, createBodyBudget, uploadBodyLimits } from '../http/limits/bodies.ts';
import type { ConcurrencyLimit } from '../http/limits/concurrency.ts';
import { type Limiter, type Rejection, tooMany } from '../http/limits/limiter.ts';
import {
  decodedUrl,
  identify,
  limitConcurrency,
  readBodies,
  refuseBadEncoding,
  takeJson,
  takeMessage,
  takeUpload,
} from '../http/middleware.ts';
import type { Observer } from '../http/observe/observer.ts';
import { addressKey } from '../http/observe/record.ts';
import { plantRoutes } from '../http/plants-api.ts';
import type { RouteOptions } from '../http/rule.ts';
import { malformed } from '../http/schema.ts';
import { type ServiceState, serviceRoutes } from '../http/service-api.ts';
import { sessionRoutes } from '../http/session-api.ts';
import { createSessionAudit } from '../http/session-audit.ts';
import { createSessionCookie } from '../http/session-cookie.ts';
import { openApiDocument } from '../openapi.ts';
import { createServices } from '../services.ts';
import { createUploadWork, type Uploads } from '../site/checklists/uploads.ts';
import { createAssets } from '../site/parts/assets.ts';
import { apiRoutes } from './api-routes.ts';
import { pageRoutes } from './pages.ts';
import { programRoutes } from './programs.ts';

export interface Context {
  catalog: Database;
  users: Database;
  audit: Audit;
  log: Log;
  now: () => Date;
  newId: () => string;
  verify: VerifyUserToken;
  /** The key id of the local issuer: a session ends when this key changes. */
  keyId: () => Promise<string>;
  state: ServiceState;
  observer: Observer;
  /** Gives the text of `/metrics`; null disables the endpoint. */
  metrics: (() => Promise<string>) | null;
  /** The cache of answers as bytes; null disables it. */
  answers: Answers | null;
  /** Limits for each caller, and on concurrent work. Uploads have limits of their own. */
  limiter: Limiter;
  concurrency: ConcurrencyLimit;
  uploadConcurrency: (bytes: number) => ConcurrencyLimit;
  /** Counts a request that the service rejected because a limit was reached. */
  rejected: (why: Rejection) => void;
  /** Reads uploads in a thread; the caller of `createApp` ends that thread. */
  uploads: Uploads;
  /** The secret of the purge endpoint; null disables the endpoint (rule D8.5). */
  cronSecret: string | null;
  /** Whether cookies are always `Secure`, even on a plain HTTP request. */
  secureCookies: boolean;
  /** Bytes that a body may have on most routes (D2.3). */
  maxBody: number;
  corsOrigins: readonly string[];
  /** The address that the server listens on, and the origin under which others reach it. */
  host: string;
  publicUrl: string | null;
  /** Whether `/mcp` exists (rule D41.1). */
  mcp: boolean;
  /** Whether the sample endpoint exists (rule D10). */
  plants: boolean;
  /** The import folder, which pages name (rule D33). */
  inbox: string | null;
  banner: string | null;
}

/** Builds the application: middleware in order, routes, error mapping and the OpenAPI document. */
export function createApp(context: Context): OpenAPIHono<Env> {
  const { audit, log, now, limiter, banner } = context;
  const services = createServices(context);
  const sessions = createSessions(context.users, now, log, createSessionAudit(audit.stream), context.keyId);
  const access = accessOf(context, sessions);
  const cookie = createSessionCookie(context.secureCookies);
  const workOnUpload = createUploadWork(context.uploads, services);
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
  for (const routes of apiRoutes(access, services, workOnUpload, now)) app.route('/', routes);
  if (context.plants) app.route('/', plantRoutes(access));
  app.route('/', sessionRoutes(access, sessions, cookie));
  app.route('/', cronRoutes(access, services.purge));

  const refuse = (error: Error, requestId: string) => logged(log, error, requestId);
  if (context.mcp) programRoutes(app, access, services, context, refuse);
  const pages = pageRoutes(
    {
      access: access.with({ form: true }),
      assets: createAssets(banner),
      ...{ banner, now, sessions, cookie, workOnUpload, document, refuse },
      inbox: context.inbox,
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

function accessOf(context: Context, sessions: Sessions): Access {
  const { users, audit, now, answers, maxBody } = context;
  const bodies = createBodyBudget(bodyLimits(maxBody), context.rejected);
  const uploadBodies = createBodyBudget(uploadBodyLimits, context.rejected);
  const limitOfUpload = (c: HonoContext<Env>) => context.uploadConcurrency(c.get('upload').byteLength);
  const input = (options: RouteOptions, name: string) => {
    const { upload, form, message, expensive } = options;
    const take = upload ? takeUpload : form ? takeForm : message ? takeMessage : takeJson;
    return [
      refuseBadEncoding,
      readBodies(options.maxBody ?? maxBody, upload ? uploadBodies : bodies, take),
      ...(options.unlimited
        ? []
        : [limitConcurrency(upload ? limitOfUpload : () => context.concurrency, expensive)]),
      ...(answers && options.kept ? [keepAnswers(answers, options, name)] : []),
    ];
  };
  return createAccess({
    ...context,
    sessions,
    integrationTokens: createIntegrationTokens(users, now),
    audit: createRequestAudit(audit, now),
    input,
  });
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

function onDemand<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
