import { z } from '@hono/zod-openapi';
import type { Hono } from 'hono';
import type { Ask } from '../../base/ask.ts';
import { notFound } from '../../base/errors.ts';
import { importedSources, loadedContent } from '../../catalog/jobs.ts';
import { ledgerColumns, outcomes } from '../../catalog/ledger.ts';
import { stigColumns } from '../../catalog/stigs/queries.ts';
import { wordList } from '../../http/arrays.ts';
import type { Env } from '../../http/env.ts';
import { oneWord, paging, positiveInteger, search, sorting } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { daysBefore } from '../parts/bars.tsx';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { FirstRun } from './first-run.tsx';
import { homePage } from './home.tsx';
import { ledgerPage } from './import-report.tsx';
import { homeOf } from './jobs.ts';
import { loadedPage } from './loaded.tsx';

const runsShown = 50;
const ledgerQuery = z.object({
  ...paging(100, 100),
  ...sorting(ledgerColumns),
  outcome: wordList('outcome', outcomes),
  search,
});

const agesPerPage = 50;
/** In days: the publisher's library appears every quarter. */
const ageChoices = ['91', '182', '365', '730'] as const;
const agesQuery = z.object({
  page: positiveInteger('page').default(1),
  ...sorting(stigColumns),
  olderThan: oneWord('olderThan', ageChoices).optional(),
});

/** The start page, the content of the catalog, and the imports. */
export function contentPages(
  app: Hono<Env>,
  { guard, show, now }: PageSupport,
  services: Pick<Services, 'news' | 'stigs' | 'onlySamples'> & {
    ask: Ask;
    inbox: string | null;
  },
): void {
  const { news, stigs, onlySamples, inbox, ask } = services;

  app.get('/', guard.visitor, async (c) => {
    const visitor = c.get('visitor');
    const firstRun = onlySamples() ? FirstRun({ inbox: visitor === null ? null : inbox }) : null;
    if (visitor === null) return show(c, homePage(null, firstRun));
    return show(c, homePage(await ask(homeOf, visitor), firstRun));
  });

  app.get('/content', guard.user, async (c) => {
    const user = c.get('user');
    const { olderThan, sort = 'date', page: number } = readQuery(c, agesQuery);
    const before = olderThan === undefined ? undefined : daysBefore(now(), Number(olderThan));
    const [oldest] = stigs.list({ sort: 'date', page: 1, limit: 1 }).stigs;
    const page = {
      ages: {
        list: stigs.list({ sort, before, page: number, limit: agesPerPage }),
        oldest: oldest?.releaseDate ?? null,
        ...{ olderThan: olderThan ?? '', choices: ageChoices, sort, now: now() },
      },
      stats: news.stats(),
      ...(await ask(loadedContent, user, runsShown)),
    };
    return show(c, loadedPage(page));
  });

  app.get('/content/imports/:run', guard.user, async (c) => {
    const { outcome, search, sort, ...page } = readQuery(c, ledgerQuery);
    const id = c.req.param('run');
    if (!/^\d{1,15}$/.test(id)) throw notFound();
    const wanted = [...(outcome ?? [])][0];
    const asked = { outcome: wanted, search, sort };
    const found = await ask(importedSources, c.get('user'), Number(id), asked, page);
    const filter = { outcome: wanted ?? '', search: search ?? '', sort };
    return show(c, ledgerPage({ ...found, filter, outcomes }));
  });
}
