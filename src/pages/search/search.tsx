import type { Child } from 'hono/jsx';
import { count } from '../../base/text.ts';
import type { IdAnswer } from '../../catalog/search/schema.ts';
import { beginning, Empty, link, Table } from '../parts/components.tsx';
import { AddChecked, CheckStig, Problem } from '../parts/forms.tsx';
import { catalogHref, controlHref } from '../parts/links.tsx';
import type { View } from '../parts/view.ts';
import { Counts, nothingSearched, Rules, unnamed } from './rule-results.tsx';
import { type FoundKind, isNarrowed, isOfIds, type SearchPage } from './search-page.ts';

export function searchPage(page: SearchPage): View {
  const { q, kinds, entitlements, problem } = page;
  const found = (kinds ?? []).filter((kind) => kind.total > 0);
  const first = found.filter((kind) => kind.isFirst);
  const others = found.filter((kind) => !kind.isFirst);
  // The ids are the answer: no rule speaks of them, or nothing but several of them was asked for.
  const isIdsAlone =
    !isNarrowed(page.filter) &&
    (isOfIds(page) || (page.answers.length > 0 && page.rules?.pagination.total === 0));
  const hasAside = others.length > 0 || (!isIdsAlone && (page.rules?.pagination.total ?? 0) > 0);
  const isAnswered = (q !== '' || isNarrowed(page.filter)) && problem === null;
  const [title, heading] =
    q === ''
      ? ['Rules by filters', 'Rules that match your filters']
      : [`Search for ${q}`, `Results for “${q}”`];
  return {
    title: isAnswered ? title! : 'Search',
    heading: isAnswered ? heading : 'Search',
    help: 'search',
    body: (
      <>
        <Problem text={problem?.text ?? null} />
        <div class={hasAside ? 'found' : undefined}>
          <div>
            <Answers answers={page.answers} />
            {first.map((kind) => (
              <Kind kind={kind} own={page.own} />
            ))}
            {entitlements !== null ? (
              isIdsAlone ? null : (
                <Rules page={page} />
              )
            ) : isAnswered ? (
              <SignInFirst page={page} />
            ) : null}
          </div>
          {hasAside ? (
            <aside aria-label="Where it was found">
              {isIdsAlone ? null : <Counts page={page} />}
              {others.map((kind) => (
                <Kind kind={kind} own={page.own} />
              ))}
            </aside>
          ) : null}
        </div>
      </>
    ),
  };
}

function SignInFirst({ page }: { page: SearchPage }): Child {
  return (
    <Empty>
      {page.q === ''
        ? null
        : page.kinds === null
          ? nothingSearched
          : page.answers.length > 0
            ? null
            : unnamed(page)}
      <a href={`/signin?next=${encodeURIComponent(link('/search', { q: page.q, ...page.filter }))}`}>
        Sign in
      </a>{' '}
      to search STIGs and their rules too.
    </Empty>
  );
}

function Kind(props: { kind: FoundKind; own: SearchPage['own'] }): Child {
  const { name, one, framework, text, total, items } = props.kind;
  const all = framework === undefined ? `/${one.toLowerCase()}s` : catalogHref(framework);
  const own = one === 'STIG' && items.length > 0 ? props.own : [];
  return (
    <section>
      <h2>
        {name} <span class="quiet">{total.toLocaleString('en-US')}</span>
      </h2>
      <AddChecked to={own}>
        <ul class="results">
          {items.map(({ id, label, about }) => (
            <li>
              {own.length === 0 ? null : <CheckStig slug={id} title={label} />}
              <a
                href={
                  framework === undefined ? `${all}/${encodeURIComponent(id)}` : controlHref(framework, id)
                }
              >
                {label}
              </a>{' '}
              <span class="quiet">{framework === undefined ? about : beginning(about, 160)}</span>
            </li>
          ))}
        </ul>
      </AddChecked>
      {total > items.length ? (
        <p>
          <a href={link(all, { search: text })}>
            Show all {total.toLocaleString('en-US')}
            <span class="hidden"> of {name}</span>
          </a>
        </p>
      ) : null}
    </section>
  );
}

const states = {
  current: 'current',
  removed: 'removed',
  withdrawn: 'withdrawn',
  deprecated: 'deprecated',
  unknown: 'unknown',
} as const;

/** What each id of a question names. */
function Answers({ answers }: { answers: IdAnswer[] }): Child {
  if (answers.length === 0) return null;
  return (
    <Table
      caption="The IDs you asked for"
      head={['ID', 'What it is', 'State']}
      rows={answers.map(({ asked, href, title, state, version, rules, part }) => [
        <span class="ids">{href === undefined ? asked : <a href={href}>{asked}</a>}</span>,
        <>
          {title}
          {part === undefined ? null : <span class="quiet"> part {part}</span>}
        </>,
        <>
          {states[state]}
          {version === undefined ? null : (
            <span class="quiet">
              {state === 'removed' ? ' after ' : ' '}
              {version}
            </span>
          )}
          {rules === undefined ? null : <span class="quiet"> · {count(rules, 'rule')}</span>}
        </>,
      ])}
    />
  );
}
