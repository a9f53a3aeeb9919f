import type { Hono } from 'hono';
import { canonicalIdentifier } from '../catalog/controls/identifier.ts';
import { stigColumns } from '../catalog/stigs/queries.ts';
import { controlsQuery, listQuery, versionQuery } from '../catalog/stigs/schema.ts';
import type { Env } from '../http/env.ts';
import { sorting } from '../http/schema.ts';
import { rulePage } from './html/rule.tsx';
import { stigPage } from './html/stig.tsx';
import { stigsPage } from './html/stigs.tsx';
import { ownLists } from './list-frame.ts';
import { type PageDeps, type PageSupport, readQuery } from './page.ts';

const rulesPerPage = 100;

/** The pages of STIGs and their rules. */
export function stigPages(app: Hono<Env>, { guard, show }: PageSupport, deps: PageDeps): void {
  const { stigs, lists, favorites, roleMapping, now } = deps;

  app.get('/stigs', guard.user, (c) => {
    const query = readQuery(c, listQuery.extend(sorting(stigColumns)));
    const page = {
      list: stigs.list(query),
      search: query.search ?? '',
      sort: query.sort,
      lists: ownLists(c, lists),
      now: now(),
    };
    return show(c, stigsPage(page));
  });

  app.get('/stigs/:slug', guard.user, (c) => {
    const user = c.get('user');
    const query = readQuery(c, controlsQuery);
    const cci = (c.req.query('cci') ?? '').trim();
    const { stig, ...found } = stigs.overview(c.req.param('slug'), {
      ...query,
      limit: rulesPerPage,
      cci: cci === '' ? undefined : (canonicalIdentifier('cci', cci) ?? cci),
    });
    const { versions } = stigs.versions(stig.slug);
    return show(
      c,
      stigPage({
        ...stig,
        ...found,
        filter: { search: query.search ?? '', severity: [...(query.severity ?? [])], cci },
        versions,
        isFavorite: favorites.stigs(user).slugs.includes(stig.slug),
        lists: ownLists(c, lists),
        // Without the entitlement nothing is looked up: the page tells no STIG from another (D9.4).
        roles: user.entitlements.has('occ') ? roleMapping.rows(stig.slug) : null,
      }),
    );
  });

  app.get('/stigs/:slug/rules/:groupId', guard.user, (c) => {
    const { slug, groupId } = c.req.param();
    const { version } = readQuery(c, versionQuery);
    const { stig, ...group } = stigs.group(slug, groupId, version);
    const isCurrent = stigs
      .versions(slug)
      .versions.some((each) => each.current && each.version === stig.version);
    return show(
      c,
      rulePage({ slug: stig.slug, stigTitle: stig.title, version: stig.version, isCurrent, ...group }),
    );
  });
}
