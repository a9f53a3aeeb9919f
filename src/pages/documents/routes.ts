import type { Hono } from 'hono';
import { documentsQuery } from '../../catalog/guidance/document-schema.ts';
import type { Env } from '../../http/env.ts';
import type { Services } from '../../services.ts';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { documentPage, documentsPage } from './documents.tsx';

/** Documents, for readers with the entitlement. */
export function documentPages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  { documents, documentCollections }: Pick<Services, 'documents' | 'documentCollections'>,
): void {
  app.get('/documents', guard.entitled('regdoc'), (c) => {
    const query = readQuery(c, documentsQuery);
    const { collections } = documentCollections.all(c.get('user'));
    const { search, publisher, doctype, status } = query;
    const filter = { search, publisher, doctype, status, limit: c.req.query('limit') };
    const inForce = documents.list({ ...query, status: status ?? 'active', page: 1, limit: 1 });
    return show(
      c,
      documentsPage({
        documents: documents.list(query),
        inForce: status === undefined || status === 'active' ? inForce.pagination.total : 0,
        collections,
        filter,
      }),
    );
  });

  app.get('/documents/:documentId', guard.entitled('regdoc'), (c) =>
    show(c, documentPage({ document: documents.record(c.req.param('documentId')) })),
  );
}
