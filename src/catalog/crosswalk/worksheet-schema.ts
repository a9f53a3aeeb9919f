import { z } from '@hono/zod-openapi';
import { format, requestText } from '../../http/schema.ts';
import { AssessmentMethod, Objective } from '../controls/schema.ts';
import { automationStates } from '../stigs/rule-automation.ts';
import { coverageFormats, coverageQuery } from './coverage-schema.ts';

const WorksheetRule = z
  .strictObject({
    slug: z.string(),
    groupId: z.string().openapi({ example: 'V-257777' }),
    ruleId: z.string(),
    ruleVersion: z.string(),
    severity: z.enum(['high', 'medium', 'low']),
    ruleTitle: z.string(),
    automation: z.enum(automationStates),
  })
  .openapi('WorksheetRule');
export type WorksheetRule = z.infer<typeof WorksheetRule>;

const WorksheetControl = z
  .strictObject({
    identifier: z.string(),
    title: z.string(),
    family: z.string(),
    objectives: z.array(z.strictObject({ ...Objective.shape, rules: z.array(WorksheetRule) })),
    methods: z.array(AssessmentMethod),
  })
  .openapi('WorksheetControl');
export type WorksheetControl = z.infer<typeof WorksheetControl>;

/** What an assessor must show for each control, and the rules that are evidence (rule D37.3). */
export const Worksheet = z
  .strictObject({
    framework: coverageQuery.shape.framework,
    revision: z
      .string()
      .nullable()
      .openapi({ description: 'null when no catalog of the framework is loaded.' }),
    baseline: z.string().nullable().openapi({ description: 'null for all active controls.' }),
    controls: z.array(WorksheetControl),
    totals: z.strictObject({
      controls: z.int(),
      objectives: z.int(),
      objectivesWithRules: z.int(),
    }),
  })
  .openapi('Worksheet');
export type Worksheet = z.infer<typeof Worksheet>;

const { framework, revision, baseline, raw } = coverageQuery.shape;

export const worksheetQuery = z.object({
  framework,
  revision,
  baseline,
  family: requestText('family', 200)
    .optional()
    .openapi({ description: 'One family: the full name or the two-letter code. Case is ignored.' }),
  format: format(coverageFormats),
  raw,
});
export type WorksheetQuery = Pick<
  z.infer<typeof worksheetQuery>,
  'framework' | 'revision' | 'baseline' | 'family'
>;
