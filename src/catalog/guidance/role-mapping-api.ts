import { badRequest } from '../../base/errors.ts';
import type { Access } from '../../http/access.ts';
import { createRoutes } from '../../http/route.ts';
import { jsonContent } from '../../http/schema.ts';
import type { RoleMappingService } from './role-mapping.ts';
import { benchmarkParam, RoleMapping } from './role-schema.ts';

/** The answer to every session without the entitlement, without a look-up (D9.4). */
const gated: RoleMapping = { gated: true, federal: false, mappings: [] };

/** The role mapping of a STIG (rule D9.4), for sessions only. */
export function roleMappingRoutes(access: Access, mapping: RoleMappingService) {
  const { app, route } = createRoutes('Role mapping');
  const { session } = access.with({ product: 'occ' });

  route('GET /api/v1/role-mapping/benchmark/{benchmarkId}/roles', session, {
    operationId: 'listBenchmarkRoles',
    summary: 'List who acts on a STIG, by relevance',
    description:
      'Needs a session. Without the permission `occ` the response is the same for every STIG, whether it exists or not.',
    params: benchmarkParam,
    response: jsonContent(RoleMapping, 'The occupations.'),
    notFound: false,
    handle: ({ user, params }) => {
      if (!user.entitlements.has('occ')) return gated;
      const mappings = mapping.rows(params.benchmarkId);
      return { gated: false, federal: true, mappings };
    },
  });

  // A missing id is a bad request, not an unknown path.
  app.use('/api/v1/role-mapping/benchmark//roles', ...access.session.middleware, () => {
    throw badRequest('benchmarkId must be a number, a slug or a benchmark id', 'benchmarkId');
  });

  return app;
}
