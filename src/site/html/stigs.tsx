import { count } from '../../base/text.ts';
import type { StigList } from '../../catalog/stigs/schema.ts';
import { Day, link, path, Table } from './components.tsx';
import { FindForm } from './forms.tsx';
import type { View } from './view.ts';

/** The STIGs of the catalog. */
export function stigsPage({ list, search }: { list: StigList; search: string }): View {
  const { stigs, pagination } = list;
  const href = (page: number) => link('/stigs', { search, page });
  return {
    title: 'STIGs',
    section: 'stigs',
    body: (
      <>
        <div class="actions">
          <a class="button quiet" href="/upgrade">
            Upgrade a checklist
          </a>
        </div>
        <FindForm action="/stigs" label="Title, benchmark ID or abbreviation" search={search} />
        <p class="quiet">{count(pagination.total, 'STIG')}</p>
        <Table
          caption="STIGs"
          head={['Title', 'Release', 'Date', 'Rules']}
          rows={stigs.map((stig) => [
            <a href={path('stigs', stig.slug)}>{stig.title}</a>,
            stig.version,
            <Day date={stig.releaseDate} />,
            stig.findingCount,
          ])}
          pages={{ pagination, href }}
        >
          {search === ''
            ? 'No STIGs yet. Import the publishers’ files with gapstone import PATH.'
            : 'No STIG is called so.'}{' '}
          {search === '' ? null : <a href="/stigs">Show all</a>}
        </Table>
      </>
    ),
  };
}
