import type { Context, Hono } from 'hono';
import type { User } from '../../auth/viewer.ts';
import { longestCitation, readCitation } from '../../base/citation.ts';
import { AppError, statusOf } from '../../base/errors.ts';
import { fold } from '../../base/text.ts';
import { frameworks } from '../../catalog/controls/frameworks.ts';
import type { ControlService } from '../../catalog/controls/queries.ts';
import type { ListedControl } from '../../catalog/controls/schema.ts';
import { citeQuery } from '../../catalog/search/citation-schema.ts';
import { readSearchQuery } from '../../catalog/search/query.ts';
import { type IdAnswer, isFiltered, question, searchFields } from '../../catalog/search/schema.ts';
import { Severity } from '../../catalog/stigs/schema.ts';
import type { Env } from '../../http/env.ts';
import { check } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { beginning, link, path } from '../parts/components.tsx';
import { catalogHref, controlHref, frameworkName } from '../parts/framework-links.ts';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { citePage } from './cite-page.tsx';
import { searchPage } from './search.tsx';
import { type FoundKind, isNarrowed, plain, type SearchPage } from './search-page.ts';

const few = { page: 1, limit: 5 };
const mostGuesses = 3;
const filters = searchFields.omit({ q: true });

type SearchServices = Pick<
  Services,
  | 'stigs'
  | 'controls'
  | 'lists'
  | 'listStigs'
  | 'search'
  | 'answers'
  | 'inOneGeneration'
  | 'citations'
  | 'stigNames'
  | 'onlySamples'
  | 'roles'
  | 'documents'
>;

/** The search: STIGs, controls, CCIs, roles and documents by name, rules by all their texts. */
export function searchPages(app: Hono<Env>, { guard, show }: PageSupport, deps: SearchServices): void {
  app.get(
    '/cite',
    (c, next) => (deps.citations.isPublic(c.req.query('ref') ?? '') ? guard.visitor : guard.user)(c, next),
    (c) => show(c, citePage(deps.citations.open(readQuery(c, citeQuery).ref))),
  );

  app.get('/search', guard.visitor, async (c) => {
    const page = await deps.inOneGeneration(() => answer(c, deps));
    const href = isNarrowed(page.filter) ? undefined : onlyNamed(page, c.get('visitor'), deps);
    if (href !== undefined) return c.redirect(href, 303);
    return show(c, searchPage(page), page.problem?.status);
  });
}

/** The page of what a question names, where it is nothing but one id or one citation (rule D35.2). */
function onlyNamed(
  { q, answers, kinds }: SearchPage,
  user: User | null,
  { citations }: SearchServices,
): string | undefined {
  const [one, second] = answers;
  if (second === undefined && one !== undefined && one.kind !== 'srg' && readSearchQuery(q).isOneId)
    return one.href;
  const isCitation = q.length <= longestCitation && readCitation(q) !== null;
  if (isCitation && (user !== null || citations.isPublic(q)) && orNull(() => citations.open(q)) !== null)
    return link('/cite', { ref: q });
  const [own, another] = (kinds ?? []).filter(({ one, isFirst }) => one === 'control' && isFirst);
  return one?.href === undefined && another === undefined && !/["“”]/.test(q)
    ? own?.items[0]?.href
    : undefined;
}

async function answer(c: Context<Env>, deps: SearchServices): Promise<SearchPage> {
  const user = c.get('visitor');
  const q = (c.req.query('q') ?? '').trim();
  const filter = typedFilter(c, deps);
  const { wants, excluded, excludedLiterals, wanted } = readSearchQuery(q);
  const named = plain(wanted);
  const unasked: SearchPage = {
    q,
    hasWords: wants.length + excluded.length + excludedLiterals.length > 0,
    filter,
    entitlements: user?.entitlements ?? null,
    stigs: [],
    titles: titlesOf(filter.stig, deps),
    lists: user === null ? [] : deps.lists.choices(user),
    own: user === null ? [] : deps.lists.ownChoices(user),
    kinds: null,
    rules: null,
    answers: [],
    onlySamples: deps.onlySamples(),
    problem: null,
  };
  try {
    check(question, q);
    const { list, stig: _, ...query } = readQuery(c, filters);
    const stig = filter.stig.length === 0 ? undefined : filter.stig;
    const isAsked = user !== null && (q !== '' || isFiltered({ ...query, stig, list }));
    const among = list === undefined || user === null ? undefined : deps.listStigs.slugs(user, list, 'list');
    const ids =
      query.page === 1 ? (await deps.answers(q)).filter((each) => user !== null || isPublic(each)) : [];
    const answers = ids.map((each) => (user === null ? { ...each, rules: undefined } : each));
    const found = isAsked ? deps.search.search({ ...query, q, stig, among }) : null;
    const rules = found && { ...found, answers };
    const titles = titlesOf([...filter.stig, ...(rules?.narrowedTo ?? [])], deps);
    const page = { ...unasked, rules, answers, titles, stigs: user === null ? [] : deps.stigNames.all() };
    // With filters, or after page 1, show rules only.
    const alone = user !== null && (isNarrowed(filter) || query.page > 1);
    return q === '' || alone ? page : { ...page, kinds: byName(named, user, deps) };
  } catch (error) {
    const status = error instanceof AppError ? statusOf[error.code] : 500;
    if (!(error instanceof AppError) || (status !== 400 && status !== 404)) throw error;
    const { field, message } = error;
    const text = field === undefined || fold(message).startsWith(field) ? message : `${field}: ${message}`;
    return { ...unasked, stigs: user === null ? [] : deps.stigNames.all(), problem: { status, text } };
  }
}

/** The filters for the form, valid or not, but without unknown severities: they have no check box. */
function typedFilter(c: Context<Env>, deps: SearchServices): SearchPage['filter'] {
  const given = (c.req.queries('severity') ?? []).flatMap((each) => each.toLowerCase().split(','));
  const words = given.map((each) => each.trim());
  return {
    severity: Severity.options.filter((level) => words.includes(level)),
    stig: slugsOf(
      // The field takes several names: "rhel 9; win 11".
      (c.req.queries('stig') ?? [])
        .flatMap((each) => each.split(';').map((name) => name.trim()))
        .filter(Boolean),
      deps,
    ),
    list: c.req.query('list') ?? '',
    sort: c.req.query('sort') ?? '',
    cci: c.req.query('cci') ?? '',
    control: c.req.query('control') ?? '',
  };
}

const isPublic = ({ kind }: IdAnswer) => kind === 'control' || kind === 'cci';

const titlesOf = (slugs: string[], { stigNames }: SearchServices): SearchPage['titles'] =>
  new Map(slugs.map((slug) => [slug, stigNames.ofSlug(slug)?.title ?? slug]));

/** The slugs that a person means by some texts; a text stays where no STIG is called so. */
function slugsOf(texts: string[], { stigNames }: SearchServices): string[] {
  let guesses = 0;
  const slugs = texts.map((text) => {
    const stig = stigNames.ofSlug(text) ?? stigNames.exactly(text)[0];
    // Each guess compares all STIGs.
    return (stig ?? (guesses++ < mostGuesses ? stigNames.said(text)[0] : undefined))?.slug ?? text;
  });
  return [...new Set(slugs)];
}

function orNull<T>(find: () => T): T | null {
  try {
    return find();
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}

function byName(q: string, user: User | null, deps: SearchServices): FoundKind[] | null {
  if (q === '') return null;
  const { stigs, stigNames, controls, roles, documents } = deps;
  const kinds: FoundKind[] = [];
  const add = (
    name: string,
    one: FoundKind['one'],
    all: string,
    total: number,
    found: (readonly [id: string, label: string, about: string])[],
  ) =>
    kinds.push({
      name,
      one,
      isFirst: one === 'STIG',
      total,
      items: found.map(([id, label, about]) => ({
        ...{ href: path(all, id), label, about },
        ...(one === 'STIG' ? { slug: id } : {}),
      })),
      all: link(path(all), { search: q }),
    });
  if (user !== null) {
    const { stigs: found, pagination } = stigs.list({ called: stigNames.listed(q), ...few });
    const items = found.map(({ slug, title, version }) => [slug, title, version] as const);
    add('STIGs', 'STIG', 'stigs', pagination.total, items);
  }
  for (const framework of new Set([...frameworks, ...controls.imported()]))
    kinds.push(controlsOf(framework, q, controls));
  if (user?.entitlements.has('occ')) {
    const { roles: found, pagination } = roles.list({ search: q, ...few });
    const items = found.map(({ occupationCode, title }) => [occupationCode, title, occupationCode] as const);
    add('Roles', 'role', 'roles', pagination.total, items);
  }
  if (user?.entitlements.has('regdoc')) {
    const { documents: found, pagination } = documents.list({ search: q, ...few });
    const items = found.map(({ documentId, title, publisher }) => [documentId, title, publisher] as const);
    add('Documents', 'document', 'documents', pagination.total, items);
  }
  return kinds;
}

/** The controls that contain a text; the one with this identifier, in any spelling, comes first. */
function controlsOf(framework: string, q: string, controls: ControlService): FoundKind {
  const list = controls.page(framework, { search: q, words: [], ...few });
  const exact = namedExactly(framework, q, controls);
  const others = list.controls.filter((each) => each.identifier !== exact?.identifier);
  const shown = exact === null ? others : [exact, ...others];
  return {
    name: framework === 'cci' ? 'CCIs' : `Controls of ${frameworkName(framework)}`,
    one: framework === 'cci' ? 'CCI' : 'control',
    isFirst: exact !== null,
    total: Math.max(list.total, shown.length),
    items: shown.slice(0, few.limit).map(({ identifier, title, statement }) => ({
      href: controlHref(framework, identifier),
      label: title ? `${identifier} ${title}` : identifier,
      about: title ? '' : beginning(statement, 160),
    })),
    all: link(catalogHref(framework), { search: q }),
  };
}

function namedExactly(framework: string, q: string, controls: ControlService): ListedControl | null {
  return orNull(() => controls.one(framework, q));
}
