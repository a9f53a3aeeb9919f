import { z } from '@hono/zod-openapi';
import { isObject } from '../base/json.ts';
import { Cklb } from '../catalog/stigs/cklb-schema.ts';
import { ChangeClass, FieldChange, MatchedBy } from '../catalog/stigs/diff-schema.ts';
import { RuleIdentity } from '../catalog/stigs/rule-head.ts';
import {
  counts,
  DateOrNull,
  flag,
  format,
  named,
  notAnObject,
  oneWord,
  orNull,
  requestText,
  texts,
} from '../http/schema.ts';

const CklbRule = Cklb.shape.stigs.element.shape.rules.element;

export const RuleAnswer = CklbRule.pick({
  status: true,
  finding_details: true,
  comments: true,
  overrides: true,
}).openapi('RuleAnswer');
export type RuleAnswer = z.infer<typeof RuleAnswer>;

export const outcomes = ['carried', 'carried-with-warning', 'reset', 'new'] as const;
export const UpgradedRule = named('UpgradedRule', {
  outcome: z
    .enum(outcomes)
    .describe(
      'carried: the answer is unchanged. carried-with-warning: the answer is unchanged, but the check, the fix or the severity changed. reset: the check or fix changed, and the request asked to reset such answers. new: the old checklist does not have the rule.',
    ),
  ...texts('reason', 'groupId', 'ruleId', 'ruleVersion'),
  oldGroupId: z.string().nullable(),
  oldRuleId: z.string().nullable(),
  oldRuleVersion: z.string().nullable(),
  matchedBy: orNull(MatchedBy),
  classes: z.array(ChangeClass),
  changes: z.array(FieldChange),
  answered: z.boolean().describe('Whether the old checklist has an answer for the rule.'),
  lost: orNull(RuleAnswer).describe('The old answer if it was reset, otherwise null.'),
});
export type UpgradedRule = z.infer<typeof UpgradedRule>;

export const NotCarried = z
  .union([
    z.strictObject({
      kind: z.literal('rule'),
      reason: z.string(),
      ...RuleIdentity.shape,
      ruleTitle: z.string(),
      answered: z.boolean(),
      answer: RuleAnswer,
    }),
    z.strictObject({
      kind: z.literal('field'),
      reason: z.string(),
      path: z.string().describe('Where it was, such as stigs[0].rules[3].name or an XML path.'),
      place: z.string().optional().describe('The same place for people, with V-id and STIG.'),
      // Not `unknown`: Hono's typed responses change that type.
      value: z.any().describe('The value, unchanged.'),
    }),
  ])
  .openapi('NotCarried');
export type NotCarried = z.infer<typeof NotCarried>;
export type Leftover = Extract<NotCarried, { kind: 'field' }>;

const carriedCounts = counts('carried', 'carriedWithWarning', 'reset');
export const UpgradeReport = named('UpgradeReport', {
  from: z.strictObject({
    format: z.enum(['ckl', 'cklb']),
    id: z.string().nullable().describe('The `id` of the old cklb. null when it has none, and for a ckl.'),
    ...texts('benchmarkId', 'title'),
    version: z.string().nullable(),
    releaseInfo: z.string(),
  }),
  to: z.strictObject({
    ...texts('slug', 'benchmarkId', 'title', 'version', 'releaseInfo'),
    releaseDate: DateOrNull,
  }),
  warnings: z
    .array(z.string())
    .describe('What to know first, such as why the STIG stays at its own release.'),
  summary: z.strictObject({
    rules: z.int(),
    ...carriedCounts,
    ...counts('new', 'removed'),
    answers: z
      .strictObject({ ...carriedCounts, ...counts('notCarried') })
      .describe('The same counts for the rules that had an answer.'),
  }),
  rules: z.array(UpgradedRule),
  notCarried: z
    .array(NotCarried)
    .describe('Rules that the target no longer has, and values that a cklb has no field for.'),
  otherStigs: z
    .array(z.strictObject({ ...texts('benchmarkId', 'title'), ...counts('rules') }))
    .describe('The other STIGs in the checklist, copied unchanged.'),
});
export type UpgradeReport = z.infer<typeof UpgradeReport>;

/** The formats of a checklist in an answer (rule D28.3). */
export const checklistFormats = ['cklb', 'ckl'] as const;
export type ChecklistFormat = (typeof checklistFormats)[number];

/** A checklist in an answer: a cklb as an object, or a ckl as text. */
export const AnsweredChecklist = Cklb.or(z.string());

export const ChecklistUpgrade = named('ChecklistUpgrade', {
  checklist: AnsweredChecklist,
  report: UpgradeReport,
});
/** An upgraded checklist before it is written in a format. */
export interface Upgrade {
  checklist: Cklb;
  report: UpgradeReport;
}

/** A checklist in a request: a ckl or cklb as text, or a cklb as an object. Only its reader validates it. */
export const checklist = z
  .custom<string | object>((value) => typeof value === 'string' || isObject(value), {
    error: 'checklist must be the text of a .ckl or .cklb, or the object of a .cklb',
  })
  .openapi({
    type: ['string', 'object'],
    description: 'The text of a .ckl or .cklb as a string, or the object of a .cklb itself.',
  });

const older =
  'true: also to a release older than that of the checklist. By default an upgrade leaves it as it is then, and results go into its own release.';

export const upgradeBody = z.object(
  {
    slug: requestText('slug', 1000).optional().openapi({
      description: 'The STIG to upgrade. By default the one that the checklist names, or whose rules it has.',
      example: 'harbor_linux_3',
    }),
    version: requestText('version', 100)
      .optional()
      .openapi({ description: 'A retained release. By default the current one.', example: 'V1R2' }),
    allowOlder: z.boolean({ error: 'allowOlder must be true or false' }).default(false).describe(older),
    checklist,
    hostName: requestText('hostName', 255)
      .optional()
      .describe('The host name of the target. By default the one in the checklist.'),
    onChange: z
      .enum(['keep', 'reset'], { error: 'onChange must be keep or reset' })
      .default('keep')
      .describe(
        'What to do with an answer when its check or fix changed: keep it with a warning, or reset it.',
      ),
    format: format(checklistFormats),
  },
  notAnObject,
);
export type UpgradeBody = z.infer<typeof upgradeBody>;
export type UpgradeOptions = Omit<UpgradeBody, 'checklist' | 'allowOlder'> & {
  allowOlder?: boolean | undefined;
};

/** A switch of the body as a query parameter, for a body that is the file itself. */
export const allowOlderFlag = flag('allowOlder').describe(older);

export const upgradeQuery = z.object({
  ...upgradeBody.omit({ checklist: true }).shape,
  onChange: oneWord('onChange', ['keep', 'reset'])
    .default('keep')
    .openapi({ type: 'string', enum: ['keep', 'reset'], default: 'keep' }),
  allowOlder: allowOlderFlag,
  download: flag('download'),
});
