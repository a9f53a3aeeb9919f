import { z } from '@hono/zod-openapi';
import { boundedArray } from '../http/arrays.ts';
import { format, notAnObject, oneWord, requestText } from '../http/schema.ts';
import { checklist } from './schema.ts';

export const emassSheets = ['test-results', 'poam'] as const;
export type EmassSheet = (typeof emassSheets)[number];

/** The templates in `data/emass`: the first of each sheet is the default. */
export const emassTemplates = {
  'test-results': ['test-results', 'test-results-18'],
  poam: ['poam', 'poam-22', 'poam-mccast'],
} as const;

const text = (name: string) => requestText(name, 1000).optional();

export const emassBody = z.object(
  {
    checklists: boundedArray(checklist, 'checklists', 'checklists', { least: 1, most: 500 }).openapi({
      description: 'Checklists (ckl or cklb) of any hosts and STIGs.',
    }),
    sheet: oneWord('sheet', emassSheets),
    template: oneWord('template', Object.values(emassTemplates).flat())
      .optional()
      .openapi({ description: 'The columns of the sheet: those of a present eMASS by default.' }),
    columns: requestText('columns', 100_000).optional().openapi({
      description:
        'The head of the sheet of a site as csv, in place of a template: lines above the header as they are, the header, and perhaps a line of what stands in each row of a column that is not filled.',
    }),
    revision: requestText('revision', 100)
      .optional()
      .openapi({ description: 'The revision of NIST 800-53. By default the current one.', example: 'Rev 4' }),
    dateTested: text('dateTested'),
    testedBy: text('testedBy'),
    officeOrg: text('officeOrg'),
    scheduledCompletionDate: text('scheduledCompletionDate'),
    resources: text('resources'),
    format: format(['xlsx', 'json']),
  },
  notAnObject,
);
export type EmassBody = z.output<typeof emassBody>;

export const EmassRows = z
  .strictObject({
    sheet: z.enum(emassSheets),
    header: z.array(z.string()),
    rows: z.array(z.array(z.string())),
    withoutCci: z
      .array(
        z.strictObject({ host: z.string(), benchmarkId: z.string(), ruleId: z.string(), status: z.string() }),
      )
      .openapi({ description: 'Rules that name no CCI: a sheet of test results has no row for them.' }),
    unknownCcis: z.array(z.string()).openapi({
      description: 'CCIs that the catalog does not have: their rows have no control and no definition.',
    }),
    warnings: z.array(z.string()).optional().openapi({
      description: 'What is not read of the checklists as it is; left out when there is nothing to say.',
    }),
  })
  .openapi('EmassSheet');
export type EmassRows = z.infer<typeof EmassRows>;
