import { z } from '@hono/zod-openapi';

/** The contents of the catalog, with a digest that is equal on each machine with the same contents (rule D32.5). */
export const CatalogSummary = z
  .strictObject({
    digest: z
      .string()
      .openapi({ description: 'SHA-256 over what the sources state, and the slug overrides.' }),
    changedAt: z.iso.datetime(),
    sources: z.int(),
    stigs: z.int(),
    rules: z.int().openapi({ description: 'Of the current releases.' }),
    bundle: z
      .strictObject({
        channel: z.string(),
        sequence: z.int(),
        signedBy: z.string(),
        appliedAt: z.iso.datetime(),
      })
      .nullable()
      .openapi({ description: 'The bundle that the catalog came in.' }),
  })
  .openapi('CatalogSummary');
export type CatalogSummary = z.infer<typeof CatalogSummary>;
