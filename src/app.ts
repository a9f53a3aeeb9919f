import { randomUUID } from 'node:crypto';
import { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { type AuditStream, silentAudit } from './audit/stream.ts';
import { createTrail } from './audit/trail.ts';
import { createIntegrationTokens } from './auth/integration-tokens.ts';
import { createSessions } from './auth/sessions.ts';
import type { VerifyUserToken } from './auth/tokens.ts';
import { AppError, badRequest, type ErrorCode, noSuchPath, statusOf } from './base/errors.ts';
import type { Log } from './base/log.ts';
import { controlRoutes } from './catalog/controls/api.ts';
import { createControlService } from './catalog/controls/queries.ts';
import { crosswalkRoutes } from './catalog/crosswalk/api.ts';
import { createControlRulesService } from './catalog/crosswalk/control-rules.ts';
import { controlRulesRoutes } from './catalog/crosswalk/control-rules-api.ts';
import { createExplainService } from './catalog/crosswalk/explain.ts';
import { createCrosswalkService } from './catalog/crosswalk/queries.ts';
import { createRegdocService } from './catalog/guidance/documents.ts';
import { createRoleMappingService } from './catalog/guidance/role-mapping.ts';
import { roleMappingRoutes } from './catalog/guidance/role-mapping-api.ts';
import { createRoleService } from './catalog/guidance/roles.ts';
import { createLedgerService } from './catalog/ledger.ts';
import { searchRoutes } from './catalog/search/api.ts';
import { createSearchService } from './catalog/search/queries.ts';
import { stigRoutes } from './catalog/stigs/api.ts';
import { createStigDiffService } from './catalog/stigs/diff.ts';
import { stigDiffRoutes } from './catalog/stigs/diff-api.ts';
import { createStigNames } from './catalog/stigs/names.ts';
import { createStigNewsService } from './catalog/stigs/news.ts';
import { createStigService } from './catalog/stigs/queries.ts';
import { checklistRoutes } from './checklists/api.ts';
import {
  createDocumentCollectionService,
  createRoleCollectionService,
} from './collections/catalog-collections.ts';
import { createControlCollectionService } from './collections/control-collections.ts';
import { controlCollectionRoutes } from './collections/control-collections-api.ts';
import { regdocRoutes } from './collections/documents-api.ts';
import { createFavoriteService } from './collections/favorites.ts';
import { favoriteRoutes } from './collections/favorites-api.ts';
import { createListStigService } from './collections/list-stigs.ts';
import { listStigRoutes } from './collections/list-stigs-api.ts';
import { createListService } from './collections/lists.ts';
import { listRoutes } from './collections/lists-api.ts';
import { createPurgeService } from './collections/purge.ts';
import { cronRoutes } from './collections/purge-api.ts';
import { roleRoutes } from './collections/roles-api.ts';
import type { Database } from './db/database.ts';
import { type StorageFault, storageFault } from './db/faults.ts';
import { createAccess, type RouteOptions } from './http/access.ts';
import { auditCallers } from './http/audited.ts';
import type { Answers } from './http/cache/answers.ts';
import type { Env } from './http/env.ts';
import { takeForm } from './http/form-body.ts';
import { createCors } from './http/headers.ts';
import { bodyLimits, createBodyBudget, uploadBodyLimits } from './http/limits/bodies.ts';
import { createGate, type Gate, uploadGateLimits } from './http/limits/gate.ts';
import { type Limiter, type Rejection, tooMany, unlimited } from './http/limits/limiter.ts';
import {
  identify,
  keepAnswers,
  passGate,
  readBodies,
  refuseBadEncoding,
  takeJson,
  takeUpload,
} from './http/middleware.ts';
import { addressKey } from './http/observe/exchange.ts';
import { createObserver, type Observer } from './http/observe/observer.ts';
import { plantRoutes } from './http/plants-api.ts';
import { describeIssue, type ErrorBody } from './http/schema.ts';
import { type ServiceState, serviceRoutes } from './http/service-api.ts';
import { sessionRoutes } from './http/session-api.ts';
import { createSessionCookie } from './http/session-cookie.ts';
import { openApiDocument } from './openapi.ts';
import { createAssets } from './site/html/assets.ts';
import { pageRoutes } from './site/pages.ts';
import { createUpgrade, createUploads, type Uploads } from './site/uploads.ts';

/** What an application is made of; nothing is taken from the environment or from a global. */
export interface AppDeps {
  db: Database;
  verify: VerifyUserToken;
  log: Log;
  now: () => Date;
  state: ServiceState;
  /** Where it is told who did what; silent by default. */
  audit?: AuditStream;
  /** The secret of the purge endpoint, which is off without one (DECISIONS D8.5). */
  cronSecret?: string | null;
  /** Whether cookies are for TLS only, however a request came. */
  secureCookies?: boolean;
  /** How often callers may come; without one, as often as they like. */
  limiter?: Limiter;
  /** How much is made for them at once. */
  gate?: Gate;
  /** The same for uploads. */
  uploadGate?: Gate;
  /** Reads uploads in a thread, which whoever gives it ends. */
  uploads?: Uploads;
  /** Told of what was turned away for want of room. */
  rejected?: (why: Rejection) => void;
  /** Sees every request that is over; without one, they are logged. */
  observer?: Observer;
  /** Gives the text of `/metrics`, which is not there without. */
  metrics?: (() => string) | null;
  /** Answers that are kept as bytes; without, every one is made anew. */
  answers?: Answers;
  /** Bytes that a body may have on most routes (D2.3). */
  maxBody?: number;
  /** The origins whose scripts may read answers. */
  corsOrigins?: readonly string[];
  /** Whether the sample endpoint is there (DECISIONS D10). */
  plants?: boolean;
  /** The classification that pages show and exports are marked with. */
  banner?: string | null;
  /** Makes the ids of what users create. */
  newId?: () => string;
}

const defaultMaxBody = 1024 * 1024;

/** Builds the application: middleware in order, routes, error mapping, and the OpenAPI document. */
export function createApp(deps: AppDeps): OpenAPIHono<Env> {
  const {
    db,
    log,
    now,
    verify,
    cronSecret = null,
    secureCookies = false,
    banner = null,
    audit = silentAudit,
    newId = randomUUID,
  } = deps;
  const sessions = createSessions(db, now, log, audit);
  const integrationTokens = createIntegrationTokens(db, now);
  const trail = createTrail(audit, db);
  const { limiter = unlimited, gate = createGate(), observer = createObserver(log) } = deps;
  const { uploadGate = createGate(uploadGateLimits), uploads = createUploads(log) } = deps;
  const maxBody = deps.maxBody ?? defaultMaxBody;
  const bodies = createBodyBudget(bodyLimits(maxBody), deps.rejected);
  const uploadBodies = createBodyBudget(uploadBodyLimits, deps.rejected);
  const inputBy = (take: typeof takeJson) => (options: RouteOptions, name: string) => {
    const { upload, expensive, unlimited: free, kept } = options;
    return [
      refuseBadEncoding,
      readBodies(options.maxBody ?? maxBody, upload ? uploadBodies : bodies, upload ? takeUpload : take),
      ...(free ? [] : [passGate(upload ? uploadGate : gate, expensive)]),
      ...(deps.answers && kept ? [keepAnswers(deps.answers, kept, name, expensive)] : []),
    ];
  };
  const callers = { verify, sessions, integrationTokens, cronSecret, limiter, trail };
  const access = createAccess({ ...callers, input: inputBy(takeJson) });
  // What these routes answer to GET is kept as bytes while nothing changes that it depends on.
  const ofCatalog = access.with({ kept: 'catalog' });
  const ofUsers = access.with({ kept: 'users' });
  const cookie = createSessionCookie(secureCookies);
  const app = new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (!result.success) throw badRequest(describeIssue(result.error.issues[0]!));
    },
  });

  app.use(identify(observer, createCors(deps.corsOrigins ?? [])), auditCallers(audit, now));
  app.use(async (c, next) => {
    c.set('banner', banner);
    await next();
  });
  // Made when somebody asks for it: that takes a while, and a start must not.
  let made: string | null = null;
  const document = () => (made ??= openApiDocument(app));
  app.route('/', serviceRoutes(access, db, deps.state, document, deps.metrics ?? null));
  const stigs = createStigService(db);
  const news = createStigNewsService(db, now);
  app.route('/', stigRoutes(ofCatalog, stigs, news));
  const stigDiff = createStigDiffService(db, stigs);
  app.route('/', stigDiffRoutes(ofCatalog, stigDiff));
  const upgrade = createUpgrade(uploads, stigs, createStigNames(db));
  app.route('/', checklistRoutes(access, upgrade));
  const controls = createControlService(db);
  app.route('/', controlRoutes(ofCatalog, controls));
  const crosswalk = createCrosswalkService(db);
  app.route('/', crosswalkRoutes(ofCatalog, crosswalk, createExplainService(db, crosswalk)));
  const search = createSearchService(db, crosswalk);
  app.route('/', searchRoutes(ofCatalog, search));
  const controlRules = createControlRulesService(db, crosswalk);
  app.route('/', controlRulesRoutes(ofCatalog, controlRules));

  const lists = createListService(db, now, newId);
  const listStigs = createListStigService(db, now, newId);
  app.route('/', listRoutes(ofUsers, lists, listStigs));
  app.route('/', listStigRoutes(ofUsers, listStigs));
  const collections = createControlCollectionService(db, now, newId);
  app.route('/', controlCollectionRoutes(ofUsers, collections));
  const favorites = createFavoriteService(db, now, newId);
  app.route('/', favoriteRoutes(ofUsers, favorites));
  const documents = createRegdocService(db);
  const documentCollections = createDocumentCollectionService(db, now, newId);
  app.route('/', regdocRoutes(ofUsers, documents, documentCollections));
  const roles = createRoleService(db);
  const roleCollections = createRoleCollectionService(db, now, newId);
  app.route('/', roleRoutes(ofUsers, roles, roleCollections));
  const roleMapping = createRoleMappingService(db);
  app.route('/', roleMappingRoutes(access, roleMapping));
  if (deps.plants ?? true) app.route('/', plantRoutes(access, toAppError));
  app.route('/', sessionRoutes(access, sessions, cookie));
  app.route('/', cronRoutes(access, createPurgeService(db, now)));

  const pages = pageRoutes({
    access: createAccess({ ...callers, input: inputBy(takeForm) }),
    assets: createAssets(),
    banner,
    sessions,
    cookie,
    stigs,
    stigDiff,
    upgrade,
    news,
    controls,
    crosswalk,
    search,
    controlRules,
    lists,
    listStigs,
    collections,
    favorites,
    documents,
    documentCollections,
    roles,
    roleCollections,
    roleMapping,
    ledger: createLedgerService(db),
    document,
    refuse,
  });
  app.route('/', pages.app);

  // Answered rather than thrown: what is thrown here would pass the log by.
  app.notFound((c) => {
    const wait = limiter.take(addressKey(c.get('exchange').remote), false);
    if (wait > 0) return refusal(c, tooMany(wait));
    const methods = allowedMethods(app, c.req.path);
    if (methods.length === 0) return wantsPage(c) ? pages.refuse(c, noSuchPath()) : refusal(c, noSuchPath());
    const message = `${c.req.method.slice(0, 64)} is not allowed here`;
    return refusal(c, new AppError('METHOD_NOT_ALLOWED', message, { Allow: methods.join(', ') }));
  });

  /** What an error is to the caller; the log is told of one that is ours. */
  function refuse(error: Error, requestId: string): AppError {
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

  app.onError((error, c) => refusal(c, refuse(error, c.get('requestId'))));

  return app;
}

/** Whether a browser looks for a page: everything else, and all that is under `/api/`, gets errors as JSON. */
function wantsPage(c: Context<Env>): boolean {
  return !c.req.path.startsWith('/api/') && /\btext\/html\b/.test(c.req.header('Accept') ?? '');
}

/** An error in the form of DECISIONS D2.1. */
function refusal(c: Context<Env>, { code, message, headers }: AppError): Response {
  const body: ErrorBody = { error: { code, message, requestId: c.get('requestId') } };
  const text = JSON.stringify(body);
  return c.body(text, statusOf[code] as ContentfulStatusCode, {
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(text)),
    'Cache-Control': 'no-store',
  });
}

/** What a caller is told, and after how many seconds to try again, when the storage fails; a damaged file is a 500. */
const unavailable: Partial<Record<StorageFault, [string, string]>> = {
  busy: ['The database is busy. Try again', '5'],
  full: ['Changes cannot be saved now: the disk is full', '30'],
  readonly: ['Changes cannot be saved now', '30'],
  io: ['The database cannot be read or written', '30'],
};

function toAppError(error: Error): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof HTTPException && error.status === 400)
    return badRequest('The request body is not valid JSON');
  const fault = storageFault(error);
  const answer = fault === null ? undefined : unavailable[fault];
  if (answer) return new AppError('UNAVAILABLE', answer[0], { 'Retry-After': answer[1] });
  return new AppError(
    'INTERNAL_ERROR' satisfies ErrorCode,
    'Something went wrong. The server log has the details under this request ID',
  );
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
