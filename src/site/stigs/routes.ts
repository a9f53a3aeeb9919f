import type { Context, Hono } from 'hono';
import { stigColumns } from '../../catalog/stigs/queries.ts';
import { readingFilter, readingQuery } from '../../catalog/stigs/reading.ts';
import { listQuery } from '../../catalog/stigs/schema.ts';
import type { Env } from '../../http/env.ts';
import { sorting } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { ownLists } from '../parts/shown-list.ts';
import { type OwnPart, stigPage } from './stig.tsx';
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
  const { stigs, stigNames, cciLookup, deprecatedCcis, lists, favorites, roleMapping, ruleAutomation } =
    services;

  function one(c: Context<Env>, part: OwnPart): Response {
    const user = c.get('user');
    const query = readQuery(c, readingQuery);
    const cci = cciLookup.typed(c.req.query('cci'));
    const automation = ruleAutomation(stigs.release(c.req.param('slug')!).slug);
    const { filter, narrowing } = readingFilter(query, cci, automation);
    const { stig, ...found } = stigs.overview(c.req.param('slug')!, {
      ...{ ...query, ...narrowing },
      limit: rulesPerPage,
    });
    return show(
      c,
      stigPage(
        {
          ...stig,
          ...found,
          filter,
          cci: cci.canonical ?? '',
          deprecated: deprecatedCcis(found.findings.flatMap((rule) => rule.ruleIdents)),
          versions: stigs.versions(stig.slug).versions,
          isFavorite: favorites.stigs(user).slugs.includes(stig.slug),
          lists: ownLists(c, lists),
          automation,
          // No look-up without the entitlement: the page must not reveal which STIGs have roles (D9.4).
          roles: user.entitlements.has('occ') ? roleMapping.rows(stig.slug) : null,
        },
        part,
      ),
    );
  }

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

  for (const part of ['rules', 'releases', 'roles', 'about'] as const)
    app.get(part === 'rules' ? '/stigs/:slug' : `/stigs/:slug/${part}`, guard.user, (c) => one(c, part));
}
