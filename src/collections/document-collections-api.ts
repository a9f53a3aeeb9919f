import { fileQuery } from '../catalog/guidance/document-schema.ts';
import type { Access } from '../http/access.ts';
import { columnsOf } from '../http/columns.ts';
import { downloadFile, fileContent } from '../http/downloads.ts';
import { createRoutes } from '../http/route.ts';
import { jsonContent } from '../http/schema.ts';
import type { DocumentCollectionService } from './catalog-collections.ts';
import { DocumentCollectionExport, DocumentCollections } from './catalog-collections-schema.ts';
import { idParam } from './schema.ts';

/** Collections of regulatory documents (rule D9). */
export function documentCollectionRoutes(access: Access, collections: DocumentCollectionService) {
  const { app, route } = createRoutes('Regulatory documents');
  const entitled = access.entitled('regdoc');
  const columns = columnsOf(DocumentCollectionExport.shape.documents.element);
  const costly = access.with({ expensive: true });
  const exported = costly.audited('regdoc-collection.export').entitled('regdoc');

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
    query: fileQuery,
    response: fileContent(DocumentCollectionExport),
    handle: ({ user, params, query }, c) => {
      const json = collections.exported(user, params.id);
      const file = { json, root: 'regdocCollection', element: 'document', columns, rows: json.documents };
      return downloadFile(c, query, json.collection.name, file);
    },
  });

  return app;
}
