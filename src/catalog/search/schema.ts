import { z } from '@hono/zod-openapi';
import { Pagination, paging, requestText, wordList } from '../../http/schema.ts';
import { Severity } from '../stigs/schema.ts';

export const Snippet = z
  .strictObject({
    field: z.enum(['title', 'discussion', 'check', 'fix', 'ids']).openapi({
      description: '`ids`: V-id, SV-id, STIG id, SRG id, legacy ids and CCIs, separated by spaces.',
    }),
    text: z.string().openapi({ description: 'An excerpt of that text. … marks where it was cut.' }),
    marks: z.array(z.tuple([z.int(), z.int()]).openapi({ minItems: 2, maxItems: 2 })).openapi({
      description: 'The matches: [start, end) in UTF-16 code units of `text`, in order, not overlapping.',
      example: [[4, 9]],
    }),
  })
  .openapi('Snippet');

export const SearchResult = z
  .strictObject({
    slug: z.string(),
    stigTitle: z.string(),
    version: z.string(),
    groupId: z.string(),
    ruleId: z.string(),
    ruleVersion: z.string(),
    ruleTitle: z.string(),
    severity: Severity,
    ruleIdents: z.array(z.string()),
    snippet: Snippet,
    rank: z.int().openapi({ description: 'The position in the whole result. 1 is the best.' }),
  })
  .openapi('SearchResult');
export type SearchResult = z.infer<typeof SearchResult>;

export const SearchAnswer = z
  .strictObject({ results: z.array(SearchResult), pagination: Pagination })
  .openapi('SearchAnswer');
export type SearchAnswer = z.infer<typeof SearchAnswer>;

export const searchQuery = z.object({
  q: requestText('q', 200)
    .refine((text) => text !== '', { error: 'q must not be empty' })
    .openapi({
      minLength: 1,
      description:
        'Words, all of which must occur; `"a phrase"`, matched literally when it contains punctuation; `audit*`, ' +
        'a prefix of at least two characters; ids in any case. No query is an error: other punctuation has no meaning, and a q ' +
        'without a letter, digit or `_` finds nothing.',
      example: 'audit*',
    }),
  severity: wordList('severity', Severity.options),
  stig: requestText('stig', 1000)
    .optional()
    .openapi({ description: 'The slug of a STIG.', example: 'harbor_linux_3' }),
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
  ...paging(20, 100),
});
