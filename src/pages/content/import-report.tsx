import type { Child } from 'hono/jsx';
import { count, countOf } from '../../base/text.ts';
import type { ImportRun, LedgerEntry } from '../../catalog/ledger.ts';
import type { Pagination } from '../../http/schema.ts';
import { Lines, link, Moment, path, SeverityCounts } from '../parts/components.tsx';
import { FindForm, Select } from '../parts/forms.tsx';
import { listing } from '../parts/listing.tsx';
import type { View } from '../parts/view.ts';

export interface LedgerPage {
  run: ImportRun;
  entries: LedgerEntry[];
  pagination: Pagination;
  filter: { outcome: string; search: string; sort: string | undefined };
  outcomes: readonly string[];
}

/** The ledger of one import: every source, and its outcome. */
export function ledgerPage({ run, entries, pagination, filter, outcomes }: LedgerPage): View {
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
