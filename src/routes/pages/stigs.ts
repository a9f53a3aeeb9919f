import type { Hono } from 'hono';
import { canonicalIdentifier } from '../../crosswalk/identifier.ts';
import type { Env } from '../../env.ts';
import { positiveInteger } from '../../schemas/common.ts';
import { changeClasses, diffQuery } from '../../schemas/stig-diff.ts';
import { controlsQuery, listQuery, versionQuery } from '../../schemas/stigs.ts';
import type { FavoriteService } from '../../services/favorites.ts';
import type { ListService } from '../../services/lists.ts';
import { paginationOf, slice } from '../../services/paging.ts';
import type { RoleMappingService } from '../../services/role-mapping.ts';
import type { StigDiffService } from '../../services/stig-diff.ts';
import type { StigService } from '../../services/stigs.ts';
import { diffPage } from '../../web/diff.tsx';
import { rulePage } from '../../web/rule.tsx';
import { stigPage } from '../../web/stig.tsx';
import { stigsPage } from '../../web/stigs.tsx';
import { type Kit, readQuery } from './kit.ts';

export interface StigPageServices {
  stigs: StigService;
  stigDiff: StigDiffService;
  lists: ListService;
  favorites: FavoriteService;
  roleMapping: RoleMappingService;
}

const rulesPerPage = 100;
const changesPerPage = 50;

/** The pages of STIGs and their rules. */
export function stigPages(app: Hono<Env>, { guard, show }: Kit, services: StigPageServices): void {
  const { stigs, stigDiff, lists, favorites, roleMapping } = services;

  app.get('/stigs', guard.user, (c) => {
    const query = readQuery(c, listQuery);
    return show(c, stigsPage({ list: stigs.list(query), search: query.search ?? '' }));
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
        lists: lists.all(user, false).lists.filter((list) => list.createdById === user.subject),
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
