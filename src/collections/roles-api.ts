import { fileQuery } from '../catalog/guidance/document-schema.ts';
import { roleColumns, roleRows, toRoleFile } from '../catalog/guidance/role-export.ts';
import * as schemas from '../catalog/guidance/role-schema.ts';
import type { RoleService } from '../catalog/guidance/roles.ts';
import type { Access } from '../http/access.ts';
import { columnsOf } from '../http/columns.ts';
import { downloadFile, fileContent } from '../http/files.ts';
import { createRoutes } from '../http/routes.ts';
import { jsonContent } from '../http/schema.ts';
import type { RoleCollectionService } from './catalog-collections.ts';
import { RoleCollectionExport, RoleCollections } from './catalog-collections-schema.ts';
import { idParam } from './schema.ts';

/** Occupational roles and their collections (rule D9). */
export function roleRoutes(access: Access, roles: RoleService, collections: RoleCollectionService) {
  const { app, route } = createRoutes('Occupational roles');
  const entitled = access.entitled('occ');
  const columns = columnsOf(RoleCollectionExport.shape.roles.element);
  const costly = access.with({ expensive: true });
  const exported = costly.audited('role-collection.export').entitled('occ');

  route('GET /api/v1/roles', entitled, {
    operationId: 'listRoles',
    summary: 'List occupations by code',
    query: schemas.rolesQuery,
    response: jsonContent(schemas.Roles, 'A page of occupations.'),
    handle: ({ query }) => roles.list(query),
  });

  route('GET /api/v1/roles/{code}', entitled, {
    operationId: 'getRole',
    summary: 'Get an occupation with its tasks, skills and STIGs',
    params: schemas.codeParam,
    response: jsonContent(schemas.Role, 'The occupation.'),
    handle: ({ params }) => roles.record(params.code),
  });

  route('GET /api/v1/roles/{code}/download', costly.entitled('occ'), {
    operationId: 'downloadRole',
    summary: 'Download an occupation as json, csv, xml or xlsx',
    params: schemas.codeParam,
    query: fileQuery,
    response: fileContent(schemas.RoleFile),
    handle: ({ params, query }, c) => {
      const json = toRoleFile(roles.record(params.code));
      const file = { json, root: 'role', element: 'row', columns: roleColumns, rows: roleRows(json) };
      return downloadFile(c, query, json.occupationCode, file);
    },
  });

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
