import type { Ask } from '../../base/ask.ts';
import { badRequest } from '../../base/errors.ts';
import type { Access } from '../../http/access.ts';
import { fileChoice, fileContent, fileQuery, sendFile } from '../../http/downloads.ts';
import { createRoutes } from '../../http/route.ts';
import { jsonContent } from '../../http/schema.ts';
import * as documentSchemas from './document-schema.ts';
import { documentFile, roleFile } from './jobs.ts';
import type { DocumentService, RoleMappingService, RoleService } from './queries.ts';
import * as roleSchemas from './role-schema.ts';

/** Regulatory documents (rule D9). */
export function documentRoutes(access: Access, ask: Ask, documents: DocumentService) {
  const { app, route } = createRoutes('Regulatory documents');
  const entitled = access.entitled('regdoc');
  const costly = access.with({ expensive: true }).entitled('regdoc');

  route('GET /api/v1/regdoc', entitled, {
    operationId: 'listRegulatoryDocuments',
    summary: 'List documents by title',
    query: documentSchemas.documentsQuery,
    response: jsonContent(documentSchemas.RegulatoryDocuments, 'A page of documents.'),
    handle: ({ query }) => documents.list(query),
  });

  route('GET /api/v1/regdoc/{documentId}', entitled, {
    operationId: 'getRegulatoryDocument',
    summary: 'Get a document with every signpost and actionable item',
    params: documentSchemas.documentParam,
    response: jsonContent(documentSchemas.RegulatoryDocument, 'The document.'),
    handle: ({ params }) => documents.record(params.documentId),
  });

  route('GET /api/v1/regdoc/{documentId}/download', costly, {
    operationId: 'downloadRegulatoryDocument',
    summary: 'Download a document as json, csv, xml or xlsx',
    params: documentSchemas.documentParam,
    query: fileQuery,
    response: fileContent(documentSchemas.RegulatoryDocumentFile),
    handle: async ({ params: { documentId }, query }, c) =>
      sendFile(c, await ask(documentFile, documentId, fileChoice(c, query)), documentId),
  });

  return app;
}

/** Occupational roles (rule D9). */
export function roleRoutes(access: Access, ask: Ask, roles: RoleService) {
  const { app, route } = createRoutes('Occupational roles');
  const entitled = access.entitled('occ');
  const costly = access.with({ expensive: true }).entitled('occ');

  route('GET /api/v1/roles', entitled, {
    operationId: 'listRoles',
    summary: 'List occupations by code',
    query: roleSchemas.rolesQuery,
    response: jsonContent(roleSchemas.Roles, 'A page of occupations.'),
    handle: ({ query }) => roles.list(query),
  });

  route('GET /api/v1/roles/{code}', entitled, {
    operationId: 'getRole',
    summary: 'Get an occupation with its tasks, skills and STIGs',
    params: roleSchemas.codeParam,
    response: jsonContent(roleSchemas.Role, 'The occupation.'),
    handle: ({ params }) => roles.record(params.code),
  });

  route('GET /api/v1/roles/{code}/download', costly, {
    operationId: 'downloadRole',
    summary: 'Download an occupation as json, csv, xml or xlsx',
    params: roleSchemas.codeParam,
    query: fileQuery,
    response: fileContent(roleSchemas.RoleFile),
    handle: async ({ params: { code }, query }, c) =>
      sendFile(c, await ask(roleFile, code, fileChoice(c, query)), code),
  });

  return app;
}

/** The role mapping of a STIG (rule D9.4), for sessions only. */
export function roleMappingRoutes(access: Access, mapping: RoleMappingService) {
  const { app, route } = createRoutes('Role mapping');
  const { session } = access.with({ product: 'occ' });

  route('GET /api/v1/role-mapping/benchmark/{benchmarkId}/roles', session, {
    operationId: 'listBenchmarkRoles',
    summary: 'List who acts on a STIG, by relevance',
    description:
      'Needs a session. Without the permission `occ` the response is the same for every STIG, whether it exists or not.',
    params: roleSchemas.benchmarkParam,
    response: jsonContent(roleSchemas.RoleMapping, 'The occupations.'),
    notFound: false,
    handle: ({ user, params }) =>
      user.entitlements.has('occ')
        ? { gated: false, federal: true, mappings: mapping.rows(params.benchmarkId) }
        : { gated: true, federal: false, mappings: [] },
  });

  // A missing id is a bad request, not an unknown path.
  app.use('/api/v1/role-mapping/benchmark//roles', ...access.session.middleware, () => {
    throw badRequest('benchmarkId must be a number, a slug or a benchmark id', 'benchmarkId');
  });

  return app;
}
