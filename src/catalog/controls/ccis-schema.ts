import { z } from '@hono/zod-openapi';
import { wordList } from '../../http/arrays.ts';
import { Pagination, paging, requestText, search } from '../../http/schema.ts';
import { controlQuery, textFrom } from './schema.ts';

/** A CCI as DISA's list states it (rule D54.1). */
export const CciRecord = z
  .strictObject({
    framework: z.literal('cci'),
    version: z.string().openapi({ description: 'The date of the list.', example: '2025-01-23' }),
    identifier: z.string().openapi({ example: 'CCI-000366' }),
    definition: z.string().openapi({ description: '`""` where no imported list has the text.' }),
    textFrom,
    status: z.string().openapi({ description: 'As DISA states it.', example: 'draft' }),
    type: z
      .string()
      .openapi({ description: 'As DISA states it, several joined.', example: 'policy, technical' }),
    references: z
      .array(
        z.strictObject({
          framework: z.literal('nist-800-53'),
          version: z.string().openapi({ description: 'The revision.', example: 'Rev 5' }),
          identifier: z.string().openapi({ description: 'The control.', example: 'AC-2' }),
          part: z.string().openapi({
            description: 'The part of the control, `""` for the whole control.',
            example: 'd 3',
          }),
        }),
      )
      .openapi({ description: 'The controls that the list refers to, older revisions first.' }),
    rules: z.int().openapi({ description: 'How many rules of current releases cite it.' }),
  })
  .openapi('CciRecord');
export type CciRecord = z.infer<typeof CciRecord>;

export const CciList = z
  .strictObject({
    framework: z.literal('cci'),
    version: z
      .string()
      .openapi({ description: 'The date of the list, `""` where none is imported.', example: '2025-01-23' }),
    total: z.int().openapi({ description: 'The number of CCIs that match.' }),
    controls: z.array(CciRecord).openapi({ description: 'One page of them, in order.' }),
    pagination: Pagination,
  })
  .openapi('CciList');
export type CciList = z.infer<typeof CciList>;

const { version } = controlQuery.shape;
export const cciQuery = z.object({
  search,
  status: wordList('status', ['draft', 'published', 'deprecated']),
  version,
  ...paging(100, 1000),
});
export type CciQuery = {
  search?: string | undefined;
  status?: ReadonlySet<string> | undefined;
  version?: string | undefined;
  page: number;
  limit: number;
};

export const cciParam = z.object({
  cci: requestText('cci', 200).openapi({ description: 'The CCI in any spelling.', example: 'CCI-000366' }),
});

export const Frameworks = z
  .strictObject({
    frameworks: z.array(
      z.strictObject({
        framework: z.string().openapi({ description: 'The key that other endpoints take.' }),
        title: z.string().openapi({
          description:
            'The name of a published framework; of an imported one the title of its catalog, else its key.',
          example: 'NIST SP 800-53',
        }),
        versions: z
          .array(
            z.strictObject({
              version: z.string().openapi({ example: 'Rev 5.1.1' }),
              current: z.boolean().openapi({ description: 'Whether it is the default version.' }),
              controls: z.int().openapi({ description: 'The number of its active controls.' }),
            }),
          )
          .openapi({ description: 'The imported versions, newest first.' }),
        baselines: z
          .array(z.string())
          .openapi({ description: 'The names of the baselines of all its versions.' }),
      }),
    ),
  })
  .openapi('Frameworks');
export type Frameworks = z.infer<typeof Frameworks>;
