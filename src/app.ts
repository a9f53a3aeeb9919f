import { OpenAPIHono } from '@hono/zod-openapi';
import type { Context as HonoContext } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { Audit } from './audit/audited-action.ts';
import { createIntegrationTokens } from './auth/integration-tokens.ts';
import { createSessions } from './auth/sessions.ts';
import type { VerifyUserToken } from './auth/tokens.ts';
import { AppError, badRequest, noSuchPath } from './base/errors.ts';
import type { Log } from './base/log.ts';
import { catalogRoutes } from './catalog/api.ts';
import { controlRoutes } from './catalog/controls/api.ts';
import { createControlService } from './catalog/controls/queries.ts';
import { createAddressed } from './catalog/crosswalk/addressed.ts';
import { crosswalkRoutes } from './catalog/crosswalk/api.ts';
import { createCciFacts } from './catalog/crosswalk/cci-facts.ts';
import { createCciLookup } from './catalog/crosswalk/cci-lookup.ts';
import { createRuleChain } from './catalog/crosswalk/chain.ts';
import { createControlRulesService } from './catalog/crosswalk/control-rules.ts';
import { controlRulesRoutes } from './catalog/crosswalk/control-rules-api.ts';
import { createCoverageService } from './catalog/crosswalk/coverage.ts';
import { coverageRoutes } from './catalog/crosswalk/coverage-api.ts';
import { createExplainService } from './catalog/crosswalk/explain.ts';
import { createMappingExport } from './catalog/crosswalk/export.ts';
import { createCrosswalkService } from './catalog/crosswalk/queries.ts';
import { documentRoutes } from './catalog/guidance/document-api.ts';
import { createRegdocService } from './catalog/guidance/document-queries.ts';
import { roleRoutes } from './catalog/guidance/role-api.ts';
import { createRoleMappingService } from './catalog/guidance/role-mapping.ts';
import { roleMappingRoutes } from './catalog/guidance/role-mapping-api.ts';
import { createRoleService } from './catalog/guidance/role-queries.ts';
import { createLedgerService } from './catalog/ledger.ts';
import { createOnlySamples } from './catalog/samples.ts';
import { searchRoutes } from './catalog/search/api.ts';
import { createSearchService } from './catalog/search/queries.ts';
import { createStigFinder } from './catalog/search/stig-finder.ts';
import { stigRoutes } from './catalog/stigs/api.ts';
import { createStigsCalled } from './catalog/stigs/called.ts';
import { createStigChangesService } from './catalog/stigs/changes.ts';
import { stigChangesRoutes } from './catalog/stigs/changes-api.ts';
import { createStigDiffService } from './catalog/stigs/diff.ts';
import { stigDiffRoutes } from './catalog/stigs/diff-api.ts';
import { createRuleHistoryService } from './catalog/stigs/history.ts';
import { ruleHistoryRoutes } from './catalog/stigs/history-api.ts';
import { createIdentify } from './catalog/stigs/identify.ts';
import { createStigNames } from './catalog/stigs/names.ts';
import { createStigNewsService } from './catalog/stigs/news.ts';
import { createStigService } from './catalog/stigs/queries.ts';
import { createReadingService } from './catalog/stigs/reading.ts';
import { createCatalogSummaryService } from './catalog/summary.ts';
import { checklistRoutes } from './checklists/api.ts';
import { createChecklistZips } from './checklists/host-zip.ts';
import { listChecklistRoutes } from './checklists/list-api.ts';
import { createListChecklists } from './checklists/list-checklists.ts';
import {
  createDocumentCollectionService,
  createRoleCollectionService,
} from './collections/catalog-collections.ts';
import { createControlCollectionService } from './collections/control-collections.ts';
import { controlCollectionRoutes } from './collections/control-collections-api.ts';
import { documentCollectionRoutes } from './collections/document-collections-api.ts';
import { createFavoriteService } from './collections/favorites.ts';
import { favoriteRoutes } from './collections/favorites-api.ts';
import { createListChangesService, listChangesRoutes } from './collections/list-changes-api.ts';
import { createListEntryService } from './collections/list-entries.ts';
import { listEntryRoutes } from './collections/list-entries-api.ts';
import { createListOverviewService } from './collections/list-overview.ts';
import { createListService } from './collections/lists.ts';
import { listRoutes } from './collections/lists-api.ts';
import { cronRoutes } from './collections/purge-api.ts';
import { createPurgeService } from './collections/retention.ts';
import { roleCollectionRoutes } from './collections/role-collections-api.ts';
import type { Database } from './db/database.ts';
import { storageFault } from './db/faults.ts';
import { createAccess } from './http/access.ts';
import { createRequestAudit } from './http/audited.ts';
import type { Answers } from './http/cache/answers.ts';
import { keepAnswers } from './http/cache/keep.ts';
import type { Env } from './http/env.ts';
import { refusal, toAppError, wantsPage } from './http/error-answers.ts';
import { takeForm } from './http/form.ts';
import { allowOrigins, securityHeaders } from './http/headers.ts';
import { bodyLimits, createBodyBudget, uploadBodyLimits } from './http/limits/bodies.ts';
import type { ConcurrencyLimit } from './http/limits/concurrency.ts';
import { type Limiter, type Rejection, tooMany } from './http/limits/limiter.ts';
import {
  identify,
  limitConcurrency,
  readBodies,
  refuseBadEncoding,
  takeJson,
  takeUpload,
} from './http/middleware.ts';
import type { Observer } from './http/observe/observer.ts';
import { addressKey } from './http/observe/record.ts';
import { plantRoutes } from './http/plants-api.ts';
import type { RouteOptions } from './http/rule.ts';
import { describeIssue } from './http/schema.ts';
import { type ServiceState, serviceRoutes } from './http/service-api.ts';
import { sessionRoutes } from './http/session-api.ts';
import { createSessionCookie } from './http/session-cookie.ts';
import { openApiDocument } from './openapi.ts';
import { createUploadWork, type Uploads } from './site/checklists/uploads.ts';
import { pageRoutes } from './site/pages.ts';
import { createAssets } from './site/parts/assets.ts';

/** What the service is made of; nothing is taken from the environment or from a global. */
export interface Context {
  /** What was imported, and what users made: one database today. */
  catalog: Database;
  users: Database;
  audit: Audit;
  log: Log;
  now: () => Date;
  /** Makes the ids of what users create. */
  newId: () => string;
  verify: VerifyUserToken;
  /** Names the local issuer's key, which sessions do not outlive. */
  keyId: () => Promise<string>;
  state: ServiceState;
  observer: Observer;
  /** Gives the text of `/metrics`, which is not there where this is null. */
  metrics: (() => Promise<string>) | null;
  /** Answers that are kept as bytes; null makes every one anew. */
  answers: Answers | null;
  /** How often callers may come, and how much is made for them at once; uploads apart. */
  limiter: Limiter;
  concurrency: ConcurrencyLimit;
  uploadConcurrency: (bytes: number) => ConcurrencyLimit;
  /** Hears of what was turned away for want of room. */
  rejected: (why: Rejection) => void;
  /** Reads uploads in a thread, which whoever gives it ends. */
  uploads: Uploads;
  /** The secret of the purge endpoint, which is off without one (rule D8.5). */
  cronSecret: string | null;
  /** Whether cookies are for TLS only, however a request came. */
  secureCookies: boolean;
  /** Bytes that a body may have on most routes (D2.3). */
  maxBody: number;
  /** The origins whose scripts may read answers. */
  corsOrigins: readonly string[];
  /** Whether the sample endpoint is there (rule D10). */
  plants: boolean;
  /** The folder whose files are imported, as pages tell (rule D33). */
  inbox: string | null;
  /** The classification that pages show and exports are marked with. */
  banner: string | null;
}

/** Builds the application: middleware in order, routes, error mapping, and the OpenAPI document. */
export function createApp(context: Context): OpenAPIHono<Env> {
  const { catalog, users, audit, log, now, newId, limiter, answers, maxBody, banner } = context;
  const sessions = createSessions(users, now, log, audit.stream, context.keyId);
  const bodies = createBodyBudget(bodyLimits(maxBody), context.rejected);
  const uploadBodies = createBodyBudget(uploadBodyLimits, context.rejected);
  const limitOfUpload = (c: HonoContext<Env>) => context.uploadConcurrency(c.get('upload').byteLength);
  const input = (options: RouteOptions, name: string) => {
    const { upload, form, expensive } = options;
    const take = upload ? takeUpload : form ? takeForm : takeJson;
    return [
      refuseBadEncoding,
      readBodies(options.maxBody ?? maxBody, upload ? uploadBodies : bodies, take),
      ...(options.unlimited
        ? []
        : [limitConcurrency(upload ? limitOfUpload : () => context.concurrency, expensive)]),
      ...(answers && options.kept ? [keepAnswers(answers, options, name)] : []),
    ];
  };
  const access = createAccess({
    ...context,
    sessions,
    integrationTokens: createIntegrationTokens(users, now),
    audit: createRequestAudit(audit, now),
    input,
  });
  // What these routes answer to GET is kept as bytes while nothing changes that it depends on.
  const ofCatalog = access.with({ kept: 'catalog' });
  const ofUsers = access.with({ kept: 'users' });
  const cookie = createSessionCookie(context.secureCookies);
  const app = new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (!result.success) throw badRequest(describeIssue(result.error.issues[0]!));
    },
  });

  app.use(identify(context.observer));
  if (context.corsOrigins.length > 0) app.use(allowOrigins(context.corsOrigins));
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed(c, methods) {
        // Hono hands on the headers of the 404 that stood here, and that may have been a page.
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
  // Made when somebody asks for it: that takes a while, and a start must not.
  let made: string | null = null;
  const document = () => (made ??= openApiDocument(app));
  app.route('/', serviceRoutes(access, catalog, context.state, document, context.metrics));
  const summary = createCatalogSummaryService(catalog);
  app.route('/', catalogRoutes(access.with({ expensive: true }), summary));
  const stigs = createStigService(catalog);
  const news = createStigNewsService(catalog, now);
  const crosswalk = createCrosswalkService(catalog);
  const changes = createStigChangesService(catalog);
  app.route('/', stigChangesRoutes(ofCatalog, changes));
  app.route('/', stigRoutes(ofCatalog, stigs, news, createAddressed(catalog, crosswalk)));
  const stigDiff = createStigDiffService(catalog, stigs);
  app.route('/', stigDiffRoutes(ofCatalog, stigDiff));
  const ruleHistory = createRuleHistoryService(catalog);
  app.route('/', ruleHistoryRoutes(ofCatalog, ruleHistory));
  const names = createStigNames(catalog);
  const controls = createControlService(catalog);
  const workOnUpload = createUploadWork(
    context.uploads,
    stigs,
    names,
    createIdentify(catalog, stigs, names),
    createCciFacts(catalog, crosswalk, controls),
  );
  app.route('/', checklistRoutes(access, workOnUpload));
  app.route('/', controlRoutes(ofCatalog, controls));
  const explainer = createExplainService(catalog, crosswalk);
  const mappings = createMappingExport(catalog, crosswalk);
  app.route('/', crosswalkRoutes(ofCatalog, crosswalk, explainer, mappings));
  const search = createSearchService(catalog, createCciLookup(catalog, crosswalk));
  const finder = createStigFinder(catalog);
  const controlRules = createControlRulesService(catalog, crosswalk);

  const lists = createListService(users, now, newId);
  const listStigs = createListEntryService(users, now, newId);
  // These answer for the STIGs of a list too.
  app.route('/', searchRoutes(ofUsers, search, finder, listStigs.slugs));
  app.route('/', controlRulesRoutes(ofUsers, controlRules, listStigs.slugs));
  const listOverview = createListOverviewService(users, now, newId);
  app.route('/', listRoutes(ofUsers, lists, listStigs, listOverview));
  app.route('/', listEntryRoutes(ofUsers, listStigs));
  const listChecklists = createListChecklists(
    createChecklistZips(stigs, catalog.generation),
    listStigs.releases,
    banner,
  );
  app.route('/', listChecklistRoutes(access, listChecklists));
  const coverage = createCoverageService(catalog, controls, crosswalk);
  for (const routes of coverageRoutes(access, coverage, stigs, listStigs.releases)) app.route('/', routes);
  const listChanges = createListChangesService(listStigs, changes);
  app.route('/', listChangesRoutes(ofUsers, listStigs, listChanges));
  const collections = createControlCollectionService(users, now, newId);
  app.route('/', controlCollectionRoutes(ofUsers, collections));
  const favorites = createFavoriteService(users, now, newId);
  app.route('/', favoriteRoutes(ofUsers, favorites));
  const documents = createRegdocService(catalog);
  const documentCollections = createDocumentCollectionService(users, now, newId);
  app.route('/', documentRoutes(ofUsers, documents));
  app.route('/', documentCollectionRoutes(ofUsers, documentCollections));
  const roles = createRoleService(catalog);
  const roleCollections = createRoleCollectionService(users, now, newId);
  app.route('/', roleRoutes(ofUsers, roles));
  app.route('/', roleCollectionRoutes(ofUsers, roleCollections));
  const roleMapping = createRoleMappingService(catalog);
  app.route('/', roleMappingRoutes(access, roleMapping));
  if (context.plants) app.route('/', plantRoutes(access));
  app.route('/', sessionRoutes(access, sessions, cookie));
  app.route('/', cronRoutes(access, createPurgeService(users, now)));

  const pages = pageRoutes({
    access: access.with({ form: true }),
    assets: createAssets(),
    banner,
    sessions,
    cookie,
    stigs,
    stigsCalled: createStigsCalled(catalog),
    stigDiff,
    ruleHistory,
    changes,
    listChanges,
    reading: createReadingService(catalog, stigs),
    ruleChain: createRuleChain(catalog, crosswalk),
    workOnUpload,
    news,
    controls,
    crosswalk,
    search,
    finder,
    controlRules,
    coverage,
    lists,
    listStigs,
    listChecklists,
    listOverview,
    collections,
    favorites,
    documents,
    documentCollections,
    roles,
    roleCollections,
    roleMapping,
    ledger: createLedgerService(catalog),
    summary,
    onlySamples: createOnlySamples(catalog),
    inbox: context.inbox,
    document,
    refuse,
    now,
  });
  app.route('/', pages.app);

  // Answered rather than thrown: what is thrown here would pass the log by.
  app.notFound((c) => {
    const wait = limiter.take(addressKey(c.get('record').remote), false);
    if (wait > 0) return refusal(c, tooMany(wait));
    return wantsPage(c) ? pages.refuse(c, noSuchPath()) : refusal(c, noSuchPath());
  });

  /** What an error is to the caller; one that is ours is logged. */
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
