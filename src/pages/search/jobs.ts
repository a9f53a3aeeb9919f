import type { User } from '../../auth/viewer.ts';
import { longestCitation, readCitation } from '../../base/citation.ts';
import { AppError, statusOf } from '../../base/errors.ts';
import { frameworkTitle } from '../../base/framework-title.ts';
import { fold } from '../../base/text.ts';
import { frameworks } from '../../catalog/controls/frameworks.ts';
import { readSearchQuery } from '../../catalog/search/query.ts';
import type { ListedSearch } from '../../catalog/search/schema.ts';
import { type IdAnswer, isFiltered } from '../../catalog/search/schema.ts';
import type { Services } from '../../services.ts';
import { type FoundKind, isNarrowed, plain, type SearchPage } from './search-page.ts';

type SearchServices = Pick<
  Services,
  | 'stigs'
  | 'controls'
  | 'lists'
  | 'listStigs'
  | 'search'
  | 'answers'
  | 'citations'
  | 'stigNames'
  | 'onlySamples'
  | 'roles'
  | 'documents'
>;

/** What a reader typed, and the query that it makes, or why it makes none. */
export interface TypedSearch {
  q: string;
  /** Valid or not; `stig` are names as typed. */
  filter: SearchPage['filter'];
  query: Omit<ListedSearch, 'q' | 'stig'> | null;
  problem: SearchPage['problem'];
}

const few = { page: 1, limit: 5 };
const mostGuesses = 3;

/** Searches STIGs, controls, CCIs, roles and documents by name, and rules by all their texts. */
export function searchSite(services: SearchServices, user: User | null, typed: TypedSearch): SearchPage {
  const { lists, onlySamples, stigNames } = services;
  const { q, problem } = typed;
  const filter = { ...typed.filter, stig: slugsOf(typed.filter.stig, services) };
  const { includedTerms, excluded, excludedLiterals } = readSearchQuery(q);
  const unasked: SearchPage = {
    q,
    hasWords: includedTerms.length + excluded.length + excludedLiterals.length > 0,
    filter,
    entitlements: user?.entitlements ?? null,
    stigs: user === null ? [] : stigNames.all(),
    titles: titlesOf(filter.stig, services),
    lists: user === null ? [] : lists.choices(user),
    own: user === null ? [] : lists.ownChoices(user),
    kinds: null,
    rules: null,
    answers: [],
    isCitation: false,
    onlySamples: onlySamples(),
    problem,
  };
  if (typed.query === null) return unasked;
  try {
    return { ...unasked, ...found(services, user, { q, filter, query: typed.query }) };
  } catch (error) {
    return { ...unasked, problem: problemOf(error) };
  }
}

/** A 400 or 404 in words for the reader. Throws any other error again. */
export function problemOf(error: unknown): NonNullable<SearchPage['problem']> {
  const status = error instanceof AppError ? statusOf[error.code] : 500;
  if (!(error instanceof AppError) || (status !== 400 && status !== 404)) throw error;
  const { field, message } = error;
  const text = field === undefined || fold(message).startsWith(field) ? message : `${field}: ${message}`;
  return { status, text };
}

function found(
  services: SearchServices,
  user: User | null,
  { q, filter, query }: { q: string; filter: SearchPage['filter']; query: NonNullable<TypedSearch['query']> },
): Partial<SearchPage> {
  const { citations, listStigs, search } = services;
  const { list, ...others } = query;
  const stig = filter.stig.length === 0 ? undefined : filter.stig;
  const among = list === undefined || user === null ? undefined : listStigs.slugs(user, list, 'list');
  const answers = query.page === 1 ? answersFor(user, services.answers(q)) : [];
  const hasQuery = user !== null && (q !== '' || isFiltered({ ...query, stig }));
  const rules = hasQuery ? { ...search.search({ ...others, q, stig, among }), answers } : null;
  // With filters, or after page 1, show rules only.
  const isAlone = user !== null && (isNarrowed(filter) || query.page > 1);
  const isReadable = q.length <= longestCitation && readCitation(q) !== null;
  return {
    rules,
    answers,
    isCitation: isReadable && (user !== null || citations.isPublic(q)) && citations.find(q) !== null,
    titles: titlesOf([...filter.stig, ...(rules?.narrowedTo ?? [])], services),
    kinds: isAlone ? null : byName(plain(readSearchQuery(q).includedText), user, services),
  };
}

/** What visitors may read of the answers: controls and CCIs, without the number of their rules. */
function answersFor(user: User | null, answers: IdAnswer[]): IdAnswer[] {
  if (user !== null) return answers;
  const read = answers.filter(({ kind }) => kind === 'control' || kind === 'cci');
  return read.map((each) => ({ ...each, rules: undefined }));
}

const titlesOf = (slugs: string[], { stigNames }: SearchServices): SearchPage['titles'] =>
  new Map(slugs.map((slug) => [slug, stigNames.ofSlug(slug)?.title ?? slug]));

/** The slugs that a person means by some texts; a text stays where no STIG has the name. */
function slugsOf(texts: string[], { stigNames }: SearchServices): string[] {
  let guesses = 0;
  const slugs = texts.map((text) => {
    const stig = stigNames.ofSlug(text) ?? stigNames.exactly(text)[0];
    // Each guess compares all STIGs.
    return (stig ?? (guesses++ < mostGuesses ? stigNames.stigsNamedIn(text)[0] : undefined))?.slug ?? text;
  });
  return [...new Set(slugs)];
}

function byName(text: string, user: User | null, services: SearchServices): FoundKind[] | null {
  if (text === '') return null;
  const { stigs, stigNames, controls, roles, documents } = services;
  const kinds: FoundKind[] = [];
  if (user !== null) {
    const { stigs: found, pagination } = stigs.list({ slugs: stigNames.listed(text), ...few });
    const items = found.map(({ slug, title, version }) => ({ id: slug, label: title, about: version }));
    kinds.push({ name: 'STIGs', one: 'STIG', text, isFirst: true, total: pagination.total, items });
  }
  for (const framework of new Set([...frameworks, ...controls.imported()]))
    kinds.push(controlsOf(framework, text, services));
  if (user?.entitlements.has('occ')) {
    const { roles: found, pagination } = roles.list({ search: text, ...few });
    const items = found.map(({ occupationCode: id, title }) => ({ id, label: title, about: id }));
    kinds.push({ name: 'Roles', one: 'role', text, isFirst: false, total: pagination.total, items });
  }
  if (user?.entitlements.has('regdoc')) {
    const { documents: found, pagination } = documents.list({ search: text, ...few });
    const items = found.map(({ documentId: id, title, publisher }) => ({
      id,
      label: title,
      about: publisher,
    }));
    kinds.push({ name: 'Documents', one: 'document', text, isFirst: false, total: pagination.total, items });
  }
  return kinds;
}

/** The controls that contain a text; the one with this identifier, in any spelling, comes first. */
function controlsOf(framework: string, text: string, { controls }: SearchServices): FoundKind {
  const list = controls.page(framework, { search: text, words: [], ...few });
  const exact = controls.find(framework, text);
  const others = list.controls.filter((each) => each.identifier !== exact?.identifier);
  const shown = exact === null ? others : [exact, ...others];
  return {
    name: framework === 'cci' ? 'CCIs' : `Controls of ${frameworkTitle(framework)}`,
    one: framework === 'cci' ? 'CCI' : 'control',
    framework,
    text,
    isFirst: exact !== null,
    total: Math.max(list.total, shown.length),
    items: shown.slice(0, few.limit).map(({ identifier, title, statement }) => ({
      id: identifier,
      label: title ? `${identifier} ${title}` : identifier,
      about: title ? '' : statement,
    })),
  };
}
