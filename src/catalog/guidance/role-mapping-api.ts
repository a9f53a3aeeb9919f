import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import { badRequest } from '../../base/errors.ts';
import type { Access } from '../../http/access.ts';
import { answer } from '../../http/answer.ts';
import type { Env } from '../../http/env.ts';
import { errors, jsonContent } from '../../http/schema.ts';
import type { RoleMappingService } from './role-mapping.ts';
import { benchmarkParam, RoleMapping } from './role-schema.ts';

/** What a session without the entitlement gets, whatever it asks for: nothing is looked up for it (D9.4). */
const gated: RoleMapping = { gated: true, federal: false, mappings: [] };

/** The role mapping of a STIG (rule D9.4): for sessions alone. */
export function roleMappingRoutes(access: Access, mapping: RoleMappingService): OpenAPIHono<Env> {
  const app = new OpenAPIHono<Env>();
  const { session } = access.with({ product: 'occ' });

  app.openapi(
    createRoute({
      method: 'get',
      path: '/api/v1/role-mapping/benchmark/{benchmarkId}/roles',
      operationId: 'listBenchmarkRoles',
      summary: 'List who acts on a STIG, by relevance',
      description:
        'Needs a session. Without the permission `occ` the response is the same for every STIG, whether it exists or not.',
      tags: ['Role mapping'],
      ...session,
      request: { params: benchmarkParam },
      responses: { 200: jsonContent(RoleMapping, 'The occupations.'), ...errors(400, 401) },
    }),
    (c) => {
      if (!c.get('user').entitlements.has('occ')) return answer(c, gated);
      const mappings = mapping.rows(c.req.valid('param').benchmarkId);
      return answer(c, { gated: false, federal: true, mappings });
    },
  );

  // The id left out is a bad request, not an unknown path.
  app.use('/api/v1/role-mapping/benchmark//roles', ...access.session.middleware, () => {
    throw badRequest('benchmarkId must be a number or a slug');
  });

  return app;
}
