import { documentColumns, documentRows, toDocumentFile } from '../catalog/guidance/document-export.ts';
import * as schemas from '../catalog/guidance/document-schema.ts';
import type { RegdocService } from '../catalog/guidance/documents.ts';
import type { Access } from '../http/access.ts';
import { columnsOf } from '../http/columns.ts';
import { downloadFile, fileContent } from '../http/files.ts';
import { createRoutes } from '../http/routes.ts';
import { jsonContent } from '../http/schema.ts';
import type { DocumentCollectionService } from './catalog-collections.ts';
import { DocumentCollectionExport, DocumentCollections } from './catalog-collections-schema.ts';
import { idParam } from './schema.ts';

/** Regulatory documents and their collections (rule D9). */
export function regdocRoutes(
  access: Access,
  documents: RegdocService,
  collections: DocumentCollectionService,
) {
  const { app, route } = createRoutes('Regulatory documents');
  const entitled = access.entitled('regdoc');
  const columns = columnsOf(DocumentCollectionExport.shape.documents.element);
  const costly = access.with({ expensive: true });
  const exported = costly.audited('regdoc-collection.export').entitled('regdoc');

  route('GET /api/v1/regdoc', entitled, {
    operationId: 'listRegulatoryDocuments',
    summary: 'List documents by title',
    query: schemas.documentsQuery,
    response: jsonContent(schemas.RegulatoryDocuments, 'A page of documents.'),
    handle: ({ query }) => documents.list(query),
  });

  route('GET /api/v1/regdoc/{documentId}', entitled, {
    operationId: 'getRegulatoryDocument',
    summary: 'Get a document with every signpost and actionable item',
    params: schemas.documentParam,
    response: jsonContent(schemas.RegulatoryDocument, 'The document.'),
    handle: ({ params }) => documents.record(params.documentId),
  });

  route('GET /api/v1/regdoc/{documentId}/download', costly.entitled('regdoc'), {
    operationId: 'downloadRegulatoryDocument',
    summary: 'Download a document as json, csv, xml or xlsx',
    params: schemas.documentParam,
    query: schemas.fileQuery,
    response: fileContent(schemas.RegulatoryDocumentFile),
    handle: ({ params, query }, c) => {
      const json = toDocumentFile(documents.record(params.documentId));
      const rows = documentRows(json);
      const file = { json, root: 'regdoc', element: 'row', columns: documentColumns, rows };
      return downloadFile(c, query, json.documentId, file);
    },
  });

  route('GET /api/v1/regdoc-collections', entitled, {
    operationId: 'listRegulatoryDocumentCollections',
    summary: 'List the collections of documents that the caller may see, newest first',
    response: jsonContent(DocumentCollections, 'The collections.'),
    handle: ({ user }) => collections.all(user),
  });

  route('GET /api/v1/regdoc-collections/{id}/export', exported, {
    operationId: 'exportRegulatoryDocumentCollection',
    summary: 'Export a collection with its documents as json, csv, xml or xlsx',
    params: idParam,
    query: schemas.fileQuery,
    response: fileContent(DocumentCollectionExport),
    handle: ({ user, params, query }, c) => {
      const json = collections.exported(user, params.id);
      const file = { json, root: 'regdocCollection', element: 'document', columns, rows: json.documents };
      return downloadFile(c, query, json.collection.name, file);
    },
  });

  return app;
}
