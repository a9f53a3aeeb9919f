import type { Hono } from 'hono';
import type { Ask } from '../../base/ask.ts';
import { changesQuery } from '../../catalog/stigs/changes-schema.ts';
import { changesSince } from '../../catalog/stigs/jobs.ts';
import type { Env } from '../../http/env.ts';
import { positiveInteger } from '../../http/schema.ts';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { catalogChangesPage, quarterOf } from '../parts/reports/changed-stigs.tsx';

/** What changed in the whole catalog. */
export function changePages(app: Hono<Env>, { guard, show, now }: PageSupport, { ask }: { ask: Ask }): void {
  app.get('/changes', guard.user, async (c) => {
    const { since, page } = readQuery(
      c,
      changesQuery.extend({
        page: positiveInteger('page').default(1),
        since: changesQuery.shape.since.default(quarterOf(now())),
      }),
    );
    const changes = await ask(changesSince, undefined, since);
    return show(c, catalogChangesPage({ changes, page, now: now() }));
  });
}
