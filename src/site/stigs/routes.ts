import { z } from '@hono/zod-openapi';
import type { Context, Hono } from 'hono';
import type { Ask } from '../../base/ask.ts';
import { notThere } from '../../base/errors.ts';
import { stigsBeside } from '../../catalog/stigs/jobs.ts';
import { likenesses } from '../../catalog/stigs/likeness.ts';
import { stigColumns } from '../../catalog/stigs/queries.ts';
import { readingFilter, readingQuery } from '../../catalog/stigs/reading.ts';
import { listQuery } from '../../catalog/stigs/schema.ts';
import { download } from '../../http/answer.ts';
import { toCsv } from '../../http/columns.ts';
import type { Env } from '../../http/env.ts';
import { oneWord, positiveInteger, requestText, sorting } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { ownLists } from '../parts/shown-list.ts';
import { besideColumns, besidePage } from './beside.tsx';
import { type OwnPart, stigPage } from './stig.tsx';
import { stigsPage } from './stigs.tsx';

const rulesPerPage = 100;
const besideQuery = z.object({
  with: requestText('with', 200).optional(),
  kind: oneWord('kind', likenesses).optional(),
  page: positiveInteger('page').default(1),
});

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
  > & { ask: Ask },
): void {
  const { stigs, stigNames, cciLookup, deprecatedCcis, lists, favorites, roleMapping, ruleAutomation, ask } =
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

  /** The two STIGs that a page is asked for, and their rules side by side; the other one is named as people say it. */
  async function beside(c: Context<Env>) {
    const { with: asked = '', ...query } = readQuery(c, besideQuery);
    const found = await ask(stigsBeside, c.req.param('slug') ?? '', asked);
    const problem = asked === '' || found.right !== null ? null : `No STIG matches ${asked}.`;
    return { ...found, asked, problem, query };
  }

  app.get('/stigs/:slug/beside', guard.costly, async (c) => {
    const { query, ...found } = await beside(c);
    const page = besidePage({ ...found, page: query.page, kind: query.kind ?? '' });
    return show(c, page, found.problem === null ? 200 : 404);
  });

  app.get('/stigs/:slug/beside/file', guard.costly, async (c) => {
    const { left, right, problem, lines } = await beside(c);
    if (right === null) throw notThere('with', problem ?? 'with must name a STIG');
    const name = `${left.slug}_${left.version}_beside_${right.slug}_${right.version}.csv`;
    return download(c, toCsv(besideColumns(left, right), lines), 'csv', name);
  });

  for (const part of ['rules', 'releases', 'roles', 'about'] as const)
    app.get(part === 'rules' ? '/stigs/:slug' : `/stigs/:slug/${part}`, guard.user, (c) => one(c, part));
}
