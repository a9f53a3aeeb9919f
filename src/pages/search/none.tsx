import type { Child } from 'hono/jsx';
import { link } from '../parts/components.tsx';
import { isNarrowed, plain, type SearchPage } from './search-page.ts';

export const nothingSearched = 'Nothing was searched: enter at least one letter, digit or underscore. ';

/** Why no rule was found, and where to go on. */
export function None({ page }: { page: SearchPage }): Child {
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
