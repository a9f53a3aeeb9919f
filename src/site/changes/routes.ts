import type { Hono } from 'hono';
import type { Ask } from '../../base/ask.ts';
import { changesQuery, listChangesQuery } from '../../catalog/stigs/changes-schema.ts';
import { diffFilter, diffQuery } from '../../catalog/stigs/diff-schema.ts';
import { changesSince } from '../../catalog/stigs/jobs.ts';
import type { Env } from '../../http/env.ts';
import { positiveInteger, requestText } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { markerOf } from '../parts/diff-text.tsx';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { shownList } from '../parts/shown-list.ts';
import { catalogChangesPage, listChangesPage, quarterOf } from './changed-stigs.tsx';
import { diffPage } from './comparison.tsx';
import { comparedPage } from './jobs.ts';

const page = positiveInteger('page').default(1);
const comparisonPage = diffQuery
  .extend(diffFilter.shape)
  .extend({ page, rule: requestText('rule', 200).default('') });

/** The pages of changes: between two releases, in a list, in the whole catalog. */
export function changePages(
  app: Hono<Env>,
  support: PageSupport,
  services: Pick<Services, 'stigs' | 'lists'> & { ask: Ask },
): void {
  const { guard, show, now } = support;
  const { stigs, lists, ask } = services;

  app.get('/stigs/:slug/diff', guard.costly, async (c) => {
    const { page, rule, from, to, ...filter } = readQuery(c, comparisonPage);
    const { diff, part, marked } = await ask(
      comparedPage,
      c.req.param('slug'),
      { from, to },
      filter,
      page,
      rule,
    );
    const versions = stigs.versions(diff.slug).versions.map((each) => each.version);
    return show(c, diffPage({ diff, filter, versions, part, marker: markerOf(marked) }));
  });

  app.get('/changes', guard.user, async (c) => {
    const query = changesQuery.extend({ page, since: changesQuery.shape.since.default(quarterOf(now())) });
    const { since, page: number } = readQuery(c, query);
    const changes = await ask(changesSince, undefined, since);
    return show(c, catalogChangesPage({ changes, page: number, now: now() }));
  });

  app.get('/lists/:id/changes', guard.user, async (c) => {
    const shown = shownList(c, lists);
    const query = listChangesQuery.extend({ page, since: listChangesQuery.shape.since.default('added') });
    const { since, page: number } = readQuery(c, query);
    const found = await ask(changesSince, { viewer: c.get('user'), list: shown.list.id }, since);
    return show(c, listChangesPage({ ...shown, changes: found, page: number, now: now() }));
  });
}
