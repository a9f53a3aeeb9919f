import type { Hono } from 'hono';
import { rolesQuery } from '../../catalog/guidance/role-schema.ts';
import type { Env } from '../../http/env.ts';
import type { Services } from '../../services.ts';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { rolePage, rolesPage } from './roles.tsx';

/** Occupations, for readers with the entitlement. */
export function rolePages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  { roles, roleCollections }: Pick<Services, 'roles' | 'roleCollections'>,
): void {
  app.get('/roles', guard.entitled('occ'), (c) => {
    const query = readQuery(c, rolesQuery);
    const { collections } = roleCollections.all(c.get('user'));
    const filter = { search: query.search, family: query.family, limit: c.req.query('limit') };
    return show(c, rolesPage({ roles: roles.list(query), collections, filter }));
  });

  app.get('/roles/:code', guard.entitled('occ'), (c) =>
    show(c, rolePage({ role: roles.record(c.req.param('code')) })),
  );
}
