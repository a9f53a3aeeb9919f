import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import { mostExported, type SearchAnswer, type SearchResult } from '../../catalog/search/schema.ts';
import { Downloads, Empty, link, Nothing, Pager, Severity } from '../parts/components.tsx';
import {
  AddChecked,
  CheckStig,
  Filters,
  Hidden,
  Input,
  Problem,
  Select,
  SeverityBoxes,
} from '../parts/forms.tsx';
import { ListSelect, StigBoxes } from '../parts/narrow.tsx';
import { ruleHref } from '../parts/rule-links.tsx';
import type { View } from '../parts/view.ts';

export interface FoundKind {
  name: string;
  /** One of them, for a sentence. */
  one: 'STIG' | 'control' | 'CCI' | 'role' | 'document';
  total: number;
  /** `slug` is that of a STIG, which a reader can add to a list here. */
  items: { href: string; label: string; about: string; slug?: string }[];
  /** The query is its exact name: it appears above the rules. */
  isFirst: boolean;
  all: string;
}

export interface SearchPage {
  q: string;
  hasWords: boolean;
  filter: {
    severity: string[];
    stig: string[];
    list: string;
    cci: string;
    control: string;
    sort: string;
  };
  entitlements: ReadonlySet<string> | null;
  stigs: { slug: string; title: string }[];
  lists: { id: string; name: string }[];
  /** The reader's own lists, to add STIGs to. */
  own: { id: string; name: string }[];
  /** Results by name; null if names were not searched. */
  kinds: FoundKind[] | null;
  /** STIGs that a part of the query names, with the rest of it. */
  within: { slug: string; title: string; rest: string }[];
  rules: SearchAnswer | null;
  problem: { status: 400 | 404; text: string } | null;
}

/** Whether a filter excludes some rules. */
export function isNarrowed({ severity, stig, list, cci, control }: SearchPage['filter']): boolean {
  return severity.length > 0 || stig.length > 0 || [list, cci, control].some((text) => text !== '');
}

/** The query without quotation marks and stars, which names do not contain. */
export function plain(q: string): string {
  return q
    .replace(/["“”*]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

export function searchPage(page: SearchPage): View {
  const { q, kinds, entitlements, problem } = page;
  const found = (kinds ?? []).filter((kind) => kind.total > 0);
  const first = found.filter((kind) => kind.isFirst);
  const others = found.filter((kind) => !kind.isFirst);
  const isAnswered = (q !== '' || isNarrowed(page.filter)) && problem === null;
  const [title, heading] =
    q === ''
      ? ['Rules by filters', 'Rules that match your filters']
      : [`Search for ${q}`, `Results for “${q}”`];
  return {
    title: isAnswered ? title! : 'Search',
    heading: isAnswered ? heading : 'Search',
    body: (
      <>
        <Problem text={problem?.text ?? null} />
        <div class={others.length === 0 ? undefined : 'found'}>
          <div>
            {first.map((kind) => (
              <Kind kind={kind} own={page.own} />
            ))}
            {entitlements !== null ? <Rules page={page} /> : isAnswered ? <SignInFirst page={page} /> : null}
          </div>
          {others.length === 0 ? null : (
            <aside aria-label="Found by name">
              {others.map((kind) => (
                <Kind kind={kind} own={page.own} />
              ))}
            </aside>
          )}
        </div>
      </>
    ),
  };
}

function SignInFirst({ page }: { page: SearchPage }): Child {
  return (
    <Empty>
      {page.q === '' ? null : page.kinds === null ? nothingSearched : unnamed(page)}
      <a href={`/signin?next=${encodeURIComponent(link('/search', { q: page.q, ...page.filter }))}`}>
        Sign in
      </a>{' '}
      to search STIGs and their rules too.
    </Empty>
  );
}

function Kind(props: { kind: FoundKind; own: SearchPage['own'] }): Child {
  const { name, one, total, items, all } = props.kind;
  const own = one === 'STIG' && items.length > 0 ? props.own : [];
  return (
    <section>
      <h2>
        {name} <span class="quiet">{total.toLocaleString('en-US')}</span>
      </h2>
      <AddChecked to={own}>
        <ul class="results">
          {items.map(({ href, label, about, slug }) => (
            <li>
              {slug === undefined || own.length === 0 ? null : <CheckStig slug={slug} title={label} />}
              <a href={href}>{label}</a> <span class="quiet">{about}</span>
            </li>
          ))}
        </ul>
      </AddChecked>
      {total > items.length ? (
        <p>
          <a href={all}>
            Show all {total.toLocaleString('en-US')}
            <span class="hidden"> of {name}</span>
          </a>
        </p>
      ) : null}
    </section>
  );
}

function Rules({ page }: { page: SearchPage }): Child {
  const { q, filter, rules } = page;
  const href = (number: number) => `${link('/search', { q, ...filter, page: number })}#rules`;
  return (
    <section aria-labelledby="rules">
      <h2 id="rules">
        Rules{' '}
        {rules === null ? null : <span class="quiet">{rules.pagination.total.toLocaleString('en-US')}</span>}
      </h2>
      <RuleFilters page={page} />
      {rules === null ? null : (
        <>
          <Exports page={page} total={rules.pagination.total} />
          {rules.results.length === 0 ? (
            <Nothing pages={{ pagination: rules.pagination, href }}>
              <None page={page} />
            </Nothing>
          ) : (
            <ol class="results" start={rules.results[0]!.rank}>
              {rules.results.map((result) => (
                <Result result={result} />
              ))}
            </ol>
          )}
          <Pager pagination={rules.pagination} href={href} />
        </>
      )}
    </section>
  );
}

function Exports({ page: { q, filter }, total }: { page: SearchPage; total: number }): Child {
  if (total === 0) return null;
  if (total > mostExported)
    return (
      <p class="quiet">
        To download the rules, add filters: a file holds up to {count(mostExported, 'rule')}.
      </p>
    );
  return <Downloads of="/search" formats={['csv', 'xlsx']} query={{ q, ...filter }} />;
}

const orders: [value: string, text: string][] = [
  ['severity', 'severity'],
  ['stig', 'STIG'],
  ['id', 'V-id'],
];

/** The filters and the order of the rules, as typed; with a query field only where there was no query. */
function RuleFilters({ page: { q, filter, stigs, lists, rules } }: { page: SearchPage }): Child {
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
      <StigBoxes stigs={stigs} selected={filter.stig} />
    </Filters>
  );
}

const nothingSearched = 'Nothing was searched: enter at least one letter, digit or underscore. ';

function None({ page }: { page: SearchPage }): Child {
  const { q, hasWords, filter, kinds } = page;
  const named = kinds?.find((kind) => kind.isFirst && (kind.one === 'control' || kind.one === 'CCI'))
    ?.items[0];
  if (named) {
    return (
      <>
        No rule contains this text. <a href={`${named.href}#rules`}>See the rules mapped to it</a> on its own
        page.
      </>
    );
  }
  if (kinds === null && q === '') {
    return (
      <>
        No rule matches these filters. <a href="/search">Clear filters</a>
      </>
    );
  }
  if (kinds === null && !hasWords) return nothingSearched;
  if (kinds === null) {
    return (
      <>
        No rule {isNarrowed(filter) ? 'with these filters ' : ''}contains all these words. Only rules were
        searched. <a href={link('/search', { q })}>Search everything</a>
      </>
    );
  }
  const rules = hasWords
    ? 'No rule contains all these words.'
    : 'Rules were not searched: enter at least one letter, digit or underscore.';
  const advice = hasWords ? 'To find more, use fewer words or a prefix such as audit*.' : '';
  return (
    <>
      {rules} {unnamed(page)}
      {page.within.map(({ slug, title, rest }) => (
        <>
          <a href={link('/search', { q: rest, stig: slug })}>
            Search “{rest}” in {title}
          </a>
          .{' '}
        </>
      ))}
      {advice}
    </>
  );
}

/** Names the kinds without results, and those that were not searched; empty with a result. */
function unnamed({ q, kinds, entitlements }: SearchPage): string {
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
        <span class="quiet">
          {result.stigTitle} {result.version}
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
export function Marked({ text, marks }: { text: string; marks: [number, number][] }): Child {
  const parts: Child[] = [];
  let at = 0;
  for (const [start, end] of marks) {
    parts.push(text.slice(at, start), <mark>{text.slice(start, end)}</mark>);
    at = end;
  }
  return [...parts, text.slice(at)];
}
