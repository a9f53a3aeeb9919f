import { fileQuery } from '../catalog/guidance/document-schema.ts';
import type { Access } from '../http/access.ts';
import { columnsOf } from '../http/columns.ts';
import { downloadFile, fileContent } from '../http/downloads.ts';
import { createRoutes } from '../http/route.ts';
import { jsonContent } from '../http/schema.ts';
import type { RoleCollectionService } from './catalog-collections.ts';
import { RoleCollectionExport, RoleCollections } from './catalog-collections-schema.ts';
import { idParam } from './schema.ts';

/** Collections of occupational roles (rule D9). */
export function roleCollectionRoutes(access: Access, collections: RoleCollectionService) {
  const { app, route } = createRoutes('Occupational roles');
  const entitled = access.entitled('occ');
  const columns = columnsOf(RoleCollectionExport.shape.roles.element);
  const costly = access.with({ expensive: true });
  const exported = costly.audited('role-collection.export').entitled('occ');

  route('GET /api/v1/role-collections', entitled, {
    operationId: 'listRoleCollections',
    summary: 'List the collections of occupations that the caller may see, newest first',
    response: jsonContent(RoleCollections, 'The collections.'),
    handle: ({ user }) => collections.all(user),
  });

  route('GET /api/v1/role-collections/{id}/export', exported, {
    operationId: 'exportRoleCollection',
    summary: 'Export a collection with its occupations as json, csv, xml or xlsx',
    params: idParam,
    query: fileQuery,
    response: fileContent(RoleCollectionExport),
    handle: ({ user, params, query }, c) => {
      const json = collections.exported(user, params.id);
      const file = { json, root: 'roleCollection', element: 'role', columns, rows: json.roles };
      return downloadFile(c, query, json.collection.name, file);
    },
  });

  return app;
}
