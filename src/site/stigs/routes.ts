import type { Hono } from 'hono';
import { stigColumns } from '../../catalog/stigs/queries.ts';
import { controlsQuery, listQuery } from '../../catalog/stigs/schema.ts';
import type { Env } from '../../http/env.ts';
import { sorting } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { ownLists } from '../parts/shown-list.ts';
import { stigPage } from './stig.tsx';
import { stigsPage } from './stigs.tsx';

const rulesPerPage = 100;

/** The pages of STIGs. */
export function stigPages(
  app: Hono<Env>,
  { guard, show, now }: PageSupport,
  services: Pick<
    Services,
    | 'stigs'
    | 'stigNames'
    | 'cciLookup'
    | 'deprecatedCcis'
    | 'lists'
    | 'favorites'
    | 'roleMapping'
    | 'ruleAutomation'
  >,
): void {
  const { stigs, stigNames, cciLookup, lists, favorites, roleMapping, ruleAutomation } = services;

  app.get('/stigs', guard.user, (c) => {
    const { search = '', ...query } = readQuery(c, listQuery.extend(sorting(stigColumns)));
    const called = search.trim() === '' ? undefined : stigNames.listed(search);
    const page = {
      list: stigs.list({ ...query, called }),
      search,
      sort: query.sort,
      lists: ownLists(c, lists),
      now: now(),
    };
    return show(c, stigsPage(page));
  });

  app.get('/stigs/:slug', guard.user, (c) => {
    const user = c.get('user');
    const query = readQuery(c, controlsQuery);
    const cci = cciLookup.typed(c.req.query('cci'));
    const { stig, ...found } = stigs.overview(c.req.param('slug'), {
      ...query,
      limit: rulesPerPage,
      cci: cci.canonical,
    });
    const { versions } = stigs.versions(stig.slug);
    return show(
      c,
      stigPage({
        ...stig,
        ...found,
        filter: { search: query.search ?? '', severity: [...(query.severity ?? [])], cci: cci.typed },
        cci: cci.canonical ?? '',
        deprecated: services.deprecatedCcis(found.findings.flatMap((rule) => rule.ruleIdents)),
        versions,
        isFavorite: favorites.stigs(user).slugs.includes(stig.slug),
        lists: ownLists(c, lists),
        automation: ruleAutomation(stig.slug),
        // No look-up without the entitlement: the page must not reveal which STIGs have roles (D9.4).
        roles: user.entitlements.has('occ') ? roleMapping.rows(stig.slug) : null,
      }),
    );
  });
}
