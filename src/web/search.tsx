import type { Child } from 'hono/jsx';
import type { SearchAnswer, SearchResult } from '../schemas/search.ts';
import { Empty, Hidden, link, Pager, Severity } from './parts.tsx';
import { ruleHref } from './rule.tsx';
import type { View } from './view.ts';

/** What one kind of thing was found: a few, and where all of them are. */
export interface FoundKind {
  name: string;
  total: number;
  items: { href: string; label: string; about: string }[];
  /** Stands above the rules: what was asked for by its very name. */
  isFirst: boolean;
  /** The page that lists all of them. */
  all: string;
}

export interface SearchPage {
  q: string;
  filter: { severity: string[]; stig: string };
  kinds: FoundKind[];
  /** Null for who is not signed in. */
  rules: SearchAnswer | null;
  /** Why the search was not taken. */
  problem: string | null;
}

export function searchPage({ q, filter, kinds, rules, problem }: SearchPage): View {
  const found = kinds.filter((kind) => kind.total > 0);
  const first = found.filter((kind) => kind.isFirst);
  const others = found.filter((kind) => !kind.isFirst);
  return {
    title: q === '' ? 'Search' : `Search for ${q}`,
    body: (
      <>
        <h1>{q === '' ? 'Search' : `Found for “${q}”`}</h1>
        {problem === null ? null : (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <div class={others.length === 0 ? undefined : 'found'}>
          <div>
            {first.map((kind) => (
              <Kind kind={kind} />
            ))}
            {rules === null ? (
              q === '' ? null : (
                <Empty>
                  <a href={`/signin?next=${encodeURIComponent(link('/search', { q }))}`}>Sign in</a> to search
                  STIGs and their rules as well.
                </Empty>
              )
            ) : (
              <Rules q={q} filter={filter} rules={rules} kinds={found} />
            )}
          </div>
          {others.length === 0 ? null : (
            <aside aria-label="Found by name">
              {others.map((kind) => (
                <Kind kind={kind} />
              ))}
            </aside>
          )}
        </div>
      </>
    ),
  };
}

function Kind({ kind: { name, total, items, all } }: { kind: FoundKind }): Child {
  return (
    <section>
      <h2>
        {name} <span class="quiet">{total.toLocaleString('en-US')}</span>
      </h2>
      <ul class="results">
        {items.map(({ href, label, about }) => (
          <li>
            <a href={href}>{label}</a> <span class="quiet">{about}</span>
          </li>
        ))}
      </ul>
      {total > items.length ? (
        <p>
          <a href={all}>
            All {total.toLocaleString('en-US')}
            <span class="hidden"> of {name}</span>
          </a>
        </p>
      ) : null}
    </section>
  );
}

function Rules(props: {
  q: string;
  filter: SearchPage['filter'];
  rules: SearchAnswer;
  kinds: FoundKind[];
}): Child {
  const { q, filter, rules, kinds } = props;
  const { results, pagination } = rules;
  const narrowed = filter.stig !== '' || filter.severity.length > 0;
  return (
    <section aria-labelledby="rules">
      <h2 id="rules">
        Rules <span class="quiet">{pagination.total.toLocaleString('en-US')}</span>
      </h2>
      <form class="filters" action="/search">
        <Hidden fields={{ q }} />
        <fieldset>
          <legend>Severity</legend>
          {(['high', 'medium', 'low'] as const).map((level) => (
            <label>
              <input
                type="checkbox"
                name="severity"
                value={level}
                checked={filter.severity.includes(level)}
              />
              {level}
            </label>
          ))}
        </fieldset>
        <div>
          <label for="stig">Of one STIG, by slug</label>
          <input id="stig" name="stig" value={filter.stig} maxlength={1000} />
        </div>
        <div>
          <button type="submit">Narrow</button>
        </div>
      </form>
      {results.length === 0 ? (
        <Empty>
          {pagination.total > 0 ? (
            <>
              There is no page {pagination.page}.{' '}
              <a href={`${link('/search', { q, ...filter })}#rules`}>The first page</a>
            </>
          ) : narrowed ? (
            <>
              No rule of that kind holds all these words.{' '}
              <a href={link('/search', { q })}>Search all rules</a>
            </>
          ) : (
            <None kinds={kinds} />
          )}
        </Empty>
      ) : (
        <ol class="results" start={results[0]!.rank}>
          {results.map((result) => (
            <Result result={result} />
          ))}
        </ol>
      )}
      <Pager pagination={pagination} href={(page) => `${link('/search', { q, ...filter, page })}#rules`} />
    </section>
  );
}

function None({ kinds }: { kinds: FoundKind[] }): Child {
  const named = kinds.find((kind) => kind.isFirst && /^(?:Controls|CCIs)/.test(kind.name))?.items[0];
  if (named) {
    return (
      <>
        No rule says so itself. <a href={`${named.href}#rules`}>The rules that lead to it</a> are on its own
        page.
      </>
    );
  }
  return `No rule holds all these words${kinds.length === 0 ? ', and nothing else is called so' : ''}. Fewer words, or a prefix such as audit*, find more.`;
}

function Result({ result }: { result: SearchResult }): Child {
  return (
    <li>
      <a href={ruleHref(result.slug, result)}>
        {result.snippet.text === result.ruleTitle ? <Marked {...result.snippet} /> : result.ruleTitle}
      </a>
      <p>
        <Severity level={result.severity} /> <span class="ids">{result.groupId}</span>{' '}
        <span class="ids">{result.ruleVersion}</span>{' '}
        <span class="quiet">
          {result.stigTitle} {result.version}
        </span>
      </p>
      {result.snippet.field === 'title' ? null : (
        <p>
          <span class="quiet">{result.snippet.field}: </span>
          <Marked text={result.snippet.text} marks={result.snippet.marks} />
        </p>
      )}
    </li>
  );
}

/** A text with what was found in it marked; `marks` are [start, end) in order. */
export function Marked({ text, marks }: { text: string; marks: [number, number][] }): Child {
  const parts: Child[] = [];
  let at = 0;
  for (const [start, end] of marks) {
    parts.push(text.slice(at, start), <mark>{text.slice(start, end)}</mark>);
    at = end;
  }
  return [...parts, text.slice(at)];
}
