import { z } from '@hono/zod-openapi';
import type { Hono } from 'hono';
import type { Ask } from '../../base/ask.ts';
import { changesQuery, listChangesQuery } from '../../catalog/stigs/changes-schema.ts';
import { diffFilter, diffQuery } from '../../catalog/stigs/diff-schema.ts';
import { changesSince } from '../../catalog/stigs/jobs.ts';
import { download } from '../../http/answer.ts';
import type { Env } from '../../http/env.ts';
import { positiveInteger, requestText } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { markerOf } from '../parts/diff-text.tsx';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { shownList } from '../parts/shown-list.ts';
import { briefPage } from './brief.tsx';
import { catalogChangesPage, listChangesPage, quarterOf } from './changed-stigs.tsx';
import { diffPage } from './comparison.tsx';
import { briefHtml, changesBrief, comparedPage, comparisonHtml } from './jobs.ts';

const rulesPerPage = 60;
const page = positiveInteger('page').default(1);
const comparison = diffQuery.extend(diffFilter.shape);
const comparisonPage = comparison.extend({ page, rule: requestText('rule', 200).default('') });

/** The pages of changes: between two releases, in a list, in the whole catalog. */
export function changePages(
  app: Hono<Env>,
  support: PageSupport,
  services: Pick<Services, 'stigs' | 'lists'> & { ask: Ask },
): void {
  const { guard, show, now, assets, banner } = support;
  const { stigs, lists, ask } = services;

  const frame = () => ({ style: new TextDecoder().decode(assets.find(assets.style)!.bytes), banner });

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

  app.get('/stigs/:slug/diff/file', guard.costly, async (c) => {
    const { from, to, ...filter } = readQuery(c, comparison);
    const { bytes, format, name } = await ask(
      comparisonHtml,
      c.req.param('slug'),
      { from, to },
      filter,
      frame(),
    );
    return download(c, bytes, format, name);
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

  app.get('/lists/:id/brief', guard.costly, async (c) => {
    const { page: number } = readQuery(c, z.object({ page }));
    const part = { page: number, limit: rulesPerPage };
    const { brief, marked } = await ask(changesBrief, c.get('user'), c.req.param('id'), part, now());
    return show(c, briefPage(brief, part, markerOf(marked)));
  });

  app.get('/lists/:id/brief/file', guard.costly, async (c) => {
    const { bytes, format, name } = await ask(briefHtml, c.get('user'), c.req.param('id'), now(), frame());
    return download(c, bytes, format, name);
  });
}
