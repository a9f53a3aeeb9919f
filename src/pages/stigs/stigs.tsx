import { programName } from '../../base/installation.ts';
import { count } from '../../base/text.ts';
import type { StigList } from '../../catalog/stigs/schema.ts';
import { Aged } from '../parts/bars.tsx';
import { StigLink } from '../parts/components.tsx';
import { AddChecked, CheckStig, FindForm } from '../parts/forms.tsx';
import { listing } from '../parts/listing.tsx';
import type { View } from '../parts/view.ts';

export interface StigsPage {
  list: StigList;
  search: string;
  sort: string | undefined;
  lists: { id: string; name: string }[];
  now: Date;
}

/** The page of all STIGs. */
export function stigsPage({ list, search, sort, lists, now }: StigsPage): View {
  const { stigs, pagination } = list;
  const hasLists = lists.length > 0;
  return {
    title: 'STIGs',
    section: 'stigs',
    actions: (
      <a class="button quiet" href="/changes">
        What changed
      </a>
    ),
    body: (
      <>
        <FindForm
          action="/stigs"
          label="Title, benchmark ID or abbreviation"
          search={search}
          keep={{ sort }}
        />
        <p class="quiet">
          {count(pagination.total, 'STIG')}
          {stigs.length === 0 ? null : hasLists ? (
            '. Check some to add them to a list.'
          ) : (
            <>
              . <a href="/systems#new">Create a list</a> to add STIGs to it from here.
            </>
          )}
        </p>
        <AddChecked to={stigs.length === 0 ? [] : lists}>
          {listing({
            caption: 'STIGs',
            columns: [
              [
                'Title',
                (stig) => (
                  <>
                    {hasLists ? <CheckStig slug={stig.slug} title={stig.title} /> : null}
                    <StigLink of={stig} />
                  </>
                ),
                'title',
              ],
              ['Release', ({ version }) => version],
              ['Date', ({ releaseDate }) => <Aged date={releaseDate} now={now} />, 'date'],
              ['Rules', ({ findingCount }) => findingCount, 'rules'],
            ],
            rows: stigs,
            home: '/stigs',
            query: { search, sort },
            sort: sort ?? (search === '' ? 'title' : undefined),
            pagination,
            empty:
              search === '' ? (
                `No STIGs yet. Import the publishers’ files with ${programName} import PATH.`
              ) : (
                <>
                  No STIG matches this name. <a href="/stigs">Show all</a>
                </>
              ),
          })}
        </AddChecked>
      </>
    ),
  };
}
