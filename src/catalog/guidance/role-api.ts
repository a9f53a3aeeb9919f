import type { Access } from '../../http/access.ts';
import { downloadFile, fileContent, fileQuery } from '../../http/downloads.ts';
import { createRoutes } from '../../http/route.ts';
import { jsonContent } from '../../http/schema.ts';
import { roleFile } from './role-export.ts';
import type { RoleService } from './role-queries.ts';
import * as schemas from './role-schema.ts';

/** Occupational roles (rule D9). */
export function roleRoutes(access: Access, roles: RoleService) {
  const { app, route } = createRoutes('Occupational roles');
  const entitled = access.entitled('occ');
  const costly = access.with({ expensive: true });

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
      const role = roles.record(params.code);
      return downloadFile(c, query, role.occupationCode, roleFile(role));
    },
  });

  return app;
}
