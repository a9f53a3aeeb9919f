import { z } from '@hono/zod-openapi';
import type { Context, Hono } from 'hono';
import type { Ask } from '../../base/ask.ts';
import { catalogSummary } from '../../catalog/jobs.ts';
import { changesQuery, listChangesQuery } from '../../catalog/stigs/changes-schema.ts';
import { diffFilter, diffQuery } from '../../catalog/stigs/diff-schema.ts';
import { changesBrief, changesSince, comparedReleases } from '../../catalog/stigs/jobs.ts';
import { download } from '../../http/answer.ts';
import type { Env } from '../../http/env.ts';
import type { Page } from '../../http/paging.ts';
import { positiveInteger, requestText } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { markedFields, markerOf } from '../parts/diff-text.tsx';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { shownList } from '../parts/shown-list.ts';
import { briefFile, briefPage } from './brief.tsx';
import { catalogChangesPage, listChangesPage, quarterOf } from './changed-stigs.tsx';
import { diffFile, diffFileName, diffPage, partOf } from './comparison.tsx';

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

  async function compared(c: Context<Env>, { from, to, ...filter }: z.output<typeof comparison>) {
    const diff = await ask(comparedReleases, c.req.param('slug') ?? '', { from, to }, filter);
    return { diff, filter };
  }

  app.get('/stigs/:slug/diff', guard.costly, async (c) => {
    const { page, rule, ...query } = readQuery(c, comparisonPage);
    const { diff, filter } = await compared(c, query);
    const versions = stigs.versions(diff.slug).versions.map((each) => each.version);
    const part = partOf(diff, page, rule);
    const marker = markerOf(await ask(markedFields, part.rules, undefined));
    return show(c, diffPage({ diff, filter, versions, part, marker }));
  });

  app.get('/stigs/:slug/diff/file', guard.costly, async (c) => {
    const { diff, filter } = await compared(c, readQuery(c, comparison));
    // Without a time limit: the same rules must give the same bytes.
    const marker = markerOf(await ask(markedFields, diff.changed, Number.POSITIVE_INFINITY));
    const style = new TextDecoder().decode(assets.find(assets.style)!.bytes);
    return download(c, diffFile({ diff, filter, marker, style, banner }), 'html', diffFileName(diff, filter));
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

  async function brief(c: Context<Env>, page: Page | null) {
    const { list } = shownList(c, lists);
    const content = await ask(changesBrief, c.get('user'), list.id, page);
    const { digest } = await ask(catalogSummary);
    const changed = content.rules.flatMap((each) => (each.kind === 'changed' ? [each.rule] : []));
    return { made: { ...content, list, seenAt: list.seenAt, digest, now: now() }, changed };
  }

  app.get('/lists/:id/brief', guard.costly, async (c) => {
    const { page: number } = readQuery(c, z.object({ page }));
    const part = { page: number, limit: rulesPerPage };
    const { made, changed } = await brief(c, part);
    const marker = markerOf(await ask(markedFields, changed, undefined));
    return show(c, briefPage(made, part, marker));
  });

  app.get('/lists/:id/brief/file', guard.costly, async (c) => {
    const { made, changed } = await brief(c, null);
    const marker = markerOf(await ask(markedFields, changed, Number.POSITIVE_INFINITY));
    const style = new TextDecoder().decode(assets.find(assets.style)!.bytes);
    return download(c, briefFile(made, marker, style, banner), 'html', `${made.list.name}_changes.html`);
  });
}
