import { z } from '@hono/zod-openapi';
import { Cklb, roles } from '../catalog/stigs/cklb-schema.ts';
import { choices } from '../catalog/stigs/identify.ts';
import { counts, flag, named, notAnObject, texts } from '../http/schema.ts';
import { AnsweredChecklist, allowOlderFlag, checklist, NotCarried, upgradeBody } from './schema.ts';

const Status = Cklb.shape.stigs.element.shape.rules.element.shape.status;

const ReportedRule = named('ResultOfRule', {
  ...texts('groupId', 'ruleId'),
  status: Status,
  result: z
    .string()
    .nullable()
    .describe('The word of the results, such as pass; null when they do not have the rule.'),
  reason: z
    .string()
    .nullable()
    .describe(
      'Why the rule is not reviewed, or what to know about its result; null when there is nothing to say.',
    ),
  kept: z.boolean().describe('Whether the answer in the given checklist stands.'),
});
export type ReportedRule = z.infer<typeof ReportedRule>;

const ResultsReport = named('ResultsReport', {
  kind: z.enum(['xccdf', 'arf']),
  tool: z.string().nullable(),
  target: z.strictObject({
    ...texts('hostName', 'fqdn', 'ipAddress', 'macAddress'),
    role: z.enum(roles),
    site: z.string().optional().describe('The site of a web or database instance, where named.'),
    instance: z.string().optional().describe('The web or database instance, where named.'),
  }),
  release: z.strictObject({
    ...texts('slug', 'title', 'version'),
    chosenBy: z
      .enum(choices)
      .describe(
        'version: the request names it. checklist: that of the given checklist. rule-ids: it shares most rule ids with the results. benchmark-date, named, newest: what decided between releases that share equally many.',
      ),
    named: z
      .string()
      .nullable()
      .describe('The release that the results name. SCAP content counts its releases separately.'),
  }),
  counts: z.strictObject({
    ...counts('not_a_finding', 'open', 'not_applicable', 'not_reviewed'),
  }),
  rules: z.array(ReportedRule),
  unknown: z
    .array(z.strictObject(texts('id', 'result')))
    .describe('Results of rules that the release does not have.'),
  notCarried: z
    .array(NotCarried)
    .describe('What the given checklist holds and the new one has no place for.'),
  warnings: z.array(z.string()),
});
export type ResultsReport = z.infer<typeof ResultsReport>;

export const ChecklistFromResults = named('ChecklistFromResults', {
  checklist: AnsweredChecklist,
  report: ResultsReport,
});

const { slug, version, allowOlder, hostName, format } = upgradeBody.shape;
const options = {
  slug: slug.describe(
    'The STIG of the results. By default the one that they name, or whose rules they have.',
  ),
  version: version.describe('A retained release. By default the one that the rule ids fit best.'),
  format,
  hostName: hostName.describe('The host name of the target. By default the one in the results.'),
};

const xml = z.string({ error: 'results must be the text of an XCCDF or ARF file' });

export const fromResultsBody = z.object(
  {
    results: xml.describe('The XML of an XCCDF TestResult, alone or in a Benchmark, or of an ARF.'),
    ...options,
    checklist: checklist
      .optional()
      .describe('A checklist to merge the results into. Its answers stand unless `overwrite` is true.'),
    overwrite: z.boolean({ error: 'overwrite must be true or false' }).default(false),
    allowOlder,
  },
  notAnObject,
);

export const fromResultsQuery = z.object({
  ...options,
  overwrite: flag('overwrite'),
  allowOlder: allowOlderFlag,
  download: flag('download'),
});
export type FromResultsOptions = Omit<z.output<typeof fromResultsQuery>, 'download'>;

const Finding = named('InspectionFinding', {
  code: z.string(),
  severity: z.enum(['error', 'warning']),
  groupId: z.string().nullable(),
  ...texts('message', 'advice'),
});
export type InspectionFinding = z.infer<typeof Finding>;

export const Inspection = named('Inspection', {
  kind: z.enum(['ckl', 'cklb', 'xccdf', 'arf']),
  stigs: z.array(
    z.strictObject({
      slug: z.string().nullable(),
      title: z.string().nullable().describe('The title of the STIG in the catalog.'),
      version: z.string().nullable().describe('The retained release that the rules are of.'),
      current: z.string().nullable().describe('The current release of the STIG.'),
      ...counts('rules', 'answered'),
      findings: z.array(Finding),
    }),
  ),
});
export type Inspection = z.infer<typeof Inspection>;

export const inspectBody = z.object(
  { checklist: checklist.optional(), results: xml.optional() },
  notAnObject,
);
