import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import { answer, download } from '../answer.ts';
import type { Access } from '../auth/access.ts';
import type { Env } from '../env.ts';
import { roleCollectionColumns, roleColumns, roleRows, toRoleFile } from '../export/roles.ts';
import { idParam } from '../schemas/bundles.ts';
import { RoleCollectionExport, RoleCollections } from '../schemas/catalog-collections.ts';
import { errors, jsonContent } from '../schemas/common.ts';
import { fileQuery } from '../schemas/regdoc.ts';
import * as schemas from '../schemas/roles.ts';
import type { RoleCollectionService } from '../services/catalog-collections.ts';
import type { RoleService } from '../services/roles.ts';
import { fileContent, renderFile } from './files.ts';

/** Occupational roles and their collections (specification, "Occupational roles"). */
export function roleRoutes(
  access: Access,
  roles: RoleService,
  collections: RoleCollectionService,
): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();
  const tags = ['Occupational roles'];
  const entitled = access.entitled('occ');
  const costly = access.with({ expensive: true }).entitled('occ');

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/roles',
      operationId: 'listRoles',
      summary: 'The occupations, by code',
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
      summary: 'One occupation with its tasks, skills and STIGs',
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
      summary: 'One occupation as json, csv or xml',
      tags,
      ...costly,
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
      summary: 'The collections of occupations that the caller may see, newest first',
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
      summary: 'A collection with its occupations as json, csv or xml',
      tags,
      ...access.audited(costly, 'role-collection.export'),
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
