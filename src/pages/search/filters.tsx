import type { Child } from 'hono/jsx';
import { link } from '../parts/components.tsx';
import { Filters, Hidden, Input, Select, SeverityBoxes } from '../parts/forms.tsx';
import { ListSelect } from '../parts/narrow.tsx';
import type { SearchPage } from './search-page.ts';

const orders: [value: string, text: string][] = [
  ['severity', 'severity'],
  ['stig', 'STIG'],
  ['id', 'V-id'],
];

/** The filters and the order of the rules, as typed: behind one button where there are results. */
export function RuleFilters({ page }: { page: SearchPage }): Child {
  const { rules, filter, problem } = page;
  if (rules === null || problem !== null) return <FilterForm page={page} />;
  const set =
    filter.stig.length +
    filter.severity.length +
    [filter.list, filter.cci, filter.control].filter(Boolean).length;
  return (
    <details class="more">
      <summary>Filters{set === 0 ? '' : ` (${set})`}</summary>
      <FilterForm page={page} />
    </details>
  );
}

/** With a query field only where there was no query. */
function FilterForm({ page: { q, filter, stigs, titles, lists, rules } }: { page: SearchPage }): Child {
  return (
    <Filters action="/search" submit={rules === null ? 'Search rules' : 'Apply filters'}>
      {rules !== null && q !== '' ? (
        <Hidden fields={{ q }} />
      ) : (
        <div class="question">
          <label for="q">Search for</label>
          <div class="row">
            <input id="q" name="q" type="search" value={q} maxlength={500} />
          </div>
        </div>
      )}
      <SeverityBoxes selected={filter.severity} />
      {filter.stig.length === 0 ? null : (
        <fieldset>
          <legend>STIGs</legend>
          {filter.stig.map((slug) => (
            <label>
              <input type="checkbox" name="stig" value={slug} checked /> {titles.get(slug) ?? slug}
            </label>
          ))}
        </fieldset>
      )}
      <Input
        name="stig"
        label={filter.stig.length === 0 ? 'STIG' : 'Other STIGs'}
        list="stigs"
        maxlength={1000}
        placeholder="rhel 9; windows 11"
        size={28}
        autocomplete="off"
        value=""
      />
      <datalist id="stigs">
        {stigs.map(({ title }) => (
          <option value={title} />
        ))}
      </datalist>
      <Input name="cci" label="CCI" value={filter.cci} maxlength={100} placeholder="CCI-000366" size={12} />
      <Input
        name="control"
        label="NIST SP 800-53 control"
        value={filter.control}
        maxlength={100}
        placeholder="AC-2(1)"
        size={12}
      />
      <ListSelect lists={lists} selected={filter.list} />
      <Select
        name="sort"
        label="Sort by"
        of={q === '' ? orders : [['relevance', 'relevance'], ...orders]}
        selected={filter.sort || (q === '' ? 'stig' : 'relevance')}
      />
      {Object.values(filter).some((each) => each.length > 0) ? (
        <a href={link('/search', { q })}>Clear filters</a>
      ) : null}
    </Filters>
  );
}
