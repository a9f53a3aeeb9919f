import { z } from '@hono/zod-openapi';
import { flag, format, requestText } from '../../http/schema.ts';
import { frameworks, longestFramework } from '../controls/frameworks.ts';

export const coverageFormats = ['json', 'csv', 'xlsx'] as const;

const CoveredStig = z
  .strictObject({
    slug: z.string(),
    title: z.string(),
    version: z
      .string()
      .nullable()
      .openapi({ description: 'null when the STIG is no longer in the catalog.' }),
    rules: z.int(),
    mappedRules: z
      .int()
      .openapi({ description: 'Rules that address an active control, in the baseline or not.' }),
  })
  .openapi('CoveredStig');

const CoveredControl = z
  .strictObject({
    identifier: z.string(),
    title: z.string(),
    family: z.string(),
    covered: z
      .boolean()
      .openapi({ description: 'At least one rule addresses it. It does not mean satisfied.' }),
    rules: z.strictObject({ total: z.int(), high: z.int(), medium: z.int(), low: z.int() }),
    stigs: z.array(z.string()).openapi({ description: 'The slugs of the STIGs whose rules address it.' }),
  })
  .openapi('CoveredControl');
export type CoveredControl = z.infer<typeof CoveredControl>;

/** Which controls rules address (rule D25). */
export const Coverage = z
  .strictObject({
    framework: z.string(),
    revision: z
      .string()
      .nullable()
      .openapi({ description: 'null when no catalog of the framework is loaded.' }),
    baseline: z.string().nullable().openapi({ description: 'null for all active controls.' }),
    rollup: z.boolean(),
    stigs: z.array(CoveredStig),
    totals: z.strictObject({
      controls: z.int(),
      covered: z.int(),
      uncovered: z.int(),
      rules: z.int(),
      mappedRules: z.int(),
      unmappedRules: z.int(),
    }),
    families: z.array(z.strictObject({ family: z.string(), controls: z.int(), covered: z.int() })),
    controls: z.array(CoveredControl).openapi({ description: 'Those of the baseline, in catalog order.' }),
    outside: z
      .array(z.strictObject({ identifier: z.string(), title: z.string(), rules: z.int() }))
      .openapi({ description: 'Active controls that rules address and that are not in the baseline.' }),
    unmapped: z
      .array(
        z.strictObject({
          slug: z.string(),
          groupId: z.string(),
          ruleId: z.string(),
          title: z.string(),
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
  format: format(coverageFormats),
  raw: flag('raw'),
});
export type CoverageQuery = Pick<
  z.infer<typeof coverageQuery>,
  'framework' | 'revision' | 'baseline' | 'rollup'
>;
