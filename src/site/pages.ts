import { type Context, Hono } from 'hono';
import { type AppError, noSuchPath, statusOf } from '../base/errors.ts';
import type { Env } from '../http/env.ts';
import { check, oneWord } from '../http/schema.ts';
import { keptForm } from './account/kept-form.ts';
import { signInPages } from './account/routes.ts';
import { signInPage } from './account/sign-in.tsx';
import { changePages } from './changes/routes.ts';
import { listChecklistPages } from './checklists/list-routes.ts';
import { upgradePages } from './checklists/routes.ts';
import type { WorkOnUpload } from './checklists/uploads.ts';
import { contentPages } from './content/routes.ts';
import { coveragePages } from './controls/coverage-routes.ts';
import { controlPages } from './controls/routes.ts';
import { formOnlyPages } from './form-only.ts';
import { guidancePages } from './guidance/routes.ts';
import { docsPages } from './help/routes.ts';
import { collectionPages } from './lists/collection-routes.ts';
import { favoritePages } from './lists/favorite-routes.ts';
import { listPages } from './lists/routes.ts';
import { createPageSupport, goTo, type PageDeps, safePath } from './parts/page.ts';
import { problemPage } from './parts/problem.tsx';
import { keepTheme } from './parts/theme.ts';
import { themes } from './parts/view.ts';
import { rulePages } from './rules/routes.ts';
import { searchPages } from './search/routes.ts';
import { stigPages } from './stigs/routes.ts';

export interface Pages {
  app: Hono<Env>;
  /** Answers an error as a page: a 401 leads to signing in, with what was typed. */
  refuse(c: Context<Env>, problem: AppError): Promise<Response>;
}

/** The pages: HTML over the same services and the same rules of access as the API; and an error as a page. */
export function pageRoutes(deps: PageDeps & { workOnUpload: WorkOnUpload }): Pages {
  const app = new Hono<Env>();
  const support = createPageSupport(deps);

  // First: an address as /lists/add looks like one with an id.
  formOnlyPages(app, support);
  for (const pages of [
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
    listChecklistPages,
    collectionPages,
    favoritePages,
    upgradePages,
    docsPages,
  ])
    pages(app, support, deps);

  app.get('/assets/:name', (c) => {
    const asset = deps.assets.find(c.req.path);
    if (asset === undefined) throw noSuchPath();
    return c.body(asset.bytes, 200, {
      'Content-Type': asset.type,
      // The address changes with the content.
      'Cache-Control': 'public, max-age=31536000, immutable',
    });
  });

  app.post('/theme', support.guard.visitor, (c) => {
    const form = c.get('form');
    keepTheme(c, deps.cookie, check(oneWord('theme', themes), form.get('theme')));
    return goTo(c, safePath(form.get('next')));
  });

  async function refuse(c: Context<Env>, problem: AppError): Promise<Response> {
    if (problem.code === 'UNAUTHORIZED') {
      const url = new URL(c.req.url);
      const here = `${url.pathname}${url.search}`;
      const kept = await keptForm(c, support.guard.kept);
      if (kept !== null) {
        c.set('visitor', null);
        return support.show(c, signInPage({ next: '/', problem: null, kept: { to: here, ...kept } }), 401);
      }
      return goTo(c, `/signin?next=${encodeURIComponent(c.req.method === 'GET' ? here : '/')}`);
    }
    // A refusal may come before it is known who looks at the page.
    if (c.get('visitor') === undefined) {
      const session = deps.cookie.read(c);
      c.set('visitor', session === undefined ? null : await deps.sessions.find(session));
    }
    const status = statusOf[problem.code];
    const { message, headers } = problem;
    const refused = { status, message, retryAfter: headers['Retry-After'], requestId: c.get('requestId') };
    const page = support.show(c, problemPage(refused), status);
    for (const [name, value] of Object.entries(headers)) page.headers.set(name, value);
    return page;
  }

  app.onError((error, c) => refuse(c, deps.refuse(error, c.get('requestId'))));

  return { app, refuse };
}
