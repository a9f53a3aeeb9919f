import { z } from '@hono/zod-openapi';
import { wordList } from '../../http/arrays.ts';
import { listFilter, Pinned, stigFilter } from '../../http/list-filter.ts';
import { Pagination, paging, positiveInteger, requestText, texts } from '../../http/schema.ts';
import { frameworkKey, longestFramework } from '../controls/frameworks.ts';
import { RuleHead } from '../stigs/rule-head.ts';
import { Severity } from '../stigs/schema.ts';
import { statuses } from './graph.ts';
import { AutomationState } from './reports-schema.ts';
import { Path } from './schema.ts';

export const ReachedRule = z
  .strictObject({
    ...RuleHead.shape,
    ruleIdents: z.array(z.string()),
    automation: AutomationState,
    hops: z.int().openapi({ description: 'The length of the shortest paths to a CCI of the rule.' }),
    paths: z.array(Path).openapi({
      description: 'The shortest paths from the control, each to a CCI that the rule cites.',
    }),
  })
  .openapi('ReachedRule');

export type ReachedRule = z.infer<typeof ReachedRule>;

export const StigRules = z
  .strictObject({
    ...texts('slug', 'title', 'version'),
    ruleCount: z
      .int()
      .openapi({ description: 'The rules of this STIG in the whole result, not only on this page.' }),
    rules: z.array(ReachedRule),
  })
  .openapi('StigRules');
export type StigRules = z.infer<typeof StigRules>;

export const ControlRules = z
  .strictObject({
    control: z.strictObject(texts('framework', 'identifier', 'title')),
    stigs: z.array(StigRules),
    counts: z
      .strictObject({ high: z.int(), medium: z.int(), low: z.int() })
      .openapi({ description: 'The rules of the whole result by severity.' }),
    pagination: Pagination,
    pinned: Pinned.optional(),
    truncated: z
      .literal(true)
      .optional()
      .openapi({ description: 'True when a limit of the crosswalk was reached: there may be more rules.' }),
  })
  .openapi('ControlRules');
export type ControlRules = z.infer<typeof ControlRules>;

export const controlRulesParam = z.object({
  framework: requestText('framework', longestFramework).transform(frameworkKey).openapi({
    type: 'string',
    description: 'nist-800-53, nist-800-171, dod-8500 or cci.',
    example: 'nist-800-53',
  }),
  controlId: requestText('controlId', 200).openapi({
    description: 'The identifier in any common spelling, or the id.',
    example: 'CM-6',
  }),
});

export const controlRulesQuery = z.object({
  severity: wordList('severity', Severity.options),
  stig: stigFilter.openapi({
    description: 'The slugs of STIGs in the catalog, repeated for several.',
    example: ['harbor_linux_3'],
  }),
  list: listFilter.openapi({ description: 'The id of a list: only rules of its STIGs.' }),
  status: wordList('status', statuses),
  maxHops: positiveInteger('maxHops')
    .optional()
    .openapi({
      type: 'integer',
      minimum: 1,
      description:
        'The maximum number of hops from the control to a CCI. By default the nearest CCIs are used: those of the control ' +
        'itself for nist-800-53, otherwise those reached in the fewest hops (up to 4). A CCI is its own nearest CCI.',
    }),
  ...paging(50, 100),
});

/** The question of the API: `list` is the id of a list. */
export type ListedRulesQuery = z.infer<typeof controlRulesParam> & z.infer<typeof controlRulesQuery>;
/** The same with the slugs of the list. */
export type RulesQuery = Omit<ListedRulesQuery, 'list'> & { among?: string[] | undefined };
