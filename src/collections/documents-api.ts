import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import { documentColumns, documentRows, toDocumentFile } from '../catalog/guidance/document-export.ts';
import * as schemas from '../catalog/guidance/document-schema.ts';
import type { RegdocService } from '../catalog/guidance/documents.ts';
import type { Access } from '../http/access.ts';
import { answer, download } from '../http/answer.ts';
import type { Env } from '../http/env.ts';
import { fileContent, renderFile } from '../http/files.ts';
import { errors, jsonContent } from '../http/schema.ts';
import type { DocumentCollectionService } from './catalog-collections.ts';
import { DocumentCollectionExport, DocumentCollections } from './catalog-collections-schema.ts';
import { documentCollectionColumns } from './export.ts';
import { idParam } from './schema.ts';

/** Regulatory documents and their collections (rule D9). */
export function regdocRoutes(
  access: Access,
  documents: RegdocService,
  collections: DocumentCollectionService,
): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();
  const tags = ['Regulatory documents'];
  const entitled = access.entitled('regdoc');
  const costly = access.with({ expensive: true });

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/regdoc',
      operationId: 'listRegulatoryDocuments',
      summary: 'List documents by title',
      tags,
      ...entitled,
      request: { query: schemas.documentsQuery },
      responses: {
        200: jsonContent(schemas.RegulatoryDocuments, 'A page of documents.'),
        ...errors(400, 401, 403),
      },
    }),
    (c) => answer(c, documents.list(c.req.valid('query'))),
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/regdoc/{documentId}',
      operationId: 'getRegulatoryDocument',
      summary: 'Get a document with every signpost and actionable item',
      tags,
      ...entitled,
      request: { params: schemas.documentParam },
      responses: {
        200: jsonContent(schemas.RegulatoryDocument, 'The document.'),
        ...errors(400, 401, 403, 404),
      },
    }),
    (c) => answer(c, documents.record(c.req.valid('param').documentId)),
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/regdoc/{documentId}/download',
      operationId: 'downloadRegulatoryDocument',
      summary: 'Download a document as json, csv or xml',
      tags,
      ...costly.entitled('regdoc'),
      request: { params: schemas.documentParam, query: schemas.fileQuery },
      responses: { 200: fileContent(schemas.RegulatoryDocumentFile), ...errors(400, 401, 403, 404) },
    }),
    (c) => {
      const { format, raw } = c.req.valid('query');
      const json = toDocumentFile(documents.record(c.req.valid('param').documentId));
      const rows = documentRows(json);
      const file = { json, root: 'regdoc', element: 'row', columns: documentColumns, rows };
      return download(c, renderFile(file, format, raw), format, `${json.documentId}.${format}`);
    },
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/regdoc-collections',
      operationId: 'listRegulatoryDocumentCollections',
      summary: 'List the collections of documents that the caller may see, newest first',
      tags,
      ...entitled,
      responses: { 200: jsonContent(DocumentCollections, 'The collections.'), ...errors(400, 401, 403) },
    }),
    (c) => answer(c, collections.all(c.get('user'))),
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/regdoc-collections/{id}/export',
      operationId: 'exportRegulatoryDocumentCollection',
      summary: 'Export a collection with its documents as json, csv or xml',
      tags,
      ...costly.audited('regdoc-collection.export').entitled('regdoc'),
      request: { params: idParam, query: schemas.fileQuery },
      responses: { 200: fileContent(DocumentCollectionExport), ...errors(400, 401, 403, 404, 503) },
    }),
    (c) => {
      const { format, raw } = c.req.valid('query');
      const json = collections.exported(c.get('user'), c.req.valid('param').id);
      const rows = json.documents;
      const columns = documentCollectionColumns;
      const file = { json, root: 'regdocCollection', element: 'document', columns, rows };
      return download(c, renderFile(file, format, raw), format, `${json.collection.name}.${format}`);
    },
  );

  return app;
}
