import type { Access } from '../../http/access.ts';
import { downloadFile, fileContent, fileQuery } from '../../http/downloads.ts';
import { createRoutes } from '../../http/route.ts';
import { jsonContent } from '../../http/schema.ts';
import { documentFile } from './document-export.ts';
import type { DocumentService } from './document-queries.ts';
import * as schemas from './document-schema.ts';

/** Regulatory documents (rule D9). */
export function documentRoutes(access: Access, documents: DocumentService) {
  const { app, route } = createRoutes('Regulatory documents');
  const entitled = access.entitled('regdoc');
  const costly = access.with({ expensive: true });

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
    query: fileQuery,
    response: fileContent(schemas.RegulatoryDocumentFile),
    handle: ({ params, query }, c) => {
      const document = documents.record(params.documentId);
      return downloadFile(c, query, document.documentId, documentFile(document));
    },
  });

  return app;
}
