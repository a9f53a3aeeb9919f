import { z } from '@hono/zod-openapi';
import { Pagination, paging, positiveInteger, requestText, wordList } from '../../http/schema.ts';
import { frameworkKey } from '../controls/frameworks.ts';
import { Severity } from '../stigs/schema.ts';
import { statuses } from './graph.ts';
import { Path } from './schema.ts';

export const ReachedRule = z
  .strictObject({
    groupId: z.string(),
    ruleId: z.string(),
    ruleVersion: z.string(),
    ruleTitle: z.string(),
    severity: Severity,
    ruleIdents: z.array(z.string()),
    hops: z.int().openapi({ description: 'Of the shortest paths to a CCI of the rule.' }),
    paths: z.array(Path).openapi({
      description: 'The shortest paths from the control, each to a CCI that the rule cites.',
    }),
  })
  .openapi('ReachedRule');

export type ReachedRule = z.infer<typeof ReachedRule>;

export const StigRules = z
  .strictObject({
    slug: z.string(),
    title: z.string(),
    version: z.string(),
    ruleCount: z.int().openapi({ description: 'Rules of the STIG in the whole result, on all its pages.' }),
    rules: z.array(ReachedRule),
  })
  .openapi('StigRules');
export type StigRules = z.infer<typeof StigRules>;

export const ControlRules = z
  .strictObject({
    control: z.strictObject({ framework: z.string(), identifier: z.string(), title: z.string() }),
    stigs: z.array(StigRules),
    pagination: Pagination,
    truncated: z
      .literal(true)
      .optional()
      .openapi({ description: 'A bound of the crosswalk bit: there may be more rules.' }),
  })
  .openapi('ControlRules');
export type ControlRules = z.infer<typeof ControlRules>;

export const controlRulesParam = z.object({
  framework: requestText('framework', 100).transform(frameworkKey).openapi({
    type: 'string',
    description: 'nist-800-53, nist-800-171, dod-8500 or cci.',
    example: 'nist-800-53',
  }),
  controlId: requestText('controlId', 200).openapi({
    description: 'The identifier, in any usual spelling, or the id.',
    example: 'CM-6',
  }),
});

export const controlRulesQuery = z.object({
  severity: wordList('severity', Severity.options),
  stig: requestText('stig', 1000)
    .optional()
    .openapi({ description: 'The slug of a STIG of the catalog.', example: 'harbor_linux_3' }),
  status: wordList('status', statuses),
  maxHops: positiveInteger('maxHops')
    .optional()
    .openapi({
      type: 'integer',
      minimum: 1,
      description:
        'How many hops from the control to a CCI at most. Without it the nearest CCIs are taken: those of the control ' +
        'itself for nist-800-53, elsewhere those that the fewest hops reach (up to 4). A CCI stands for itself.',
    }),
  ...paging(50, 100),
});
