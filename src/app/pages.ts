import { Hono } from 'hono';
import type { Ask } from '../base/ask.ts';
import type { AppError } from '../base/errors.ts';
import type { Env } from '../http/env.ts';
import type { OpenApi } from '../http/openapi-types.ts';
import type { Services } from '../services.ts';
import { createErrorPages, type ErrorPages } from '../site/account/error-pages.ts';
import { signInPages } from '../site/account/routes.ts';
import type { Account } from '../site/account/ways.ts';
import { changePages } from '../site/changes/routes.ts';
import { listChecklistPages } from '../site/checklists/list-routes.ts';
import { upgradePages } from '../site/checklists/routes.ts';
import type { WorkOnUpload } from '../site/checklists/uploads.ts';
import { contentPages } from '../site/content/routes.ts';
import { automationPages } from '../site/controls/automation-routes.ts';
import { coveragePages } from '../site/controls/coverage-routes.ts';
import { controlPages } from '../site/controls/routes.ts';
import { worksheetPages } from '../site/controls/worksheet-routes.ts';
import { guidancePages } from '../site/guidance/routes.ts';
import { docsPages } from '../site/help/routes.ts';
import { collectionPages } from '../site/lists/collection-routes.ts';
import { favoritePages } from '../site/lists/favorite-routes.ts';
import { listPages } from '../site/lists/routes.ts';
import { assetRoutes } from '../site/parts/assets.ts';
import { createPageSupport, goTo, type PageContext, type PageSupport } from '../site/parts/page.ts';
import { rulePages } from '../site/rules/routes.ts';
import { searchPages } from '../site/search/routes.ts';
import { stigPages } from '../site/stigs/routes.ts';

const modules = [
  contentPages,
  guidancePages,
  signInPages,
  searchPages,
  stigPages,
  rulePages,
  controlPages,
  changePages,
  listPages,
  coveragePages,
  automationPages,
  worksheetPages,
  listChecklistPages,
  collectionPages,
  favoritePages,
  upgradePages,
  docsPages,
  assetRoutes,
];

export interface SiteContext extends Omit<PageContext, 'digest'>, Account {
  ask: Ask;
  workOnUpload: WorkOnUpload;
  /** The import folder (rule D33). */
  inbox: string | null;
  document(): OpenApi;
  /** Maps a thrown error to the one that the caller gets, and logs it as the API does. */
  refuse(error: Error, requestId: string): AppError;
}

/** The pages: HTML from the services of the API, under its access rules. `refuse` answers an error as a page. */
export function pageRoutes(context: SiteContext, services: Services): { app: Hono<Env>; refuse: ErrorPages } {
  const support = createPageSupport({ ...context, digest: services.summary.digest });
  const pages = new Hono<Env>();
  for (const add of modules) add(pages, support, { ...context, ...services });

  const app = new Hono<Env>();
  // First: `/lists/add` would match `/lists/:id`.
  app.route('/', formAddresses(pages, support));
  app.route('/', pages);
  const refuse = createErrorPages(support, context);
  app.onError((error, c) => refuse(c, context.refuse(error, c.get('requestId'))));
  return { app, refuse };
}

/** The page of a form that is not at the nearest address above: a deleted list has no page. */
const pageOf = new Map([['/lists/:id/restore', '/lists']]);

/**
 * A GET route for each address that accepts only a POST; it redirects to the page of the form. The browser shows a
 * refused form under that address, and the reader may reload it, or return to it after signing in.
 */
function formAddresses(pages: Hono<Env>, { guard }: PageSupport): Hono<Env> {
  const addressesOf = (wanted: string) =>
    new Set(pages.routes.filter(({ method }) => method === wanted).map(({ path }) => path));
  const shown = addressesOf('GET');
  const formsOnly = [...addressesOf('POST')].filter((address) => !shown.has(address));
  const nearest = (path: string): string =>
    path === '' ? '/' : shown.has(path) ? path : nearest(path.slice(0, path.lastIndexOf('/')));
  const app = new Hono<Env>();
  for (const address of formsOnly) {
    const page = pageOf.get(address) ?? nearest(address);
    app.get(address, page === '/' ? guard.visitor : guard.user, (c) =>
      goTo(
        c,
        page.replace(':id', () => encodeURIComponent(c.req.param('id') ?? '')),
      ),
    );
  }
  return app;
}
