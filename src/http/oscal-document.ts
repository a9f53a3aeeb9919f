import { z } from '@hono/zod-openapi';

/** Any OSCAL document; NIST's schemas define its content. Apart from `oscal-parts.ts`, which importers load too. */
export const OscalDocument = z.looseObject({}).openapi('OscalDocument', {
  description: 'An OSCAL 1.2.1 document in JSON, with one member named for its model.',
});
