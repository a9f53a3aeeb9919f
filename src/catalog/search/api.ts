import type { InOneGeneration } from '../../db/one-generation.ts';
import type { Access } from '../../http/access.ts';
import { type Column, joined } from '../../http/columns.ts';
import { asksForFile, downloadFile, jsonOrFile, narrowedName } from '../../http/downloads.ts';
import type { FilterLists } from '../../http/list-filter.ts';
import { createRoutes } from '../../http/route.ts';
import type { StigNameIndex } from '../stigs/name-index.ts';
import type { Answers } from './id-answers.ts';
import type { FoundRule, SearchService } from './queries.ts';
import { readSearchQuery } from './query.ts';
import * as schemas from './schema.ts';

const mostNamed = 5;

const names = ['slug', 'stigTitle', 'version', 'groupId', 'ruleId', 'ruleVersion', 'ruleTitle'] as const;
const columns: Column<FoundRule>[] = [
  ...names.map((name) => ({ name, value: (rule: FoundRule) => rule[name] })),
  { name: 'severity', value: (rule) => rule.severity },
  { name: 'ruleIdents', value: (rule) => joined(rule.ruleIdents) },
  { name: 'rank', value: (rule) => rule.rank },
];

/** Full-text search over the rules of current releases (additive). */
export function searchRoutes(
  access: Access,
  {
    search,
    stigNames,
    answers: answersOf,
    inOneState,
    inOneGeneration,
  }: {
    search: SearchService;
    stigNames: StigNameIndex;
    answers: Answers;
    inOneState: <T>(work: () => T) => T;
    inOneGeneration: InOneGeneration;
  },
  lists: FilterLists,
) {
  const { app, route } = createRoutes('STIG catalog');
  const costly = access.with({ expensive: asksForFile });

  route('GET /api/v1/search', costly.user, {
    operationId: 'searchRules',
    summary: 'Search the rules of current releases, best match first',
    description:
      'Searches title, discussion, check, fix, ids and CCIs for whole words. Case and diacritics are ignored. Where fewer ' +
      'than ten rules have all words, the best of those with any of them follow (`relaxed`). One control or CCI lists its ' +
      'rules. A rule whose id is the whole query comes first, then one with that SV-id in another revision, then others by relevance ' +
      '(bm25), slug and document order. Filters are combined, and may stand without a q. A csv or xlsx file holds all that ' +
      'is found, without snippets, up to 20,000 rules; more are a 400.',
    query: schemas.searchQuery,
    notFound: true,
    response: jsonOrFile(schemas.SearchAnswer, 'A page of rules, or all of them as a file.'),
    handle: async ({ user, query }, c) => {
      const { format, raw, list, ...question } = query;
      const amongOf = () => (list === undefined ? undefined : lists.slugs(user, list, 'list'));
      if (format !== 'json') {
        const rows = await inOneGeneration(() => search.exported({ ...question, among: amongOf() }));
        const { q, severity, stig, cci, control } = question;
        const name = narrowedName('rules', { q, severity, stig, list, cci, control });
        return downloadFile(c, { format, raw }, name, {
          json: rows,
          root: 'rules',
          element: 'rule',
          columns,
          rows,
        });
      }
      return inOneGeneration(async () => {
        const answers = query.page === 1 ? await answersOf(query.q ?? '') : [];
        return inOneState(() => {
          const found = search.search({ ...question, among: amongOf() });
          const named = stigNames.said(readSearchQuery(query.q ?? '').wanted).slice(0, mostNamed);
          const stigs = named.map(({ slug, title, version }) => ({ slug, title, version }));
          const pinned = list === undefined ? {} : { pinned: lists.pinned(user, list, 'list') };
          return { ...found, answers, ...(stigs.length === 0 ? {} : { stigs }), ...pinned };
        });
      });
    },
  });

  return app;
}
