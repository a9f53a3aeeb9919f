import { z } from '@hono/zod-openapi';
import type { Hono } from 'hono';
import type { Child } from 'hono/jsx';
import type { Ask } from '../../base/ask.ts';
import { notFound } from '../../base/errors.ts';
import { programName } from '../../base/installation.ts';
import { count, countOf, formatDigest } from '../../base/text.ts';
import type { LoadedCatalog } from '../../catalog/controls/queries.ts';
import { importedSources, loadedContent } from '../../catalog/jobs.ts';
import { type ImportRun, type LedgerEntry, ledgerColumns, outcomes } from '../../catalog/ledger.ts';
import { stigColumns } from '../../catalog/stigs/queries.ts';
import type { StigList, StigStats } from '../../catalog/stigs/schema.ts';
import type { CatalogSummary } from '../../catalog/summary.ts';
import { wordList } from '../../http/arrays.ts';
import type { Env } from '../../http/env.ts';
import { oneWord, type Pagination, paging, positiveInteger, search, sorting } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { AgeBar, age, daysBefore, daysSince } from '../parts/bars.tsx';
import {
  Day,
  Facts,
  Lines,
  link,
  Moment,
  path,
  SeverityCounts,
  StigLink,
  Table,
  Totals,
} from '../parts/components.tsx';
import { Filters, FindForm, Hidden, Select } from '../parts/forms.tsx';
import { frameworkName } from '../parts/links.tsx';
import { listing } from '../parts/listing.tsx';
import { type PageSupport, readQuery } from '../parts/page.ts';
import type { View } from '../parts/view.ts';
import { FirstRun, homePage } from './home.tsx';
import { homeOf } from './jobs.ts';

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
    const requested = [...(outcome ?? [])][0];
    const asked = { outcome: requested, search, sort };
    const found = await ask(importedSources, c.get('user'), Number(id), asked, page);
    const filter = { outcome: requested ?? '', search: search ?? '', sort };
    return show(c, ledgerPage({ ...found, filter, outcomes }));
  });
}

interface LedgerPage {
  run: ImportRun;
  entries: LedgerEntry[];
  pagination: Pagination;
  filter: { outcome: string; search: string; sort: string | undefined };
  outcomes: readonly string[];
}

/** The ledger of one import: every source, and its outcome. */
function ledgerPage({ run, entries, pagination, filter, outcomes }: LedgerPage): View {
  const home = path('content', 'imports', String(run.id));
  return {
    title: `Import of ${run.finishedAt.slice(0, 10)}`,
    section: 'content',
    crumbs: [['Content', '/content']],
    heading: (
      <>
        Import of <Moment at={run.finishedAt} />
      </>
    ),
    body: listing({
      filters: (
        <FindForm action={home} label="File name contains" search={filter.search}>
          <Select name="outcome" label="Outcome" none="all" of={outcomes} selected={filter.outcome} />
        </FindForm>
      ),
      summary: count(pagination.total, 'source'),
      caption: 'Sources',
      columns: [
        ['Source', (entry) => <Source entry={entry} />, 'source'],
        ['Kind', ({ kind }) => kind, 'kind'],
        [
          'Outcome',
          ({ outcome }) => (outcome === 'rejected' ? <strong>rejected</strong> : outcome),
          'outcome',
        ],
        ['Details', (entry) => <Details entry={entry} />],
      ],
      rows: entries,
      home,
      query: filter,
      sort: filter.sort,
      pagination,
      empty: filter.search === '' ? 'No sources have this outcome.' : 'No file name contains this text.',
    }),
  };
}

function Details({ entry: { reason, target, counts, warnings, stig } }: { entry: LedgerEntry }): Child {
  const { high, medium, low, ...others } = counts;
  const numbers = Object.entries(others).map(([name, number]) => countOf(number, name));
  return (
    <>
      {stig === null ? null : (
        <p>
          <a href={link(path('stigs', stig.slug), { version: stig.version })}>
            {stig.title} {stig.version}
          </a>
        </p>
      )}
      {[stig === null ? target : null, numbers.join(', ')]
        .filter((text) => text !== null && text !== '')
        .join('; ')}{' '}
      {high === undefined || medium === undefined || low === undefined ? null : (
        <SeverityCounts counts={{ high, medium, low }} />
      )}
      {reason === null ? null : <span class="quiet">{reason}</span>}
      {warnings.length === 0 ? null : (
        <details>
          <summary>{count(warnings.length, 'warning')}</summary>
          <Lines of={warnings} />
        </details>
      )}
    </>
  );
}

function Source({ entry: { source, folder, sha256 } }: { entry: LedgerEntry }): Child {
  return (
    <>
      <span class="mono">{source}</span>
      <p class="hint">
        Folder <span class="mono">{folder}</span>
      </p>
      {sha256 === null ? null : (
        <p class="hint">
          SHA-256 <span class="mono">{sha256}</span>
        </p>
      )}
    </>
  );
}

interface Ages {
  list: StigList;
  /** The date of the oldest release of all STIGs: its age fills a bar. */
  oldest: string | null;
  /** In days; empty for all. */
  olderThan: string;
  choices: readonly string[];
  sort: string;
  now: Date;
}

interface LoadedPage {
  ages: Ages;
  summary: CatalogSummary;
  stats: StigStats;
  catalogs: LoadedCatalog[];
  documents: number | null;
  roles: number | null;
  runs: ImportRun[];
}

/** The columns of imports. */
const numbers = [
  'sources',
  'imported',
  'unchanged',
  'superseded',
  'skipped',
  'rejected',
  'warnings',
] as const;

/** The content of the catalog, and the last imports. */
function loadedPage({ ages, summary, stats, catalogs, documents, roles, runs }: LoadedPage): View {
  const { catalog, severity } = stats;
  return {
    title: 'Content',
    section: 'content',
    body: (
      <>
        <Totals
          of={[
            linked(catalog.totalBenchmarks, 'STIG', '/stigs'),
            [
              catalog.totalFindings,
              <>
                {catalog.totalFindings === 1 ? 'rule' : 'rules'} <SeverityCounts counts={severity} />
              </>,
            ],
            ...catalogs
              .filter((each) => each.total > 0)
              .map(({ framework, version, total }): [number, Child] => [
                total,
                <>
                  {frameworkName(framework)} <span class="quiet">{version}</span>
                </>,
              ]),
            ...(documents === null ? [] : [linked(documents, 'document', '/documents')]),
            ...(roles === null ? [] : [linked(roles, 'occupation', '/roles')]),
          ]}
        />
        <h2>Digest</h2>
        <p>
          Servers with equal content have equal digests. Compare the whole digest, or read its first twelve
          digits over the telephone.
        </p>
        <Facts of={originOf(summary)} />
        <h2>Recent imports</h2>
        <Table
          caption="Recent imports, newest first"
          head={['Import', ...numbers.map((each) => each[0]!.toUpperCase() + each.slice(1))]}
          rows={runs.map(({ id, finishedAt, totals }) => [
            <a href={path('content', 'imports', String(id))}>
              <Moment at={finishedAt} />
            </a>,
            ...numbers.map((each) => totals[each]),
          ])}
        >
          No imports yet. Import files, folders or zips with <code>{programName} import PATH</code>.
        </Table>
        {catalog.totalBenchmarks === 0 ? null : <AgesOf ages={ages} />}
      </>
    ),
  };
}

function AgesOf({ ages }: { ages: Ages }): Child {
  const { list, oldest, olderThan, choices, sort, now } = ages;
  const most = daysSince(oldest, now) ?? 0;
  const { total } = list.pagination;
  return (
    <section aria-labelledby="ages">
      <h2 id="ages">Age of STIGs</h2>
      <Filters action="/content#ages">
        <Hidden fields={{ sort }} />
        <Select
          name="olderThan"
          label="Release older than"
          none="any age"
          of={choices.map((days): [string, string] => [days, `${days} days`])}
          selected={olderThan}
        />
      </Filters>
      <p class="quiet">
        {count(total, 'STIG')}
        {olderThan === '' ? '' : ` with a release older than ${olderThan} days`}
      </p>
      {listing({
        caption: 'STIGs by the age of their release',
        columns: [
          ['STIG', (stig) => <StigLink of={stig} />, 'title'],
          ['Release', ({ version }) => version, 'version'],
          ['Date', ({ releaseDate }) => <Day date={releaseDate} />, 'date'],
          ['Age', ({ releaseDate }) => <AgeOf days={daysSince(releaseDate, now)} most={most} />],
        ],
        rows: list.stigs,
        home: '/content',
        query: { olderThan, sort },
        anchor: '#ages',
        sort,
        pagination: list.pagination,
        empty: (
          <>
            No STIG has a release older than {olderThan} days. <a href="/content#ages">Show all</a>
          </>
        ),
      })}
    </section>
  );
}

function AgeOf({ days, most }: { days: number | null; most: number }): Child {
  if (days === null) return '';
  return (
    <span class="bar-line">
      <AgeBar days={days} of={most} /> <span title={count(days, 'day')}>{age(days)}</span>
    </span>
  );
}

function originOf({ digest, changedAt, bundle }: CatalogSummary): [string, Child][] {
  return [
    ['First twelve', <span class="mono">{formatDigest(digest)}</span>],
    ['SHA-256', <span class="mono">{digest}</span>],
    ['Changed', <Moment at={changedAt} />],
    ...(bundle === null
      ? [['Bundle', 'No signed bundle'] as [string, Child]]
      : ([
          ['Channel', bundle.channel],
          ['Sequence', String(bundle.sequence)],
          ['Signed by', bundle.signedBy],
          ['Applied', <Moment at={bundle.appliedAt} />],
        ] as [string, Child][])),
  ];
}

function linked(number: number, one: string, href: string): [number, Child] {
  return [number, <a href={href}>{number === 1 ? one : `${one}s`}</a>];
}
