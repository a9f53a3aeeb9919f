import type { User } from '../../auth/viewer.ts';
import { columnsOf } from '../../http/columns.ts';
import { type FileChoice, type RenderedFile, renderFile } from '../../http/downloads.ts';
import type { FilterLists } from '../../http/list-filter.ts';
import type { StigNameIndex } from '../stigs/name-index.ts';
import type { Citations } from './citations.ts';
import type { Answers } from './id-answers.ts';
import type { FoundRule, SearchService } from './queries.ts';
import { readSearchQuery } from './query.ts';
import { type CitedAnswer, type ListedSearch, type SearchAnswer, SearchResult } from './schema.ts';

export interface SearchServices {
  search: SearchService;
  answers: Answers;
  stigNames: StigNameIndex;
  listStigs: FilterLists;
}

const mostNamed = 5;

const columns = columnsOf<FoundRule>(SearchResult.omit({ snippet: true }));

const slugsOfList = ({ listStigs }: SearchServices, user: User, list: string | undefined) =>
  list === undefined ? undefined : listStigs.slugs(user, list, 'list');

/** A page of rules, with what the ids of the question name on the first. Throws 404 for a list that is not the user's. */
export function searchPage(
  services: SearchServices,
  user: User,
  { list, ...question }: ListedSearch,
): SearchAnswer {
  const { search, answers, stigNames, listStigs } = services;
  const { q = '' } = question;
  const found = search.search({ ...question, among: slugsOfList(services, user, list) });
  const named = stigNames.stigsNamedIn(readSearchQuery(q).includedText).slice(0, mostNamed);
  const stigs = named.map(({ slug, title, version }) => ({ slug, title, version }));
  return {
    ...found,
    answers: question.page === 1 ? answers(q) : [],
    ...(stigs.length === 0 ? {} : { stigs }),
    ...(list === undefined ? {} : { pinned: listStigs.pinned(user, list, 'list') }),
  };
}

/** All rules that are found, as a file. Throws as `searchPage`, and 400 where there are too many. */
export function searchFile(
  services: SearchServices,
  user: User,
  { list, ...question }: ListedSearch,
  choice: FileChoice,
): RenderedFile {
  const rows = services.search.exported({ ...question, among: slugsOfList(services, user, list) });
  return renderFile(choice, { json: rows, root: 'rules', element: 'rule', columns, rows });
}

/** What a citation names. Throws 400 for another text, and 404 for what no release in the catalog has. */
export const openCitation = ({ citations }: { citations: Citations }, ref: string): CitedAnswer =>
  citations.open(ref);
