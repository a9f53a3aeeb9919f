import type { Context, Hono } from 'hono';
import type { Ask } from '../../base/ask.ts';
import { openCitation } from '../../catalog/search/jobs.ts';
import { readSearchQuery } from '../../catalog/search/query.ts';
import { type CitedAnswer, citeQuery, question, searchFields } from '../../catalog/search/schema.ts';
import { Severity } from '../../catalog/stigs/schema.ts';
import type { Env } from '../../http/env.ts';
import { check } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { Facts, link } from '../parts/components.tsx';
import { controlHref } from '../parts/links.tsx';
import { type PageSupport, readQuery } from '../parts/page.ts';
import type { View } from '../parts/view.ts';
import { problemOf, searchSite, type TypedSearch } from './jobs.ts';
import { searchPage } from './search.tsx';
import { isNarrowed, type SearchPage } from './search-page.ts';

const filters = searchFields.omit({ q: true });

/** The search: STIGs, controls, CCIs, roles and documents by name, rules by all their texts. */
export function searchPages(
  app: Hono<Env>,
  { guard, show }: PageSupport,
  { ask, citations }: Pick<Services, 'citations'> & { ask: Ask },
): void {
  app.get(
    '/cite',
    (c, next) => (citations.isPublic(c.req.query('ref') ?? '') ? guard.visitor : guard.user)(c, next),
    async (c) => show(c, citePage(await ask(openCitation, readQuery(c, citeQuery).ref))),
  );

  app.get('/search', guard.visitor, async (c) => {
    const page = await ask(searchSite, c.get('visitor'), typedSearch(c));
    const href = isNarrowed(page.filter) ? undefined : onlyNamed(page);
    if (href !== undefined) return c.redirect(href, 303);
    return show(c, searchPage(page), page.problem?.status);
  });
}

/** The page of what a question names, where it is nothing but one id or one citation (rule D35.2). */
function onlyNamed({ q, answers, kinds, isCitation }: SearchPage): string | undefined {
  const [one, second] = answers;
  if (second === undefined && one !== undefined && one.kind !== 'srg' && readSearchQuery(q).isOneId)
    return one.href;
  if (isCitation) return link('/cite', { ref: q });
  const [own, another] = (kinds ?? []).filter(({ one, isFirst }) => one === 'control' && isFirst);
  return own !== undefined && one?.href === undefined && another === undefined && !/["“”]/.test(q)
    ? controlHref(own.framework!, own.items[0]!.id)
    : undefined;
}

function typedSearch(c: Context<Env>): TypedSearch {
  const q = (c.req.query('q') ?? '').trim();
  const words = (c.req.queries('severity') ?? []).flatMap((each) => each.split(','));
  const levels = words.map((each) => each.trim().toLowerCase());
  const filter = {
    // An unknown severity has no check box.
    severity: Severity.options.filter((level) => levels.includes(level)),
    // The field takes several names: "rhel 9; win 11".
    stig: (c.req.queries('stig') ?? [])
      .flatMap((each) => each.split(';').map((name) => name.trim()))
      .filter(Boolean),
    list: c.req.query('list') ?? '',
    sort: c.req.query('sort') ?? '',
    cci: c.req.query('cci') ?? '',
    control: c.req.query('control') ?? '',
  };
  try {
    check(question, q);
    const { stig: _, ...query } = readQuery(c, filters);
    return { q, filter, query, problem: null };
  } catch (error) {
    return { q, filter, query: null, problem: problemOf(error) };
  }
}

const kinds = { rule: 'Rule', stig: 'STIG', control: 'Control', cci: 'CCI' };
const states: Record<CitedAnswer['state'], string> = {
  current: 'In the newest release',
  former: 'In a former release; the newest release has it too',
  removed: 'In a former release; the newest release does not have it',
  withdrawn: 'Withdrawn',
  deprecated: 'Deprecated',
  not_imported: 'The cited release is not in this catalog',
  absent: 'The cited release does not have it',
};

/** The page of a citation: what it names, and what became of it (rule D41.4). */
function citePage({ ref, kind, holds, state, id, title, version, href, now, advice }: CitedAnswer): View {
  return {
    title: `Citation: ${title}`,
    heading: title,
    help: 'search',
    body: (
      <>
        {advice === null ? null : (
          <p class="warning">
            {holds ? null : <strong>This citation no longer holds. </strong>}
            {advice}.
          </p>
        )}
        <Facts
          of={[
            ['Citation', <span class="mono">{ref}</span>],
            [kinds[kind], <span class="ids">{id}</span>],
            ['Release', version],
            ['State', states[state]],
          ]}
        />
        {href === null ? null : (
          <p>
            <a href={href}>Open what is cited</a>
          </p>
        )}
        {now === null ? null : (
          <p>
            See <a href={now.href}>{now.title}</a> <span class="mono">{now.cite}</span>
          </p>
        )}
      </>
    ),
  };
}
