import type { Child } from 'hono/jsx';
import { programName } from '../../base/installation.ts';
import { count, spoken } from '../../base/text.ts';
import type { LoadedCatalog } from '../../catalog/controls/queries.ts';
import type { ImportRun } from '../../catalog/ledger.ts';
import type { StigList, StigStats } from '../../catalog/stigs/schema.ts';
import type { CatalogSummary } from '../../catalog/summary.ts';
import { AgeBar, age, daysSince } from '../parts/bars.tsx';
import { Day, Facts, Moment, path, SeverityCounts, StigLink, Table, Totals } from '../parts/components.tsx';
import { Filters, Hidden, Select } from '../parts/forms.tsx';
import { frameworkName } from '../parts/framework-links.ts';
import { listing } from '../parts/listing.tsx';
import type { View } from '../parts/view.ts';

export interface Ages {
  list: StigList;
  /** The date of the oldest release of all STIGs: its age fills a bar. */
  oldest: string | null;
  /** In days; empty for all. */
  olderThan: string;
  choices: readonly string[];
  sort: string;
  now: Date;
}

export interface LoadedPage {
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
export function loadedPage({ ages, summary, stats, catalogs, documents, roles, runs }: LoadedPage): View {
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
    ['First twelve', <span class="mono">{spoken(digest)}</span>],
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
