import { z } from '@hono/zod-openapi';
import type { Hono } from 'hono';
import { notFound } from '../base/errors.ts';
import type { ControlService } from '../catalog/controls/queries.ts';
import { documentsQuery } from '../catalog/guidance/document-schema.ts';
import type { RegdocService } from '../catalog/guidance/documents.ts';
import { rolesQuery } from '../catalog/guidance/role-schema.ts';
import type { RoleService } from '../catalog/guidance/roles.ts';
import { type LedgerService, outcomes } from '../catalog/ledger.ts';
import type { StigNewsService } from '../catalog/stigs/news.ts';
import type { DocumentCollectionService, RoleCollectionService } from '../collections/catalog-collections.ts';
import type { Env } from '../http/env.ts';
import { paging, wordList } from '../http/schema.ts';
import { loadedCatalogs } from './controls.ts';
import { ledgerPage, loadedPage } from './html/catalog.tsx';
import { documentPage, documentsPage } from './html/documents.tsx';
import { homePage } from './html/home.tsx';
import { rolePage, rolesPage } from './html/roles.tsx';
import { type PageSupport, readQuery } from './page.ts';

export interface CatalogPageServices {
  news: StigNewsService;
  controls: ControlService;
  ledger: LedgerService;
  documents: RegdocService;
  roles: RoleService;
}

const runsShown = 50;
const ledgerQuery = z.object({ ...paging(100, 100), outcome: wordList('outcome', outcomes) });

/** The start page, what is loaded, and what the imports did. */
export function catalogPages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  services: CatalogPageServices,
): void {
  const { news, controls, ledger, documents, roles } = services;
  const counted = { page: 1, limit: 1 };

  app.get('/', guard.visitor, (c) => {
    if (c.get('visitor') === null) return show(c, homePage(null));
    const { changes } = news.changelog({ page: 1, limit: 10 });
    return show(c, homePage({ stats: news.stats(), changes }));
  });

  app.get('/catalog', guard.user, (c) => {
    const user = c.get('user');
    const { entitlements } = user;
    const page = {
      stats: news.stats(),
      catalogs: loadedCatalogs(controls),
      documents: entitlements.has('regdoc') ? documents.list(counted).pagination.total : null,
      roles: entitlements.has('occ') ? roles.list(counted).pagination.total : null,
      runs: ledger.runs(user, runsShown),
    };
    return show(c, loadedPage(page));
  });

  app.get('/catalog/imports/:run', guard.user, (c) => {
    const { outcome, ...page } = readQuery(c, ledgerQuery);
    const id = c.req.param('run');
    if (!/^\d{1,15}$/.test(id)) throw notFound();
    const run = ledger.run(c.get('user'), Number(id));
    const wanted = [...(outcome ?? [])][0];
    return show(
      c,
      ledgerPage({
        run,
        ...ledger.entries(c.get('user'), run.id, wanted, page),
        outcome: wanted ?? '',
        outcomes,
      }),
    );
  });
}

/** Regulatory documents, for the entitled. */
export function documentPages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  documents: RegdocService,
  collections: DocumentCollectionService,
): void {
  const rule = guard.entitled('regdoc');

  app.get('/documents', rule, (c) => {
    const query = readQuery(c, documentsQuery);
    const page = {
      documents: documents.list(query),
      collections: collections.all(c.get('user')).collections,
      search: query.search ?? '',
    };
    return show(c, documentsPage(page));
  });

  app.get('/documents/:documentId', rule, (c) =>
    show(c, documentPage({ document: documents.record(c.req.param('documentId')) })),
  );
}

/** Occupational roles, for the entitled. */
export function rolePages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  roles: RoleService,
  collections: RoleCollectionService,
): void {
  const rule = guard.entitled('occ');

  app.get('/roles', rule, (c) => {
    const query = readQuery(c, rolesQuery);
    const page = {
      roles: roles.list(query),
      collections: collections.all(c.get('user')).collections,
      search: query.search ?? '',
    };
    return show(c, rolesPage(page));
  });

  app.get('/roles/:code', rule, (c) => show(c, rolePage({ role: roles.record(c.req.param('code')) })));
}
