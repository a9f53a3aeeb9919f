import { Hono } from 'hono';
import type { Ask } from '../base/ask.ts';
import type { AppError } from '../base/errors.ts';
import type { Env } from '../http/env.ts';
import type { OpenApi } from '../http/openapi-types.ts';
import { createErrorPages, type ErrorPages } from '../pages/account/error-pages.tsx';
import { type Account, signInPages } from '../pages/account/routes.tsx';
import { changePages } from '../pages/changes/routes.tsx';
import { upgradePages } from '../pages/checklists/routes.ts';
import type { UploadWork } from '../pages/checklists/uploads.ts';
import { collectionPages } from '../pages/collections/routes.tsx';
import { contentPages } from '../pages/content/routes.tsx';
import { controlPages } from '../pages/controls/routes.ts';
import { documentPages } from '../pages/documents/routes.tsx';
import { favoritePages } from '../pages/favorites/routes.tsx';
import { docsPages } from '../pages/help/routes.ts';
import { assetRoutes } from '../pages/parts/assets.ts';
import { createPageSupport, goTo, type PageContext, type PageSupport } from '../pages/parts/page.ts';
import { automationPages } from '../pages/parts/reports/automation.tsx';
import { coveragePages } from '../pages/parts/reports/coverage.tsx';
import { worksheetPages } from '../pages/parts/reports/worksheet.tsx';
import { rolePages } from '../pages/roles/routes.tsx';
import { rulePages } from '../pages/rules/routes.tsx';
import { searchPages } from '../pages/search/routes.tsx';
import { stigPages } from '../pages/stigs/routes.tsx';
import { listChecklistPages } from '../pages/systems/checklists.tsx';
import { listPages } from '../pages/systems/routes.tsx';
import type { Services } from '../services.ts';

const modules = [
  contentPages,
  documentPages,
  rolePages,
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

interface SiteContext extends Omit<PageContext, 'digest'>, Account {
  ask: Ask;
  uploads: UploadWork;
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
  app.route('/', formerAddresses());
  // First: `/systems/add` would match `/systems/:id`.
  app.route('/', formAddresses(pages, support));
  app.route('/', pages);
  const refuse = createErrorPages(support, context);
  app.onError((error, c) => refuse(c, context.refuse(error, c.get('requestId'))));
  return { app, refuse };
}

/** The first segments of former addresses and today's, and the former pages without a successor. */
const moved = [
  ['/lists', '/systems', /\/brief(\/|$)/],
  ['/catalog', '/content', /\/files$/],
  ['/tokens', '/account', null],
] as const;

/** Former addresses lead to today's (301). */
function formerAddresses(): Hono<Env> {
  const app = new Hono<Env>();
  for (const [former, today, gone] of moved)
    app.get(`${former}/*`, (c, next) => {
      const { pathname, search } = new URL(c.req.url);
      if (gone?.test(pathname)) return next();
      // The router compares decoded paths: the first segment may be longer here.
      return c.redirect(`${pathname.replace(/^\/[^/]+/, today)}${search}`, 301);
    });
  return app;
}

/** The page of a form that is not at the nearest address above: a deleted list has no page. */
const pageOf = new Map([['/systems/:id/restore', '/systems']]);

/**
 * A GET route for each address that accepts only a POST; it redirects to the page of the form. The browser shows a
 * refused form under that address, and the reader may reload it, or return to it after signing in.
 */
function formAddresses(pages: Hono<Env>, { guard }: PageSupport): Hono<Env> {
  const addressesOf = (verb: 'GET' | 'POST') =>
    new Set(pages.routes.filter(({ method }) => method === verb).map(({ path }) => path));
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
