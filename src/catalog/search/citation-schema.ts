import { z } from '@hono/zod-openapi';
import { longestCitation } from '../../base/citation.ts';
import { requestText } from '../../http/schema.ts';

/** What a citation names, and what became of it (rule D41.4). */
export const CitedAnswer = z
  .strictObject({
    ref: z.string().openapi({ description: 'The citation in its published form.' }),
    kind: z.enum(['rule', 'stig', 'control', 'cci']),
    holds: z.boolean().openapi({ description: 'Whether the catalog has exactly what is cited.' }),
    state: z
      .enum(['current', 'former', 'removed', 'withdrawn', 'deprecated', 'not_imported', 'absent'])
      .openapi({
        description:
          '`former`: a newer release has it too. `removed`: the newest release does not have it. `not_imported`: the cited ' +
          'release is not in this catalog. `absent`: the cited release does not have it.',
      }),
    id: z.string().openapi({ description: 'The SV-id, slug, identifier or CCI.' }),
    title: z.string(),
    version: z.string().openapi({ description: 'The cited release.' }),
    href: z
      .string()
      .nullable()
      .openapi({ description: 'The page of what is cited. null where it does not hold.' }),
    now: z
      .strictObject({ cite: z.string(), title: z.string(), href: z.string() })
      .nullable()
      .openapi({ description: 'What the newest release has in its place, or the last release that had it.' }),
    advice: z.string().nullable().openapi({ description: 'What became of it. null where nothing did.' }),
  })
  .openapi('CitedAnswer', {
    example: {
      ref: 'harbor_linux_3@V1R2#SV-900001r100011_rule',
      kind: 'rule',
      holds: true,
      state: 'current',
      id: 'SV-900001r100011_rule',
      title: 'Harbor Linux must run a supported release.',
      version: 'V1R2',
      href: '/stigs/harbor_linux_3/rules/V-900001',
      now: null,
      advice: null,
    },
  });
export type CitedAnswer = z.infer<typeof CitedAnswer>;

export const citeQuery = z.object({
  ref: requestText('ref', longestCitation).openapi({
    description:
      'A citation: `slug@V2R8#SV-257777r991589_rule`, `slug@V2R8`, `nist-800-53@Rev 5.1.1#AC-2(1)` or ' +
      '`cci@2025-01-23#CCI-000015`.',
    example: 'harbor_linux_3@V1R2',
  }),
});
