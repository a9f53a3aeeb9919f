import type { Hono } from 'hono';
import { changeClasses, diffQuery } from '../catalog/stigs/diff-schema.ts';
import { stigColumns } from '../catalog/stigs/queries.ts';
import { controlsQuery, listQuery } from '../catalog/stigs/schema.ts';
import type { Env } from '../http/env.ts';
import { paginationOf, slice } from '../http/paging.ts';
import { positiveInteger, sorting } from '../http/schema.ts';
import { diffPage } from './html/diff.tsx';
import { stigPage } from './html/stig.tsx';
import { stigsPage } from './html/stigs.tsx';
import { ownLists } from './list-frame.ts';
import { type PageDeps, type PageSupport, readQuery } from './page.ts';
import { cciOf } from './rules.ts';

const rulesPerPage = 100;
const changesPerPage = 50;

/** The pages of STIGs and their rules. */
export function stigPages(app: Hono<Env>, { guard, show }: PageSupport, deps: PageDeps): void {
  const { stigs, finder, stigDiff, lists, favorites, roleMapping, now } = deps;

  app.get('/stigs', guard.user, (c) => {
    const { search = '', ...query } = readQuery(c, listQuery.extend(sorting(stigColumns)));
    const called = search.trim() === '' ? undefined : finder.called(search);
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
    const cci = cciOf(c);
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
        versions,
        isFavorite: favorites.stigs(user).slugs.includes(stig.slug),
        lists: ownLists(c, lists),
        // Without the entitlement nothing is looked up: the page tells no STIG from another (D9.4).
        roles: user.entitlements.has('occ') ? roleMapping.rows(stig.slug) : null,
      }),
    );
  });

  app.get('/stigs/:slug/diff', guard.costly, (c) => {
    const { page, ...query } = readQuery(c, diffQuery.extend({ page: positiveInteger('page').default(1) }));
    const diff = stigDiff.diff(c.req.param('slug'), query);
    const versions = stigs.versions(diff.slug).versions.map((each) => each.version);
    const shown = changeClasses.find((each) => each === c.req.query('class')) ?? '';
    const wanted = diff.changed.filter((rule) => shown === '' || rule.classes.includes(shown));
    const part = { page, limit: changesPerPage };
    const pagination = paginationOf(part, wanted.length);
    return show(c, diffPage({ diff, changed: slice(wanted, part), pagination, versions, shown }));
  });
}
