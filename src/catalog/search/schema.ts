import { z } from '@hono/zod-openapi';
import { longestCitation } from '../../base/citation.ts';
import { wordList } from '../../http/arrays.ts';
import { listFilter, Pinned, stigFilter } from '../../http/list-filter.ts';
import { counts, flag, format, oneWord, Pagination, paging, requestText, texts } from '../../http/schema.ts';
import { Severity } from '../stigs/schema.ts';

/** The searched texts of a rule, by their names in answers, in the order of the search. */
export const searchedFields = ['title', 'discussion', 'check', 'fix', 'ids'] as const;
export type SearchedField = (typeof searchedFields)[number];

/** Generators know `items`, and not all of them the `prefixItems` of a tuple. */
const pair = { type: 'array' as const, items: { type: 'integer' as const }, minItems: 2, maxItems: 2 };

export const Snippet = z
  .strictObject({
    field: z
      .enum(searchedFields)
      .describe('`ids`: V-id, SV-id, STIG id, SRG id, legacy ids and CCIs, separated by spaces.'),
    text: z.string().describe('An excerpt of that text. … marks where it was cut.'),
    marks: z.array(z.tuple([z.int(), z.int()]).openapi(pair)).openapi({
      description: 'The matches: [start, end) in UTF-16 code units of `text`, in order, not overlapping.',
      example: [[4, 9]],
    }),
  })
  .openapi('Snippet');
export type Snippet = z.infer<typeof Snippet>;

export const SearchResult = z
  .strictObject({
    ...texts('slug', 'stigTitle', 'version', 'groupId', 'ruleId', 'ruleVersion', 'ruleTitle'),
    severity: Severity,
    ruleIdents: z.array(z.string()),
    snippet: Snippet,
    rank: z.int().describe('The position in the whole result. 1 is the best.'),
  })
  .openapi('SearchResult');
export type SearchResult = z.infer<typeof SearchResult>;

const SearchCounts = z.object({
  severity: z.object(counts('high', 'medium', 'low')),
  stigs: z.array(z.object({ slug: z.string(), title: z.string(), rules: z.int() })),
});
export type SearchCounts = z.infer<typeof SearchCounts>;

/** The most ids of a question that are answered (rule D35.2). */
export const mostAnswers = 50;

/** What an id of a question names (rule D35.2). */
export const IdAnswer = z
  .object({
    asked: z.string().describe('The id as the question has it.'),
    kind: z.enum(['rule', 'cci', 'control', 'stig', 'srg']),
    id: z.string().describe('In its published form; of a rule its V-id, of a STIG its slug.'),
    title: z.string().optional(),
    state: z
      .enum(['current', 'removed', 'withdrawn', 'deprecated', 'unknown'])
      .describe(
        '`removed`: only an older release has the rule. `unknown`: of the form of an id, but in no source.',
      ),
    href: z.string().optional().describe('The address of its page.'),
    slug: z.string().optional(),
    version: z.string().optional().describe('The newest release that has the rule.'),
    part: z.string().optional().describe('The part of a control that was asked for.'),
    rules: z.int().optional().describe('Of a control or CCI: how many current rules lead to it.'),
  })
  .openapi('IdAnswer');
export type IdAnswer = z.infer<typeof IdAnswer>;

export const SearchAnswer = z
  .object({
    results: z.array(SearchResult),
    relaxed: z
      .boolean()
      .describe(
        'Whether rules without some of the words follow those that have all. They are added, at most 100, where fewer ' +
          'than ten have all: then any of the words suffices, in any of its forms or by a synonym.',
      ),
    exact: z.int().describe('How many rules have all words. They stand first.'),
    dropped: z.array(z.string()).describe('Words that were left out then, since they carry nothing.'),
    narrowedTo: z
      .array(z.string())
      .describe('The slugs of the STIGs that q names: the added rules are theirs.'),
    suggestions: z
      .array(z.object(texts('word', 'instead')))
      .describe('For a word that no rule has, one that is nearly the same.'),
    counts: SearchCounts.describe('Of the whole result, not of the page.'),
    answers: z
      .array(IdAnswer)
      .describe('What each id in q names, at most 50, in order. On the first page only.'),
    stigs: z
      .array(z.strictObject(texts('slug', 'title', 'version')))
      .optional()
      .describe('The STIGs that the whole q names, the best first, at most 5. Left out where it names none.'),
    pinned: Pinned.optional(),
    pagination: Pagination,
  })
  .openapi('SearchAnswer');
export type SearchAnswer = z.infer<typeof SearchAnswer>;

/** The most rules of an export (rule S4.3). */
export const mostExported = 20_000;

/** How results are ordered (rule S4.2). */
const searchOrders = ['relevance', 'severity', 'stig', 'id'] as const;
export type SearchOrder = (typeof searchOrders)[number];

export const question = requestText('q', 500).openapi({
  description:
    'Words, all of which must occur; `"a phrase"`, matched literally when it contains punctuation; `audit*`, ' +
    'a prefix of at least two characters; ids in any case. `-word` and `NOT word` exclude a word, phrase or prefix (`NOT` ' +
    'in upper case; beside nothing else they need a filter). No query is an error: other punctuation has no meaning, and a q ' +
    'without a letter, digit or `_` finds nothing. May be left out, or be empty, where there is a filter.',
  example: 'audit*',
});

export const searchFields = z.object({
  q: question.optional(),
  severity: wordList('severity', Severity.options),
  stig: stigFilter.openapi({
    description: 'The slugs of STIGs, repeated for several.',
    example: ['harbor_linux_3'],
  }),
  list: listFilter.describe('The id of a list: only rules of its STIGs.'),
  cci: requestText('cci', 100)
    .optional()
    .openapi({ description: 'Only rules that cite this CCI, in any spelling.', example: 'CCI-000366' }),
  control: requestText('control', 100)
    .optional()
    .openapi({
      description:
        'Only rules with a CCI mapped to this nist-800-53 control or enhancement, in any spelling: the CCI lookup ' +
        '(POST /api/v1/crosswalk/resolve/batch with `ccis`) returns it. A base control does not include its enhancements.',
      example: 'CM-6',
    }),
  sort: oneWord('sort', searchOrders)
    .optional()
    .describe(
      'The order: by relevance (where there is a q), by severity, by STIG (title), or by V-id. By default by relevance, ' +
        'without a q by STIG.',
    ),
  ...paging(20, 100),
});
/** A search within the STIGs of a list, by its id, where `list` is given. */
export type ListedSearch = z.infer<typeof searchFields>;
const filters = ['severity', 'stig', 'list', 'cci', 'control'] as const;

/** Whether some filter narrows what is found. */
export const isFiltered = (query: Partial<Record<(typeof filters)[number], unknown>>) =>
  filters.some((name) => query[name] !== undefined);

/** The query of the search: a question, a filter or both. */
export const searchQuery = searchFields
  .extend({ format: format(['json', 'csv', 'xlsx']), raw: flag('raw') })
  .superRefine((query, context) => {
    if ((query.q ?? '') !== '' || isFiltered(query)) return;
    const message = query.q === undefined ? 'q is required' : 'q must not be empty';
    context.addIssue({ code: 'custom', path: ['q'], message });
  });

/** What a citation names, and what became of it (rule D41.4). */
export const CitedAnswer = z
  .strictObject({
    ref: z.string().describe('The citation in its published form.'),
    kind: z.enum(['rule', 'stig', 'control', 'cci']),
    holds: z.boolean().describe('Whether the catalog has exactly what is cited.'),
    state: z
      .enum(['current', 'former', 'removed', 'withdrawn', 'deprecated', 'not_imported', 'absent'])
      .describe(
        '`former`: a newer release has it too. `removed`: the newest release does not have it. `not_imported`: the cited ' +
          'release is not in this catalog. `absent`: the cited release does not have it.',
      ),
    id: z.string().describe('The SV-id, slug, identifier or CCI.'),
    title: z.string(),
    version: z.string().describe('The cited release.'),
    href: z.string().nullable().describe('The page of what is cited. null where it does not hold.'),
    now: z
      .strictObject(texts('cite', 'title', 'href'))
      .nullable()
      .describe('What the newest release has in its place, or the last release that had it.'),
    advice: z.string().nullable().describe('What became of it. null where nothing did.'),
  })
  .openapi('CitedAnswer', {
    example: {
      ref: 'harbor_linux_3@V1R2#SV-900001r100011_rule',
      kind: 'rule',
      holds: true,
      state: 'current',
      id: 'SV-900001r100011_rule',
      title: 'Harbor Linux must run a supported release.',
      version: 'V1R2',
      href: '/stigs/harbor_linux_3/rules/V-900001',
      now: null,
      advice: null,
    },
  });
export type CitedAnswer = z.infer<typeof CitedAnswer>;

export const citeQuery = z.object({
  ref: requestText('ref', longestCitation).openapi({
    description:
      'A citation: `slug@V2R8#SV-257777r991589_rule`, `slug@V2R8`, `nist-800-53@Rev 5.1.1#AC-2(1)` or ' +
      '`cci@2025-01-23#CCI-000015`.',
    example: 'harbor_linux_3@V1R2',
  }),
});
