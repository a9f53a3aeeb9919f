import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import { mostExported, type SearchAnswer, type SearchResult } from '../../catalog/search/schema.ts';
import { Downloads, link, Nothing, Pager, Severity, shortTitle } from '../parts/components.tsx';
import { Filters, Hidden, Input, ListSelect, Select, SeverityBoxes } from '../parts/forms.tsx';
import { ruleHref } from '../parts/links.tsx';
import { isNarrowed, plain, type SearchPage } from './search-page.ts';

/** The rules of a search: what was read, the results, and where they are. */
export function Rules({ page }: { page: SearchPage }): Child {
  const { q, filter, rules } = page;
  const href = (number: number) => `${link('/search', { q, ...filter, page: number })}#rules`;
  return (
    <section aria-labelledby="rules">
      <h2 id="rules">
        Rules{' '}
        {rules === null ? null : <span class="quiet">{rules.pagination.total.toLocaleString('en-US')}</span>}
      </h2>
      {rules === null ? null : <Reading page={page} rules={rules} />}
      <RuleFilters page={page} />
      {rules === null ? null : (
        <>
          {rules.results.length === 0 ? (
            <Nothing pages={{ pagination: rules.pagination, href }}>
              <None page={page} />
            </Nothing>
          ) : (
            <Results rules={rules} />
          )}
          <Pager pagination={rules.pagination} href={href} />
          <Exports page={page} rules={rules} />
        </>
      )}
    </section>
  );
}

const inWords = new Intl.ListFormat('en-US', { type: 'conjunction' });

/** How the question was read, where a reader may wonder. */
function Reading({ page: { q, filter, titles }, rules }: { page: SearchPage; rules: SearchAnswer }): Child {
  const { relaxed, exact, dropped, narrowedTo, suggestions } = rules;
  const has = exact < 2 ? 'rule has' : 'rules have';
  const without = dropped.length === 0 ? '' : `, without ${inWords.format(dropped)}`;
  const within =
    narrowedTo.length === 0
      ? ''
      : ` in ${inWords.format(narrowedTo.map((slug) => shortTitle(titles.get(slug) ?? slug)))}`;
  return (
    <>
      {suggestions.map(({ word, instead }) => (
        <p>
          No rule has “{word}”. Did you mean{' '}
          <a href={link('/search', { q: q.replace(word, instead), ...filter })}>{instead}</a>?
        </p>
      ))}
      {relaxed ? (
        <p class="quiet">
          {exact === 0 ? 'No' : exact.toLocaleString('en-US')} {has} all of these words.{' '}
          {exact === 0 ? 'These' : 'Below them'} are the best with some of them{within}
          {without}.
        </p>
      ) : null}
    </>
  );
}

function Results({ rules: { results, exact, relaxed } }: { rules: SearchAnswer }): Child {
  const whole = results.filter(({ rank }) => rank <= exact);
  const others = results.filter(({ rank }) => rank > exact);
  return (
    <>
      {whole.length === 0 ? null : <ResultList results={whole} />}
      {relaxed && whole.length > 0 && others.length > 0 ? <h3>With some of the words</h3> : null}
      {others.length === 0 ? null : <ResultList results={others} />}
    </>
  );
}

function ResultList({ results }: { results: SearchResult[] }): Child {
  return (
    <ol class="results" start={results[0]!.rank}>
      {results.map((result) => (
        <Result result={result} />
      ))}
    </ol>
  );
}

function Exports({ page: { q, filter }, rules }: { page: SearchPage; rules: SearchAnswer }): Child {
  const total = rules.exact === 0 ? rules.pagination.total : rules.exact;
  if (total === 0) return null;
  if (total > mostExported)
    return (
      <p class="quiet">
        To download the rules, add filters: a file holds up to {count(mostExported, 'rule')}.
      </p>
    );
  const label = rules.relaxed && rules.exact > 0 ? 'Download those with all words' : 'Download';
  return <Downloads of="/search" formats={['csv', 'xlsx']} query={{ q, ...filter }} label={label} />;
}

const mostStigs = 12;

/** Where the rules are: each severity and STIG as a filter. */
export function Counts({ page: { q, filter, rules } }: { page: SearchPage }): Child {
  if (rules === null || rules.pagination.total === 0) return null;
  const { severity, stigs } = rules.counts;
  const most = stigs.toSorted((a, b) => b.rules - a.rules).slice(0, mostStigs);
  const toggled = (list: string[], one: string) =>
    list.includes(one) ? list.filter((each) => each !== one) : [...list, one];
  const narrowed = (change: Partial<SearchPage['filter']>) => link('/search', { q, ...filter, ...change });
  return (
    <section class="counts" aria-label="Narrow the rules">
      <ul class="plain">
        {(['high', 'medium', 'low'] as const)
          .filter((level) => severity[level] > 0 || filter.severity.includes(level))
          .map((level) => (
            <li>
              <a
                href={narrowed({ severity: toggled(filter.severity, level) })}
                aria-current={filter.severity.includes(level) ? 'true' : undefined}
              >
                <Severity level={level} />
              </a>{' '}
              <span class="quiet">{severity[level].toLocaleString('en-US')}</span>
            </li>
          ))}
      </ul>
      <ul class="plain">
        {most.map(({ slug, title, rules }) => (
          <li>
            <a
              href={narrowed({ stig: toggled(filter.stig, slug) })}
              title={title}
              aria-current={filter.stig.includes(slug) ? 'true' : undefined}
            >
              {shortTitle(title)}
            </a>{' '}
            <span class="quiet">{rules.toLocaleString('en-US')}</span>
          </li>
        ))}
        {stigs.length > most.length ? (
          <li class="quiet">and {count(stigs.length - most.length, 'STIG')} more: name one under Filters</li>
        ) : null}
      </ul>
    </section>
  );
}

function Result({ result }: { result: SearchResult }): Child {
  // The snippet of a long title is cut: then the whole title stands above it.
  const isTitle = result.snippet.text === result.ruleTitle;
  return (
    <li>
      <a href={ruleHref(result.slug, result)}>
        {isTitle ? <Marked {...result.snippet} /> : result.ruleTitle}
      </a>
      <p>
        <Severity level={result.severity} /> <span class="ids">{result.groupId}</span>{' '}
        <span class="ids">{result.ruleVersion}</span>{' '}
        <span class="quiet" title={result.stigTitle}>
          {shortTitle(result.stigTitle)} {result.version}
        </span>
      </p>
      {isTitle ? null : (
        <p>
          <span class="quiet">{result.snippet.field}: </span>
          <Marked text={result.snippet.text} marks={result.snippet.marks} />
        </p>
      )}
    </li>
  );
}

/** A text with its matches marked; `marks` are [start, end) in order. */
function Marked({ text, marks }: { text: string; marks: [number, number][] }): Child {
  const parts: Child[] = [];
  let at = 0;
  for (const [start, end] of marks) {
    parts.push(text.slice(at, start), <mark>{text.slice(start, end)}</mark>);
    at = end;
  }
  return [...parts, text.slice(at)];
}

const orders: [value: string, text: string][] = [
  ['severity', 'severity'],
  ['stig', 'STIG'],
  ['id', 'V-id'],
];

/** The filters and the order of the rules, as typed: behind one button where there are results. */
function RuleFilters({ page }: { page: SearchPage }): Child {
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

export const nothingSearched = 'Nothing was searched: enter at least one letter, digit or underscore. ';

/** Why no rule was found, and where to go on. */
function None({ page }: { page: SearchPage }): Child {
  const { q, hasWords, filter, kinds, rules, onlySamples } = page;
  const imported = onlySamples ? (
    <>
      {' '}
      Only the samples are here: see <a href="/">how to import what DISA and NIST publish</a>.
    </>
  ) : (
    <>
      {' '}
      See <a href="/stigs">which STIGs are here</a>.
    </>
  );
  if (q === '' || (isNarrowed(filter) && hasWords))
    return (
      <>
        No rule {q === '' ? 'matches these filters' : 'with these filters has any of these words'}.{' '}
        <a href={link('/search', { q })}>Clear filters</a>.{imported}
      </>
    );
  if (!hasWords)
    return kinds === null
      ? nothingSearched
      : `Rules were not searched: enter at least one letter, digit or underscore. ${unnamed(page)}`;
  const [answer] = rules?.answers ?? [];
  if (answer?.rules === 0 && rules?.answers.length === 1)
    return (
      <>
        No rule leads to <a href={answer.href}>{answer.id}</a>.{imported}
      </>
    );
  return (
    <>
      No rule has any of these words, in another form or by a synonym either. {unnamed(page)}
      {imported}
    </>
  );
}

/** Names the kinds without results, and those that were not searched; empty with a result. */
export function unnamed({ q, kinds, entitlements }: SearchPage): string {
  if (kinds === null || kinds.some((kind) => kind.total > 0)) return '';
  const searched = [...new Set(kinds.map((kind) => kind.one))];
  const unsearched = [
    ...(entitlements?.has('occ') === false ? ['roles (occ)'] : []),
    ...(entitlements?.has('regdoc') === false ? ['documents (regdoc)'] : []),
  ];
  const left = unsearched.join(' and ');
  return (
    `No ${eitherOf.format(searched)} has “${plain(q)}” in its name. ` +
    (left === '' ? '' : `You need permission to search ${left}. `)
  );
}

const eitherOf = new Intl.ListFormat('en-US', { type: 'disjunction' });
