import type { Child } from 'hono/jsx';
import { count, countOf, spoken } from '../../base/text.ts';
import type { ImportRun, LedgerEntry } from '../../catalog/ledger.ts';
import type { CatalogSummary } from '../../catalog/schema.ts';
import type { StigStats } from '../../catalog/stigs/schema.ts';
import type { Pagination } from '../../http/schema.ts';
import { Facts, link, Moment, path, SeverityCounts, Table, Tiles } from './components.tsx';
import type { LoadedCatalog } from './controls.tsx';
import { Filters, Select } from './forms.tsx';
import { frameworkName } from './frameworks.ts';
import type { View } from './view.ts';

export interface LoadedPage {
  summary: CatalogSummary;
  stats: StigStats;
  catalogs: LoadedCatalog[];
  /** Null for who is not entitled to them. */
  documents: number | null;
  roles: number | null;
  runs: ImportRun[];
}

/** What is loaded, and what the last imports did. */
export function loadedPage({ summary, stats, catalogs, documents, roles, runs }: LoadedPage): View {
  const { catalog, severity } = stats;
  return {
    title: 'Content',
    section: 'catalog',
    body: (
      <>
        <Tiles
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
          Equal wherever the content is. Compare all of it, or read the first twelve digits over a telephone.
        </p>
        <Facts of={originOf(summary)} />
        <h2>Recent imports</h2>
        <Table
          caption="Recent imports, newest first"
          head={[
            'Import',
            'Sources',
            'Imported',
            'Unchanged',
            'Superseded',
            'Skipped',
            'Rejected',
            'Warnings',
          ]}
          rows={runs.map(({ id, finishedAt, totals }) => [
            <a href={path('catalog', 'imports', String(id))}>
              <Moment at={finishedAt} />
            </a>,
            totals.sources,
            totals.imported,
            totals.unchanged,
            totals.superseded,
            totals.skipped,
            totals.rejected === 0 ? 0 : <strong>{totals.rejected}</strong>,
            totals.warnings,
          ])}
        >
          No imports yet. Import files, folders or zips with <code>gapstone import PATH</code>.
        </Table>
      </>
    ),
  };
}

function originOf({ digest, changedAt, bundle }: CatalogSummary): [string, Child][] {
  return [
    ['First twelve', <span class="mono">{spoken(digest)}</span>],
    ['SHA-256', <span class="mono">{digest}</span>],
    ['Changed', <Moment at={changedAt} />],
    ...(bundle === null
      ? [['Bundle', 'none: it was imported here, or changed since'] as [string, Child]]
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

export interface LedgerPage {
  run: ImportRun;
  entries: LedgerEntry[];
  pagination: Pagination;
  outcome: string;
  outcomes: readonly string[];
}

/** The ledger of one import: every source that it met, and what became of it. */
export function ledgerPage({ run, entries, pagination, outcome, outcomes }: LedgerPage): View {
  const home = path('catalog', 'imports', String(run.id));
  const href = (page: number) => link(home, { outcome, page });
  return {
    title: `Import of ${run.finishedAt.slice(0, 10)}`,
    section: 'catalog',
    crumbs: [['Content', '/catalog']],
    heading: (
      <>
        Import of <Moment at={run.finishedAt} />
      </>
    ),
    body: (
      <>
        <Filters action={home}>
          <Select name="outcome" label="Outcome" none="all" of={outcomes} selected={outcome} />
        </Filters>
        <p class="quiet">{count(pagination.total, 'source')}</p>
        <Table
          caption="Sources"
          head={['Source', 'Kind', 'Outcome', 'Details']}
          rows={entries.map((entry) => [
            <span class="mono">{entry.source}</span>,
            entry.kind,
            entry.outcome === 'rejected' ? <strong>rejected</strong> : entry.outcome,
            <What entry={entry} />,
          ])}
          pages={{ pagination, href }}
        >
          No sources have this outcome.
        </Table>
      </>
    ),
  };
}

function What({ entry: { reason, target, counts, warnings } }: { entry: LedgerEntry }): Child {
  const { high, medium, low, ...others } = counts;
  const numbers = Object.entries(others).map(([name, number]) => countOf(number, name));
  return (
    <>
      {[target, numbers.join(', ')].filter((text) => text !== null && text !== '').join('; ')}{' '}
      {high === undefined || medium === undefined || low === undefined ? null : (
        <SeverityCounts counts={{ high, medium, low }} />
      )}
      {reason === null ? null : <span class="quiet">{reason}</span>}
      {warnings.length === 0 ? null : (
        <details>
          <summary>{count(warnings.length, 'warning')}</summary>
          <ul>
            {warnings.map((warning) => (
              <li>{warning}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
