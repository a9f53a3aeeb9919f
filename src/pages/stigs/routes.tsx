import type { Context, Hono } from 'hono';
import type { Ask } from '../../base/ask.ts';
import { programName } from '../../base/installation.ts';
import { count } from '../../base/text.ts';
import { diffFilter, diffQuery } from '../../catalog/stigs/diff-schema.ts';
import { stigColumns } from '../../catalog/stigs/queries.ts';
import { readingFilter, readingQuery } from '../../catalog/stigs/reading.ts';
import { listQuery, type StigList } from '../../catalog/stigs/schema.ts';
import type { Env } from '../../http/env.ts';
import { positiveInteger, requestText, sorting } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { Aged } from '../parts/bars.tsx';
import { StigLink } from '../parts/components.tsx';
import { createMarker } from '../parts/diff-text.tsx';
import { AddChecked, CheckStig, FindForm } from '../parts/forms.tsx';
import { ownLists } from '../parts/list-frame.tsx';
import { listing } from '../parts/listing.tsx';
import { type PageSupport, readQuery } from '../parts/page.ts';
import type { View } from '../parts/view.ts';
import { diffPage } from './comparison.tsx';
import { comparedPage } from './jobs.ts';
import { type OwnPart, stigPage } from './stig.tsx';

const rulesPerPage = 100;
const comparisonQuery = diffQuery.extend(diffFilter.shape).extend({
  page: positiveInteger('page').default(1),
  rule: requestText('rule', 200).default(''),
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
    const cci = cciLookup.readFilter(c.req.query('cci'));
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
    const slugs = search.trim() === '' ? undefined : stigNames.listed(search);
    const page = {
      list: stigs.list({ ...query, slugs }),
      search,
      sort: query.sort,
      lists: ownLists(c, lists),
      now: now(),
    };
    return show(c, stigsPage(page));
  });

  app.get('/stigs/:slug/diff', guard.costly, async (c) => {
    const { page, rule, from, to, ...filter } = readQuery(c, comparisonQuery);
    const { diff, part, marked } = await ask(
      comparedPage,
      c.req.param('slug'),
      { from, to },
      filter,
      page,
      rule,
    );
    const versions = stigs.versions(diff.slug).versions.map((each) => each.version);
    return show(c, diffPage({ diff, filter, versions, part, marker: createMarker(marked) }));
  });

  for (const part of ['rules', 'releases', 'roles', 'about'] as const)
    app.get(part === 'rules' ? '/stigs/:slug' : `/stigs/:slug/${part}`, guard.user, (c) => one(c, part));
}

interface StigsPage {
  list: StigList;
  search: string;
  sort: string | undefined;
  lists: { id: string; name: string }[];
  now: Date;
}

/** The page of all STIGs. */
function stigsPage({ list, search, sort, lists, now }: StigsPage): View {
  const { stigs, pagination } = list;
  const hasLists = lists.length > 0;
  return {
    title: 'STIGs',
    section: 'stigs',
    actions: (
      <a class="button quiet" href="/changes">
        What changed
      </a>
    ),
    body: (
      <>
        <FindForm
          action="/stigs"
          label="Title, benchmark ID or abbreviation"
          search={search}
          keep={{ sort }}
        />
        <p class="quiet">
          {count(pagination.total, 'STIG')}
          {stigs.length === 0 ? null : hasLists ? (
            '. Check some to add them to a list.'
          ) : (
            <>
              . <a href="/systems#new">Create a list</a> to add STIGs to it from here.
            </>
          )}
        </p>
        <AddChecked to={stigs.length === 0 ? [] : lists}>
          {listing({
            caption: 'STIGs',
            columns: [
              [
                'Title',
                (stig) => (
                  <>
                    {hasLists ? <CheckStig slug={stig.slug} title={stig.title} /> : null}
                    <StigLink of={stig} />
                  </>
                ),
                'title',
              ],
              ['Release', ({ version }) => version],
              ['Date', ({ releaseDate }) => <Aged date={releaseDate} now={now} />, 'date'],
              ['Rules', ({ findingCount }) => findingCount, 'rules'],
            ],
            rows: stigs,
            home: '/stigs',
            query: { search, sort },
            sort: sort ?? (search === '' ? 'title' : undefined),
            pagination,
            empty:
              search === '' ? (
                `No STIGs yet. Import the publishers’ files with ${programName} import PATH.`
              ) : (
                <>
                  No STIG matches this name. <a href="/stigs">Show all</a>
                </>
              ),
          })}
        </AddChecked>
      </>
    ),
  };
}
