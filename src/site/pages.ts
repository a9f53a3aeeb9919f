import { type Context, Hono } from 'hono';
import { type AppError, noSuchPath, statusOf } from '../base/errors.ts';
import type { RegdocService } from '../catalog/guidance/documents.ts';
import type { RoleService } from '../catalog/guidance/roles.ts';
import type { DocumentCollectionService, RoleCollectionService } from '../collections/catalog-collections.ts';
import type { Access } from '../http/access.ts';
import type { Env } from '../http/env.ts';
import { type CatalogPageServices, catalogPages, documentPages, rolePages } from './catalog.ts';
import { collectionPages } from './collections.ts';
import { type ControlPageServices, controlPages } from './controls.ts';
import { docsPages } from './docs.ts';
import { favoritePages } from './favorites.ts';
import { formOnlyPages } from './form-only.ts';
import type { Assets } from './html/assets.ts';
import { problemPage } from './html/problem.tsx';
import { type ListPageServices, listPages } from './lists.ts';
import { createPageSupport, goTo } from './page.ts';
import { type SearchPageServices, searchPages } from './search.ts';
import { type SignInParts, signInPages } from './sign-in.ts';
import { type StigPageServices, stigPages } from './stigs.ts';
import { upgradePages } from './upgrade.ts';
import type { createUpgrade } from './uploads.ts';

/** What the pages are made of: the services of the API, and who is asked about callers. */
export interface PageDeps
  extends StigPageServices,
    ControlPageServices,
    ListPageServices,
    CatalogPageServices,
    SearchPageServices,
    SignInParts {
  access: Access;
  assets: Assets;
  banner: string | null;
  documents: RegdocService;
  documentCollections: DocumentCollectionService;
  roles: RoleService;
  roleCollections: RoleCollectionService;
  upgrade: ReturnType<typeof createUpgrade>;
  /** The text of `/openapi.json`. */
  document(): string;
  /** What an error is to the caller, and what the log says of it: as for the API. */
  refuse(error: Error, requestId: string): AppError;
}

export interface Pages {
  app: Hono<Env>;
  /** Answers an error as a page: a 401 leads to signing in. */
  refuse(c: Context<Env>, problem: AppError): Promise<Response>;
}

/** The pages: HTML over the same services and the same rules of access as the API; and an error as a page. */
export function pageRoutes(deps: PageDeps): Pages {
  const app = new Hono<Env>();
  const support = createPageSupport(deps.access, deps.assets, deps.banner);

  // First: an address as /lists/add looks like one with an id.
  formOnlyPages(app, support);
  catalogPages(app, support, deps);
  signInPages(app, support, deps);
  searchPages(app, support, deps);
  stigPages(app, support, deps);
  controlPages(app, support, deps);
  listPages(app, support, deps);
  collectionPages(app, support, deps.collections);
  favoritePages(app, support, deps.favorites);
  documentPages(app, support, deps.documents, deps.documentCollections);
  rolePages(app, support, deps.roles, deps.roleCollections);

  upgradePages(app, support, deps.stigs, deps.upgrade);
  docsPages(app, support, deps.document);

  app.get('/assets/:name', (c) => {
    const asset = deps.assets.find(c.req.path);
    if (asset === undefined) throw noSuchPath();
    return c.body(asset.bytes, 200, {
      'Content-Type': asset.type,
      // The address changes with the content.
      'Cache-Control': 'public, max-age=31536000, immutable',
    });
  });

  async function refuse(c: Context<Env>, problem: AppError): Promise<Response> {
    if (problem.code === 'UNAUTHORIZED') {
      const url = new URL(c.req.url);
      const next = c.req.method === 'GET' ? `${url.pathname}${url.search}` : '/';
      return goTo(c, `/signin?next=${encodeURIComponent(next)}`);
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
