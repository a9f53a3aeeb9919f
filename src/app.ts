import { randomUUID } from 'node:crypto';
import { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { createAccess } from './auth/access.ts';
import { createIntegrationTokens } from './auth/integration-tokens.ts';
import { createSessions } from './auth/sessions.ts';
import type { VerifyUserToken } from './auth/tokens.ts';
import type { Database } from './db/database.ts';
import type { Env } from './env.ts';
import { AppError, badRequest, type ErrorCode, noSuchPath, statusOf } from './errors.ts';
import type { Log } from './log.ts';
import { identify, jsonBodies, logRequests, refuseBadEncoding } from './middleware.ts';
import { openApiDocument } from './openapi.ts';
import { controlCollectionRoutes } from './routes/control-collections.ts';
import { controlRulesRoutes } from './routes/control-rules.ts';
import { controlRoutes } from './routes/controls.ts';
import { cronRoutes } from './routes/cron.ts';
import { crosswalkRoutes } from './routes/crosswalk.ts';
import { favoriteRoutes } from './routes/favorites.ts';
import { listStigRoutes } from './routes/list-stigs.ts';
import { listRoutes } from './routes/lists.ts';
import { plantRoutes } from './routes/plants.ts';
import { regdocRoutes } from './routes/regdoc.ts';
import { roleMappingRoutes } from './routes/role-mapping.ts';
import { roleRoutes } from './routes/roles.ts';
import { searchRoutes } from './routes/search.ts';
import { type ServiceState, serviceRoutes } from './routes/service.ts';
import { sessionRoutes } from './routes/session.ts';
import { stigRoutes } from './routes/stigs.ts';
import type { ErrorBody } from './schemas/common.ts';
import {
  createDocumentCollectionService,
  createRoleCollectionService,
} from './services/catalog-collections.ts';
import { createControlCollectionService } from './services/control-collections.ts';
import { createControlRulesService } from './services/control-rules.ts';
import { createControlService } from './services/controls.ts';
import { createCrosswalkService } from './services/crosswalk.ts';
import { createExplainService } from './services/crosswalk-explain.ts';
import { createFavoriteService } from './services/favorites.ts';
import { createListStigService } from './services/list-stigs.ts';
import { createListService } from './services/lists.ts';
import { createPurgeService } from './services/purge.ts';
import { createRegdocService } from './services/regdoc.ts';
import { createRoleMappingService } from './services/role-mapping.ts';
import { createRoleService } from './services/roles.ts';
import { createSearchService } from './services/search.ts';
import { createStigNewsService } from './services/stig-news.ts';
import { createStigService } from './services/stigs.ts';

/** What an application is made of; nothing is taken from the environment or from a global. */
export interface AppDeps {
  db: Database;
  verify: VerifyUserToken;
  log: Log;
  now: () => Date;
  state: ServiceState;
  /** The secret of the purge endpoint, which is off without one (DECISIONS D8.5). */
  cronSecret?: string | null;
  /** Whether cookies are for TLS only. */
  secureCookies?: boolean;
  /** Whether the sample endpoint is there (DECISIONS D10). */
  plants?: boolean;
  /** Makes the ids of what users create. */
  newId?: () => string;
}

const maxBody = 1024 * 1024;

/** Builds the application: middleware in order, routes, error mapping, and the OpenAPI document made once. */
export function createApp(deps: AppDeps): OpenAPIHono<Env> {
  const { db, log, now, verify, cronSecret = null, secureCookies = false, newId = randomUUID } = deps;
  const sessions = createSessions(db, now, log);
  const integrationTokens = createIntegrationTokens(db, now);
  const input = [refuseBadEncoding, jsonBodies(maxBody)];
  const access = createAccess({ verify, sessions, integrationTokens, cronSecret, input });
  const app = new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (!result.success) throw badRequest(describe(result.error.issues[0]!));
    },
  });

  app.use(identify, logRequests(log));
  let document = '';
  app.route(
    '/',
    serviceRoutes(access, db, deps.state, () => document),
  );
  app.route('/', stigRoutes(access, createStigService(db), createStigNewsService(db, now)));
  app.route('/', controlRoutes(access, createControlService(db)));
  const crosswalk = createCrosswalkService(db);
  app.route('/', crosswalkRoutes(access, crosswalk, createExplainService(db, crosswalk)));
  app.route('/', searchRoutes(access, createSearchService(db, crosswalk)));
  app.route('/', controlRulesRoutes(access, createControlRulesService(db, crosswalk)));

  const listStigs = createListStigService(db, now, newId);
  app.route('/', listRoutes(access, createListService(db, now, newId), listStigs));
  app.route('/', listStigRoutes(access, listStigs));
  app.route('/', controlCollectionRoutes(access, createControlCollectionService(db, now, newId)));
  app.route('/', favoriteRoutes(access, createFavoriteService(db, now, newId)));
  const documentCollections = createDocumentCollectionService(db, now, newId);
  app.route('/', regdocRoutes(access, createRegdocService(db), documentCollections));
  const roleCollections = createRoleCollectionService(db, now, newId);
  app.route('/', roleRoutes(access, createRoleService(db), roleCollections));
  app.route('/', roleMappingRoutes(access, createRoleMappingService(db)));
  if (deps.plants ?? true) app.route('/', plantRoutes(access, toAppError));
  app.route('/', sessionRoutes(access, sessions, secureCookies));
  app.route('/', cronRoutes(access, createPurgeService(db, now)));

  document = openApiDocument(app);

  // Answered rather than thrown: what is thrown here would pass the log by.
  app.notFound((c) => {
    const methods = allowedMethods(app, c.req.path);
    if (methods.length === 0) return refusal(c, noSuchPath());
    const message = `${c.req.method.slice(0, 64)} is not allowed here`;
    return refusal(c, new AppError('METHOD_NOT_ALLOWED', message, { Allow: methods.join(', ') }));
  });

  app.onError((error, c) => {
    const failure = toAppError(error);
    if (failure.code === 'INTERNAL_ERROR') {
      log.error('request failed', { requestId: c.get('requestId'), error: error.stack ?? String(error) });
    }
    return refusal(c, failure);
  });

  return app;
}

/** An error in the form of DECISIONS D2.1. */
function refusal(c: Context<Env>, { code, message, headers }: AppError): Response {
  const body: ErrorBody = { error: { code, message, requestId: c.get('requestId') } };
  return c.json(body, statusOf[code] as ContentfulStatusCode, { ...headers, 'Cache-Control': 'no-store' });
}

function toAppError(error: Error): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof HTTPException && error.status === 400)
    return badRequest('The request body is not valid JSON');
  if ((error as { code?: string }).code?.startsWith('SQLITE_BUSY')) {
    return new AppError('UNAVAILABLE', 'The database is busy', { 'Retry-After': '5' });
  }
  return new AppError(
    'INTERNAL_ERROR' satisfies ErrorCode,
    'Something went wrong; the log knows more under the request id',
  );
}

/** The first problem of a request in words: the message of the schema, led by the field it is about. */
function describe(issue: { path: PropertyKey[]; message: string }): string {
  const field = issue.path.map(String).join('.').slice(0, 64);
  const first = String(issue.path[0] ?? '');
  const named =
    field === '' || issue.message.startsWith('Invalid format.') || issue.message.startsWith(first);
  return (named ? issue.message : `${field}: ${issue.message}`).slice(0, 300);
}

/** The methods that some route takes at a path, for `Allow`. */
function allowedMethods(app: OpenAPIHono<Env>, path: string): string[] {
  const methods = new Set<string>();
  for (const route of app.routes) {
    if (route.method === 'ALL') continue;
    const pattern = route.path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/:[A-Za-z]+|\{[^}]*\}/g, '[^/]+');
    if (new RegExp(`^${pattern}$`).test(path)) methods.add(route.method);
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}
