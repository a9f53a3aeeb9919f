import { z } from 'zod';

/**
 * A Standard Schema (https://standardschema.dev) as the library publishes it with each message: without members that say
 * nothing. It checks nothing: arguments are checked after the right, and answers in the tests alone.
 */
export function publishedSchema(schema: z.ZodType, io: 'input' | 'output') {
  const { $schema: _, ...json }: Record<string, unknown> = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties !== false) delete jsonSchema.additionalProperties;
    },
  });
  return {
    '~standard': {
      version: 1 as const,
      vendor: 'zod',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: () => json, output: () => json },
    },
  };
}
