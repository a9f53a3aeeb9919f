import { z } from '@hono/zod-openapi';
import { DateOrNull, requestText } from '../../http/schema.ts';
import { ChangeClass } from './diff-schema.ts';
import { RuleIdentity } from './rule-head.ts';
import { Severity } from './schema.ts';

/** The states of a rule in a release, against the release before (rule D27). */
const ruleStates = ['first', 'added', 'same', 'changed', 'renumbered', 'removed'] as const;
export type RuleState = (typeof ruleStates)[number];

export const RuleRelease = z
  .strictObject({
    version: z.string(),
    releaseDate: DateOrNull,
    state: z.enum(ruleStates).openapi({
      description:
        'Against the retained release before. first: it is in the oldest. renumbered: only its identifiers changed. removed: said once, at the first release without it.',
    }),
    classes: z.array(ChangeClass).openapi({ description: 'Of a changed rule, the primary one first.' }),
    severity: Severity.nullable().openapi({ description: 'null where it is removed.' }),
  })
  .openapi('RuleRelease');
export type RuleRelease = z.infer<typeof RuleRelease>;

export const RuleOverTime = z
  .strictObject({
    slug: z.string(),
    title: z.string().openapi({ description: "The STIG's." }),
    ruleTitle: z
      .string()
      .openapi({ description: 'From the newest release that has the rule, as what follows.' }),
    current: z.boolean().openapi({ description: 'Whether the current release has it.' }),
    ...RuleIdentity.shape,
    severity: Severity,
    releases: z.array(RuleRelease).openapi({ description: 'The newest first.' }),
  })
  .openapi('RuleOverTime');
export type RuleOverTime = z.infer<typeof RuleOverTime>;

export const RuleHistory = z
  .strictObject({
    id: z.string().openapi({ description: 'As it was asked for.' }),
    rules: z.array(RuleOverTime).openapi({ description: 'By the title of their STIG, then in its order.' }),
  })
  .openapi('RuleHistory');
export type RuleHistory = z.infer<typeof RuleHistory>;

export const ruleIdParam = z.object({
  id: requestText('id', 200).openapi({
    description: 'A V-id, an SV-id of any revision, a STIG id, or a legacy V- or SV-id. Case is ignored.',
    example: 'V-900001',
  }),
});
