import { z } from '@hono/zod-openapi';
import type { Column } from '../http/columns.ts';
import { notAnObject } from '../http/schema.ts';

/** What became of a cited id (rule D39.1). Apart from the schemas, which the command line does not load. */
export const referenceStates = [
  'current',
  'changed',
  'removed',
  'withdrawn',
  'deprecated',
  'unknown',
] as const;

export type ReferenceState = (typeof referenceStates)[number];

/** A reference and the file that has it; empty for pasted text. */
export interface FileReference extends Reference {
  file: string;
}

export const referenceColumns: Column<FileReference>[] = (
  ['file', 'line', 'column', 'text', 'kind', 'state', 'id', 'title', 'slug', 'version', 'advice'] as const
).map((name) => ({ name, value: (row) => row[name] ?? '' }));

/** What one cited id is in the catalog. */
export const ReferenceFact = z.object({
  kind: z.enum(['rule', 'cci', 'control', 'srg']),
  state: z.enum(referenceStates),
  id: z.string().describe('In its published form; of a rule its V-id.'),
  title: z.string().nullable(),
  slug: z.string().nullable().describe('The STIG of a rule.'),
  version: z.string().nullable().describe('The release that has the rule; the last, if removed.'),
  advice: z.string().nullable().describe('What changed, where it went, or what came after.'),
});

export const References = z
  .object({
    counts: z.object(
      Object.fromEntries(referenceStates.map((state) => [state, z.int()])) as Record<
        ReferenceState,
        z.ZodInt
      >,
    ),
    references: z.array(
      ReferenceFact.extend({
        text: z.string().describe('The id as the text has it.'),
        line: z.int(),
        column: z.int().describe('In UTF-16 units, from 1.'),
      }),
    ),
  })
  .openapi('References');

export const referencesBody = z
  .object(
    { text: z.string({ error: 'text must be a text' }).describe('At most 8 MiB as UTF-8.') },
    notAnObject,
  )
  .openapi('ReferencesBody');

export type ReferenceFact = z.infer<typeof ReferenceFact>;
export type References = z.infer<typeof References>;
export type Reference = References['references'][number];
