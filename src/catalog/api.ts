import type { Ask } from '../base/ask.ts';
import type { Access } from '../http/access.ts';
import { createRoutes } from '../http/route.ts';
import { jsonContent } from '../http/schema.ts';
import { catalogSummary } from './jobs.ts';
import { CatalogSummary } from './summary.ts';

/** The catalog as a whole (rule D32.5). */
export function catalogRoutes(access: Access, ask: Ask) {
  const { app, route } = createRoutes('Catalog');

  route('GET /api/v1/catalog', access.user, {
    operationId: 'getCatalog',
    summary: 'Get the digest of the catalog, and what it holds',
    response: jsonContent(CatalogSummary, 'The catalog.'),
    handle: () => ask(catalogSummary),
  });

  return app;
}
