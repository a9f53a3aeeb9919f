import { z } from '@hono/zod-openapi';
import { Pagination, paging, requestText, wordList } from '../../http/schema.ts';
import { Severity } from '../stigs/schema.ts';

export const Snippet = z
  .strictObject({
    field: z.enum(['title', 'discussion', 'check', 'fix', 'ids']).openapi({
      description: '`ids`: V-id, SV-id, STIG id, SRG id, legacy ids and CCIs, with blanks between.',
    }),
    text: z.string().openapi({ description: 'A piece of that text; … stands where it was cut.' }),
    marks: z.array(z.tuple([z.int(), z.int()]).openapi({ minItems: 2, maxItems: 2 })).openapi({
      description:
        'What was found in it: [start, end) in UTF-16 code units of `text`, in order, not overlapping.',
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
    rank: z.int().openapi({ description: 'The place in the whole result, 1 for the best.' }),
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
        'Words, all of which must occur; `"a phrase"`, its words in a row, literally where it holds punctuation; `audit*`, ' +
        'a prefix of two characters or more; ids in any case. Nothing in it can be wrong: punctuation is never syntax, and a q ' +
        'without a letter, digit or `_` finds nothing.',
      example: 'audit*',
    }),
  severity: wordList('severity', Severity.options),
  stig: requestText('stig', 1000)
    .optional()
    .openapi({ description: 'The slug of a STIG.', example: 'harbor_linux_3' }),
  cci: requestText('cci', 100)
    .optional()
    .openapi({ description: 'Rules that cite a CCI, in any spelling.', example: 'CCI-000366' }),
  control: requestText('control', 100)
    .optional()
    .openapi({
      description:
        'Rules with a CCI that leads to a control or enhancement of nist-800-53, in any spelling: that is, the CCI lookup ' +
        '(POST /api/v1/crosswalk/resolve/batch with `ccis`) names it. A base control does not stand for its enhancements.',
      example: 'CM-6',
    }),
  ...paging(20, 100),
});
