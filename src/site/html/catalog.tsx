import type { Child } from 'hono/jsx';
import { count, countOf } from '../../base/text.ts';
import type { ImportRun, LedgerEntry } from '../../catalog/ledger.ts';
import type { StigStats } from '../../catalog/stigs/schema.ts';
import type { Pagination } from '../../http/schema.ts';
import { frameworkName } from './frameworks.ts';
import { Empty, link, Moment, Nothing, Pager, path, SeverityCounts, Table } from './parts.tsx';
import type { View } from './view.ts';

export interface LoadedPage {
  stats: StigStats;
  catalogs: { framework: string; version: string; total: number; versions: string[] }[];
  /** Null for who is not entitled to them. */
  documents: number | null;
  roles: number | null;
  runs: ImportRun[];
}

/** What is loaded, and what the last imports did. */
export function loadedPage({ stats, catalogs, documents, roles, runs }: LoadedPage): View {
  const { catalog, severity } = stats;
  return {
    title: 'Content',
    section: 'catalog',
    body: (
      <>
        <h1>Content</h1>
        <ul class="tiles">
          <li>
            <b>{catalog.totalBenchmarks.toLocaleString('en-US')}</b>
            <a href="/stigs">{catalog.totalBenchmarks === 1 ? 'STIG' : 'STIGs'}</a>
          </li>
          <li>
            <b>{catalog.totalFindings.toLocaleString('en-US')}</b>
            {catalog.totalFindings === 1 ? 'rule' : 'rules'} <SeverityCounts counts={severity} />
          </li>
          {catalogs
            .filter((each) => each.total > 0)
            .map((each) => (
              <li>
                <b>{each.total.toLocaleString('en-US')}</b>
                {frameworkName(each.framework)} <span class="quiet">{each.version}</span>
              </li>
            ))}
          {documents === null ? null : (
            <li>
              <b>{documents.toLocaleString('en-US')}</b>
              <a href="/documents">{documents === 1 ? 'document' : 'documents'}</a>
            </li>
          )}
          {roles === null ? null : (
            <li>
              <b>{roles.toLocaleString('en-US')}</b>
              <a href="/roles">{roles === 1 ? 'occupation' : 'occupations'}</a>
            </li>
          )}
        </ul>
        <h2>Recent imports</h2>
        {runs.length === 0 ? (
          <Empty>
            No imports yet. Import files, folders or zips with <code>gapstone import PATH</code>.
          </Empty>
        ) : (
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
          />
        )}
      </>
    ),
  };
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
    body: (
      <>
        <p class="crumbs">
          <a href="/catalog">Content</a>
        </p>
        <h1>
          Import of <Moment at={run.finishedAt} />
        </h1>
        <form class="filters" action={home}>
          <div>
            <label for="outcome">Outcome</label>
            <select id="outcome" name="outcome">
              <option value="">all</option>
              {outcomes.map((each) => (
                <option value={each} selected={each === outcome}>
                  {each}
                </option>
              ))}
            </select>
          </div>
          <div>
            <button type="submit">Apply filters</button>
          </div>
        </form>
        <p class="quiet">{count(pagination.total, 'source')}</p>
        {entries.length === 0 ? (
          <Nothing pagination={pagination} href={href}>
            No sources have this outcome.
          </Nothing>
        ) : (
          <Table
            caption="Sources"
            head={['Source', 'Kind', 'Outcome', 'Details']}
            rows={entries.map((entry) => [
              <span class="mono">{entry.source}</span>,
              entry.kind,
              entry.outcome === 'rejected' ? <strong>rejected</strong> : entry.outcome,
              <What entry={entry} />,
            ])}
          />
        )}
        <Pager pagination={pagination} href={href} />
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
