import { z } from '@hono/zod-openapi';
import { DateOrNull, flag, format } from '../../http/schema.ts';
import { automationStates } from '../stigs/rule-automation.ts';
import { Severity } from '../stigs/schema.ts';

export const automationFormats = ['json', 'csv', 'xlsx'] as const;

export const AutomationState = z.enum(automationStates).openapi('AutomationState', {
  description:
    'automated: some SCAP content tests this very revision. stale: one tests another revision of the rule, none this ' +
    'one. manual: contents have the rule, none tests it. none: no content has it.',
});

const ScapContent = z
  .strictObject({
    name: z.string(),
    publisher: z.string(),
    version: z.string().openapi({ description: 'As the content states it.', example: '002.008.12' }),
    date: DateOrNull,
    scapVersion: z.string().openapi({ description: '"" where it states none.', example: '1.3' }),
    rules: z.int(),
    automated: z.int(),
    manual: z.int(),
  })
  .openapi('ScapContent');

const AutomationTotals = z
  .strictObject({
    rules: z.int(),
    automated: z.int(),
    stale: z.int(),
    manual: z.int(),
    none: z.int(),
  })
  .openapi('AutomationTotals');
export type AutomationTotals = z.infer<typeof AutomationTotals>;

export const AutomatedRule = z
  .strictObject({
    groupId: z.string(),
    ruleId: z.string(),
    ruleVersion: z.string(),
    ruleTitle: z.string(),
    severity: Severity,
    state: AutomationState,
    content: z
      .string()
      .openapi({ description: 'The names of the contents that give the rule this state, joined by ";".' }),
  })
  .openapi('AutomatedRule');
export type AutomatedRule = z.infer<typeof AutomatedRule>;

/** What machines can check of a release (rule D38.2). */
export const StigAutomation = z
  .strictObject({
    slug: z.string(),
    version: z.string(),
    content: z.array(ScapContent),
    totals: AutomationTotals,
    rules: z.array(AutomatedRule),
  })
  .openapi('StigAutomation');
export type StigAutomation = z.infer<typeof StigAutomation>;

/** The same of a list: how its rules are checked, by STIG, severity and family. */
export const ListAutomation = z
  .strictObject({
    stigs: z.array(
      z.strictObject({
        slug: z.string(),
        title: z.string(),
        version: z
          .string()
          .nullable()
          .openapi({ description: 'null when the STIG is no longer in the catalog.' }),
        content: z.array(ScapContent),
        totals: AutomationTotals,
      }),
    ),
    totals: AutomationTotals,
    severities: z.strictObject({ high: AutomationTotals, medium: AutomationTotals, low: AutomationTotals }),
    families: z.array(z.strictObject({ family: z.string(), totals: AutomationTotals })).openapi({
      description:
        'By the families of nist-800-53 that the CCIs of the rules lead to, in catalog order. A rule of several ' +
        'families counts in each; "" has those of none.',
    }),
  })
  .openapi('ListAutomation');
export type ListAutomation = z.infer<typeof ListAutomation>;

export const automationQuery = z.object({ format: format(automationFormats), raw: flag('raw') });
