import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import { fileQuery } from '../catalog/guidance/document-schema.ts';
import { roleColumns, roleRows, toRoleFile } from '../catalog/guidance/role-export.ts';
import * as schemas from '../catalog/guidance/role-schema.ts';
import type { RoleService } from '../catalog/guidance/roles.ts';
import type { Access } from '../http/access.ts';
import { answer, download } from '../http/answer.ts';
import type { Env } from '../http/env.ts';
import { fileContent, renderFile } from '../http/files.ts';
import { errors, jsonContent } from '../http/schema.ts';
import type { RoleCollectionService } from './catalog-collections.ts';
import { RoleCollectionExport, RoleCollections } from './catalog-collections-schema.ts';
import { roleCollectionColumns } from './export.ts';
import { idParam } from './schema.ts';

/** Occupational roles and their collections (rule D9). */
export function roleRoutes(
  access: Access,
  roles: RoleService,
  collections: RoleCollectionService,
): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();
  const tags = ['Occupational roles'];
  const entitled = access.entitled('occ');
  const costly = access.with({ expensive: true });

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/roles',
      operationId: 'listRoles',
      summary: 'List occupations by code',
      tags,
      ...entitled,
      request: { query: schemas.rolesQuery },
      responses: { 200: jsonContent(schemas.Roles, 'A page of occupations.'), ...errors(400, 401, 403) },
    }),
    (c) => answer(c, roles.list(c.req.valid('query'))),
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/roles/{code}',
      operationId: 'getRole',
      summary: 'Get an occupation with its tasks, skills and STIGs',
      tags,
      ...entitled,
      request: { params: schemas.codeParam },
      responses: { 200: jsonContent(schemas.Role, 'The occupation.'), ...errors(400, 401, 403, 404) },
    }),
    (c) => answer(c, roles.record(c.req.valid('param').code)),
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/roles/{code}/download',
      operationId: 'downloadRole',
      summary: 'Download an occupation as json, csv or xml',
      tags,
      ...costly.entitled('occ'),
      request: { params: schemas.codeParam, query: fileQuery },
      responses: { 200: fileContent(schemas.RoleFile), ...errors(400, 401, 403, 404) },
    }),
    (c) => {
      const { format, raw } = c.req.valid('query');
      const json = toRoleFile(roles.record(c.req.valid('param').code));
      const file = { json, root: 'role', element: 'row', columns: roleColumns, rows: roleRows(json) };
      return download(c, renderFile(file, format, raw), format, `${json.occupationCode}.${format}`);
    },
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/role-collections',
      operationId: 'listRoleCollections',
      summary: 'List the collections of occupations that the caller may see, newest first',
      tags,
      ...entitled,
      responses: { 200: jsonContent(RoleCollections, 'The collections.'), ...errors(400, 401, 403) },
    }),
    (c) => answer(c, collections.all(c.get('user'))),
  );

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/role-collections/{id}/export',
      operationId: 'exportRoleCollection',
      summary: 'Export a collection with its occupations as json, csv or xml',
      tags,
      ...costly.audited('role-collection.export').entitled('occ'),
      request: { params: idParam, query: fileQuery },
      responses: { 200: fileContent(RoleCollectionExport), ...errors(400, 401, 403, 404, 503) },
    }),
    (c) => {
      const { format, raw } = c.req.valid('query');
      const json = collections.exported(c.get('user'), c.req.valid('param').id);
      const columns = roleCollectionColumns;
      const file = { json, root: 'roleCollection', element: 'role', columns, rows: json.roles };
      return download(c, renderFile(file, format, raw), format, `${json.collection.name}.${format}`);
    },
  );

  return app;
}
