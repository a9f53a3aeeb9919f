import { z } from '@hono/zod-openapi';
import { counts, DateOrNull, flag, format, requestText, texts } from '../../http/schema.ts';
import { frameworks, longestFramework } from '../controls/frameworks.ts';
import { AssessmentMethod, Objective } from '../controls/schema.ts';
import { automationStates } from '../stigs/rule-automation.ts';
import { RuleHead } from '../stigs/rule-head.ts';

/** A row of a report as a file, by column; what it lacks is an empty cell. */
export type ReportRow = Record<string, string | number | boolean | null | undefined>;

export const reportFormats = ['json', 'csv', 'xlsx'] as const;

const fileQuery = { format: format(reportFormats), raw: flag('raw') };

const reportedStig = {
  ...texts('slug', 'title'),
  version: z.string().nullable().openapi({ description: 'null when the STIG is no longer in the catalog.' }),
};

const reportedScope = {
  revision: z
    .string()
    .nullable()
    .openapi({ description: 'null when no catalog of the framework is loaded.' }),
  baseline: z.string().nullable().openapi({ description: 'null for all active controls.' }),
};

const CoveredStig = z
  .strictObject({
    ...reportedStig,
    rules: z.int(),
    mappedRules: z
      .int()
      .openapi({ description: 'Rules that address an active control, in the baseline or not.' }),
  })
  .openapi('CoveredStig');

const CoveredControl = z
  .strictObject({
    ...texts('identifier', 'title', 'family'),
    covered: z
      .boolean()
      .openapi({ description: 'At least one rule addresses it. It does not mean satisfied.' }),
    rules: z.strictObject(counts('total', 'high', 'medium', 'low')),
    stigs: z.array(z.string()).openapi({ description: 'The slugs of the STIGs whose rules address it.' }),
  })
  .openapi('CoveredControl');
export type CoveredControl = z.infer<typeof CoveredControl>;

/** Which controls rules address (rule D25). */
export const Coverage = z
  .strictObject({
    framework: z.string(),
    ...reportedScope,
    rollup: z.boolean(),
    stigs: z.array(CoveredStig),
    totals: z.strictObject(
      counts('controls', 'covered', 'uncovered', 'rules', 'mappedRules', 'unmappedRules'),
    ),
    families: z.array(z.strictObject({ family: z.string(), ...counts('controls', 'covered') })),
    controls: z.array(CoveredControl).openapi({ description: 'Those of the baseline, in catalog order.' }),
    outside: z
      .array(z.strictObject({ ...texts('identifier', 'title'), rules: z.int() }))
      .openapi({ description: 'Active controls that rules address and that are not in the baseline.' }),
    unmapped: z
      .array(
        z.strictObject({
          ...texts('slug', 'groupId', 'ruleId', 'title'),
          ccis: z.array(z.string()),
          deprecated: z
            .array(z.string())
            .optional()
            .openapi({ description: 'The CCIs that DISA deprecated.' }),
        }),
      )
      .openapi({ description: 'Rules that address no active control.' }),
  })
  .openapi('Coverage');
export type Coverage = z.infer<typeof Coverage>;

export const coverageQuery = z.object({
  framework: requestText('framework', longestFramework)
    .default('nist-800-53')
    .openapi({
      type: 'string',
      default: 'nist-800-53',
      description: `${frameworks.join(', ')}, or a framework that the site imported.`,
    }),
  revision: requestText('revision', 100).optional().openapi({
    description: 'An imported revision of the framework other than the default.',
    example: 'Rev 4',
  }),
  baseline: requestText('baseline', 200).optional().openapi({
    description:
      'One baseline: low, moderate, high, privacy or an imported one for nist-800-53, a MAC level for dod-8500. By default all active controls.',
    example: 'moderate',
  }),
  rollup: flag('rollup').openapi({
    description: 'true: a base control counts the rules of its enhancements as well.',
  }),
  ...fileQuery,
});
export type CoverageQuery = Omit<z.infer<typeof coverageQuery>, keyof typeof fileQuery>;

const WorksheetRule = z
  .strictObject({
    slug: z.string(),
    groupId: z.string().openapi({ example: 'V-257777' }),
    ...texts('ruleId', 'ruleVersion'),
    severity: z.enum(['high', 'medium', 'low']),
    ruleTitle: z.string(),
    automation: z.enum(automationStates),
  })
  .openapi('WorksheetRule');
export type WorksheetRule = z.infer<typeof WorksheetRule>;

const WorksheetControl = z
  .strictObject({
    ...texts('identifier', 'title', 'family'),
    objectives: z.array(z.strictObject({ ...Objective.shape, rules: z.array(WorksheetRule) })),
    methods: z.array(AssessmentMethod),
  })
  .openapi('WorksheetControl');
export type WorksheetControl = z.infer<typeof WorksheetControl>;

/** What an assessor must show for each control, and the rules that are evidence (rule D37.3). */
export const Worksheet = z
  .strictObject({
    framework: coverageQuery.shape.framework,
    ...reportedScope,
    controls: z.array(WorksheetControl),
    totals: z.strictObject(counts('controls', 'objectives', 'objectivesWithRules')),
  })
  .openapi('Worksheet');
export type Worksheet = z.infer<typeof Worksheet>;

const { framework, revision, baseline } = coverageQuery.shape;

export const worksheetQuery = z.object({
  framework,
  revision,
  baseline,
  family: requestText('family', 200)
    .optional()
    .openapi({ description: 'One family: the full name or the two-letter code. Case is ignored.' }),
  ...fileQuery,
});
export type WorksheetQuery = Omit<z.infer<typeof worksheetQuery>, keyof typeof fileQuery>;

export const AutomationState = z.enum(automationStates).openapi('AutomationState', {
  description:
    'automated: some SCAP content tests this very revision. stale: one tests another revision of the rule, none this ' +
    'one. manual: contents have the rule, none tests it. none: no content has it.',
});

const ScapContent = z
  .strictObject({
    ...texts('name', 'publisher'),
    version: z.string().openapi({ description: 'As the content states it.', example: '002.008.12' }),
    date: DateOrNull,
    scapVersion: z.string().openapi({ description: '"" where it states none.', example: '1.3' }),
    ...counts('rules', 'automated', 'manual'),
  })
  .openapi('ScapContent');

const AutomationTotals = z
  .strictObject(counts('rules', 'automated', 'stale', 'manual', 'none'))
  .openapi('AutomationTotals');
export type AutomationTotals = z.infer<typeof AutomationTotals>;

export const AutomatedRule = z
  .strictObject({
    ...RuleHead.shape,
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
    ...texts('slug', 'version'),
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
        ...reportedStig,
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

export const automationQuery = z.object(fileQuery);
