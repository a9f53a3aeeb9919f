import type { Context, Hono } from 'hono';
import type { User } from '../../auth/viewer.ts';
import { AppError, statusOf } from '../../base/errors.ts';
import { fold } from '../../base/text.ts';
import type { ControlService } from '../../catalog/controls/queries.ts';
import type { ListedControl } from '../../catalog/controls/schema.ts';
import type { ShownFramework } from '../../catalog/controls/versions.ts';
import type { SearchQuestion } from '../../catalog/search/queries.ts';
import { readSearchQuery } from '../../catalog/search/query.ts';
import { isFiltered, question, searchFields } from '../../catalog/search/schema.ts';
import { Severity } from '../../catalog/stigs/schema.ts';
import type { Env } from '../../http/env.ts';
import { check } from '../../http/schema.ts';
import type { Services } from '../../services.ts';
import { beginning, link, path } from '../parts/components.tsx';
import { catalogHref, controlHref, frameworkName } from '../parts/framework-links.ts';
import { type PageSupport, readQuery } from '../parts/page.ts';
import { type FoundKind, isNarrowed, plain, type SearchPage, searchPage } from './search.tsx';

const few = { page: 1, limit: 5 };
const mostWithin = 3;
const mostCut = 8;
const filters = searchFields.omit({ q: true });
/** More than there are STIGs: an empty search offers all. */
const all = 2000;

type SearchServices = Pick<
  Services,
  'stigs' | 'controls' | 'lists' | 'listStigs' | 'search' | 'stigNames' | 'roles' | 'documents'
>;

/** The search: STIGs, controls, CCIs, roles and documents by name, rules by all their texts. */
export function searchPages(app: Hono<Env>, { guard, show }: PageSupport, deps: SearchServices): void {
  app.get('/search', guard.visitor, (c) => {
    const page = answer(c, deps);
    return show(c, searchPage(page), page.problem?.status);
  });
}

function answer(c: Context<Env>, deps: SearchServices): SearchPage {
  const user = c.get('visitor');
  const q = (c.req.query('q') ?? '').trim();
  const filter = typedFilter(c);
  const { match, excluded, excludedLiterals, wanted } = readSearchQuery(q);
  const named = plain(wanted);
  const unasked: SearchPage = {
    q,
    hasWords: match !== null || excluded !== null || excludedLiterals.length > 0,
    filter,
    entitlements: user?.entitlements ?? null,
    stigs: [],
    lists: user === null ? [] : deps.lists.choices(user),
    own: user === null ? [] : deps.lists.ownChoices(user),
    kinds: null,
    within: [],
    rules: null,
    problem: null,
  };
  try {
    check(question, q);
    const { list, ...query } = readQuery(c, filters);
    const isAsked = user !== null && (q !== '' || isFiltered({ ...query, list }));
    const among = list === undefined || user === null ? undefined : deps.listStigs.slugs(user, list, 'list');
    const asked = isAsked ? { ...query, q, among } : null;
    const rules = asked && deps.search.search(asked);
    const page = { ...unasked, rules, stigs: user ? stigsToChoose(filter.stig, asked, deps) : [] };
    // With filters, or after page 1, show rules only.
    const alone = user !== null && (isNarrowed(filter) || query.page > 1);
    if (q === '' || alone) return page;
    const within = rules?.results.length === 0 ? withinStigs(named, deps) : [];
    return { ...page, within, kinds: byName(named, user, deps) };
  } catch (error) {
    const status = error instanceof AppError ? statusOf[error.code] : 500;
    if (!(error instanceof AppError) || (status !== 400 && status !== 404)) throw error;
    const { field, message } = error;
    const text = field === undefined || fold(message).startsWith(field) ? message : `${field}: ${message}`;
    const stigs = user === null ? [] : stigsToChoose(filter.stig, null, deps);
    return { ...unasked, stigs, problem: { status, text } };
  }
}

/** Finds STIGs by the first or last words of a query, to offer a search for the other words in them. */
function withinStigs(q: string, { stigNames }: SearchServices): SearchPage['within'] {
  const words = q.split(' ');
  // Each split compares all STIGs.
  if (words.length > mostCut) return [];
  for (let length = words.length - 1; length > 0; length--) {
    const ways = [
      { name: words.slice(0, length), rest: words.slice(length) },
      { name: words.slice(-length), rest: words.slice(0, -length) },
    ];
    for (const { name, rest } of ways) {
      const stigs = stigNames.said(name.join(' '));
      if (stigs.length > 0 && stigs.length <= mostWithin)
        return stigs.map(({ slug, title }) => ({ slug, title, rest: rest.join(' ') }));
    }
  }
  return [];
}

/** The filters for the form, valid or not, but without unknown severities: they have no check box. */
function typedFilter(c: Context<Env>): SearchPage['filter'] {
  const given = (c.req.queries('severity') ?? []).flatMap((each) => each.toLowerCase().split(','));
  const words = given.map((each) => each.trim());
  return {
    severity: Severity.options.filter((level) => words.includes(level)),
    stig: (c.req.queries('stig') ?? []).filter((each) => each !== ''),
    list: c.req.query('list') ?? '',
    sort: c.req.query('sort') ?? '',
    cci: c.req.query('cci') ?? '',
    control: c.req.query('control') ?? '',
  };
}

/** The STIGs in the form: those with results, whatever the STIG filter, and the selected ones. */
function stigsToChoose(
  selected: string[],
  asked: SearchQuestion | null,
  { search, stigNames }: SearchServices,
): { slug: string; title: string }[] {
  const found = asked === null ? search.stigs({}, all) : search.stigs({ ...asked, stig: undefined });
  const others = selected.filter((slug) => !found.some((each) => each.slug === slug));
  // A selected STIG outside the catalog appears by its name in the query.
  return [...others.map((slug) => ({ slug, title: stigNames.ofSlug(slug)?.title ?? slug })), ...found];
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
  for (const framework of ['nist-800-53', 'nist-800-171', 'dod-8500', 'cci'] as const)
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
function controlsOf(framework: ShownFramework, q: string, controls: ControlService): FoundKind {
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
      href: controlHref(framework, identifier)!,
      label: title ? `${identifier} ${title}` : identifier,
      about: title ? '' : beginning(statement, 160),
    })),
    all: link(catalogHref(framework), { search: q }),
  };
}

function namedExactly(framework: ShownFramework, q: string, controls: ControlService): ListedControl | null {
  return orNull(() => controls.one(framework, q));
}
